// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/pair_corpus.h"

#include "shared/io/descriptor.h"
#include "trainer/train/data/catalogue.h"
#include "trainer/train/data/corpus.h"
#include "trainer/train/data/in_order.h"
#include "trainer/train/data/pair_file.h"
#include "trainer/train/data/tsv.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <thread>

namespace rm {
namespace fs = std::filesystem;
namespace {

constexpr size_t kPieceBytes = size_t{8} << 20;

bool isCatalogue(const std::string& file) {
    return file.ends_with(".mo");
}

bool isShard(const std::string& file) {
    return file.ends_with(".rmpairs");
}

bool holdsPairs(const std::string& file) {
    return file.ends_with(".tsv") || isShard(file) || isCatalogue(file);
}

/// "it" of ".../it/LC_MESSAGES/x.mo"; empty: the path does not say.
std::string languageOfCatalogue(const fs::path& file) {
    const fs::path folder = file.parent_path();
    return folder.filename() == "LC_MESSAGES" ? folder.parent_path().filename().string() : "";
}

/// A part of a file that one thread reads.
struct Piece {
    std::string path;
    size_t offset = 0;
    size_t size = 0; ///< 0: all of it
    int64_t firstLine = 1;
};

/// Fewer bytes at the end of the file only.
Result<std::string> readRange(const std::string& path, size_t offset, size_t size) {
    const auto file = openFile(path, O_RDONLY);
    if (!file)
        return failAs("read pairs", file.error());
    std::string text(size, '\0');
    if (lseek(file->get(), static_cast<off_t>(offset), SEEK_SET) < 0)
        return failErrno("read pairs " + path, errno);
    const auto read = readSome(file->get(), std::as_writable_bytes(std::span(text)), path);
    if (!read)
        return failAs("read pairs", read.error());
    text.resize(*read);
    return text;
}

/// Cuts a file of lines behind line ends, counting them, so that every piece knows its numbers.
Result<void> cutLines(const std::string& path, std::vector<Piece>& pieces) {
    size_t offset = 0;
    int64_t line = 1;
    size_t wanted = kPieceBytes;
    while (true) {
        const auto text = readRange(path, offset, wanted);
        if (!text)
            return tl::unexpected(text.error());
        if (text->empty())
            return {};
        const bool atEnd = text->size() < wanted;
        const size_t end = atEnd ? text->size() : text->rfind('\n') + 1;
        if (end == 0) { // a line longer than that
            wanted *= 2;
            continue;
        }
        pieces.push_back({path, offset, end, line});
        line += std::count(text->begin(), text->begin() + static_cast<ptrdiff_t>(end), '\n');
        offset += end;
        wanted = kPieceBytes;
    }
}

Result<std::vector<Piece>> cutFiles(const std::vector<std::string>& files) {
    std::vector<Piece> pieces;
    for (const std::string& file : files) {
        if (isShard(file) || isCatalogue(file))
            pieces.push_back({file});
        else if (const auto cut = cutLines(file, pieces); !cut)
            return tl::unexpected(cut.error());
    }
    return pieces;
}

struct ReadPiece {
    PairHarvest harvest;
    PairLanguages languages;
};

Result<ReadPiece> readShard(const std::string& path) {
    const auto shard = PairFile::open(path);
    if (!shard)
        return tl::unexpected(shard.error());
    if (!shard->info().isText())
        return fail(ErrorCode::kInvalid,
                    "read pairs " + path + ": it holds token ids, but texts are wanted");
    ReadPiece read{{}, {shard->info().sourceLanguage, shard->info().targetLanguage}};
    for (int64_t i = 0; i < shard->count(); ++i)
        read.harvest.pairs.push_back(
            {std::string(shard->text(2 * i)), std::string(shard->text(2 * i + 1))});
    return read;
}

Result<ReadPiece> readPiece(const Piece& piece) {
    if (isShard(piece.path))
        return readShard(piece.path);
    if (isCatalogue(piece.path)) {
        const auto bytes = readText(piece.path);
        if (!bytes)
            return tl::unexpected(bytes.error());
        return readCatalogue(std::as_bytes(std::span<const char>(*bytes)), piece.path)
            .map([](PairHarvest harvest) {
                return ReadPiece{std::move(harvest), {}};
            });
    }
    const auto text = readRange(piece.path, piece.offset, piece.size);
    if (!text)
        return tl::unexpected(text.error());
    return ReadPiece{readTsv(*text, piece.path, piece.firstLine), {}};
}

void addBad(HarvestState& state, const PairHarvest& piece) {
    state.bad += piece.bad;
    for (const std::string& name : piece.named)
        if (state.named.size() < PairHarvest::kMaxNamed)
            state.named.push_back(name);
}

void learnLanguages(PairLanguages& known, const PairLanguages& told) {
    if (known.source.empty())
        known.source = told.source;
    if (known.target.empty())
        known.target = told.target;
}

} // namespace

Result<PairCorpus> findPairs(const std::vector<std::string>& paths, const std::string& target) {
    PairCorpus corpus;
    std::set<std::string> languages;
    for (const std::string& path : paths) {
        auto files = corpusFiles({path});
        if (!files)
            return tl::unexpected(files.error());
        const size_t before = corpus.files.size();
        for (std::string& file : *files) {
            if (!holdsPairs(file))
                continue;
            const std::string language = isCatalogue(file) ? languageOfCatalogue(file) : "";
            if (!target.empty() && !language.empty() && language != target)
                continue;
            if (isCatalogue(file))
                languages.insert(language);
            corpus.files.push_back(std::move(file));
        }
        if (corpus.files.size() == before)
            return fail(ErrorCode::kInvalid,
                        "read pairs " + path + ": no .tsv, .rmpairs or .mo there" +
                            (target.empty() ? "" : " for the language " + target));
    }
    if (languages.size() > 1)
        return fail(ErrorCode::kInvalid, "read pairs " + paths.front() +
                                             ": its catalogues are of several languages (" +
                                             *languages.begin() + ", " + *languages.rbegin() +
                                             "); name the folder of one, LL/LC_MESSAGES");
    if (!languages.empty())
        corpus.languages = {"en", *languages.begin()};
    return corpus;
}

Result<void> harvestPairs(const PairCorpus& corpus, HarvestState& state, PairsSeen& seen,
                          const std::function<Result<void>(const Pair&)>& take,
                          const std::function<void(const HarvestState&)>& report) {
    const auto pieces = cutFiles(corpus.files);
    if (!pieces)
        return tl::unexpected(pieces.error());
    state.pieces += pieces->size();
    learnLanguages(state.languages, corpus.languages);
    const auto use = [&](size_t, Result<ReadPiece> read) -> Result<void> {
        if (!read)
            return tl::unexpected(read.error());
        addBad(state, read->harvest);
        learnLanguages(state.languages, read->languages);
        for (const Pair& pair : read->harvest.pairs) {
            const bool isNew = seen.add(pair);
            ++(isNew ? state.pairs : state.duplicates);
            if (!isNew)
                continue;
            if (const auto taken = take(pair); !taken)
                return taken;
        }
        ++state.piecesDone;
        if (report)
            report(state);
        return {};
    };
    return inOrder(
        pieces->size(), std::max(1u, std::thread::hardware_concurrency()),
        [&](size_t i) { return readPiece((*pieces)[i]); }, use);
}

Result<void> checkBad(const HarvestState& state, double maxBad) {
    const auto bad = static_cast<double>(state.bad);
    const auto all = static_cast<double>(state.pairs + state.duplicates) + bad;
    if (bad <= maxBad * all)
        return {};
    std::string message = "read pairs: " + std::to_string(state.bad) +
                          " lines are no pairs, a larger share than data.max_bad allows; the "
                          "first of them:";
    for (const std::string& name : state.named)
        message += "\n  " + name;
    return fail(ErrorCode::kInvalid, std::move(message));
}

} // namespace rm
