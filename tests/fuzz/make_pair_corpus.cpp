// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of the targets catalogue, tsv and pairs into FOLDER/TARGET/, as make_corpus does
// those of the formats in shared/.
#include "shared/io/file.h"
#include "tests/unit/train/catalogue_bytes.h"
#include "trainer/train/workloads/translation/pairs/pair_file.h"

#include <cstdio>

using namespace rm;
using namespace std::string_literals;

namespace {

Result<void> put(const std::string& folder, const char* name, const std::string& text) {
    return makeFolders(folder).and_then(
        [&] { return writeFileAtomically(folder + "/" + name, text); });
}

test::CatalogueBytes catalogue(const char* charset) {
    return test::CatalogueBytes()
        .add("", "Content-Type: text/plain; charset="s + charset + "\n")
        .add("menu\4_Open", "_Apri")
        .add("%d file\0%d files"s, "%d file trovato\0%d file trovati"s)
        .add("Quality", "Qualit\xe0");
}

Result<void> addCatalogues(const std::string& folder) {
    return put(folder, "latin1", catalogue("ISO-8859-1").bytes())
        .and_then([&] { return put(folder, "big-endian", catalogue("UTF-8").bytes(true)); })
        .and_then([&] { return put(folder, "shift-jis", catalogue("SHIFT_JIS").bytes()); });
}

Result<void> addLines(const std::string& folder) {
    return put(folder, "lines",
               "\xef\xbb\xbfone\tuno\r\n\n two  words \tdue\tparole\n\tx\nlast\tè");
}

Result<void> writeShard(const std::string& path, const PairFileInfo& info) {
    auto writer = PairFileWriter::create(path, info);
    if (!writer)
        return tl::unexpected(writer.error());
    const std::vector<int32_t> ids{3, 4, 0};
    const auto appended = info.isText() ? writer->append("one", "uno") : writer->append(ids, ids);
    return appended.and_then([&] { return writer->finish(); });
}

Result<void> addShards(const std::string& folder) {
    return makeFolders(folder)
        .and_then([&] {
            return writeShard(folder + "/texts", {1, 0, 0, "en", "it"});
        })
        .and_then([&] {
            return writeShard(folder + "/short-ids", {2, 10, 20, "", ""});
        })
        .and_then([&] {
            return writeShard(folder + "/long-ids", {4, 70000, 20, "", ""});
        });
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: make_pair_corpus FOLDER\n");
        return 2;
    }
    const std::string folder = argv[1];
    const auto done = addCatalogues(folder + "/catalogue")
                          .and_then([&] { return addLines(folder + "/tsv"); })
                          .and_then([&] { return addShards(folder + "/pairs"); });
    if (!done)
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return done ? 0 : 1;
}
