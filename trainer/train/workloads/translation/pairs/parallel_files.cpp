// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/translation/pairs/parallel_files.h"

#include "shared/return_if_error.h"
#include "trainer/train/data/text/corpus.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

namespace rm {
namespace fs = std::filesystem;
namespace {

class Lines {
public:
    explicit Lines(const std::string& path)
        : m_path(path)
        , m_file(path, std::ios::binary) {}

    /// The next one; nullopt: there is none any more.
    std::optional<std::string> next() {
        std::string line;
        if (!std::getline(m_file, line))
            return std::nullopt;
        if (++m_count == 1)
            line = std::string(withoutByteOrderMark(line));
        return line;
    }
    /// Of the whole file, of which the rest is read for it.
    int64_t countAll() {
        while (next()) {
        }
        return m_count;
    }
    int64_t count() const { return m_count; }
    Result<void> verdict() const {
        return m_file.bad() || !m_file.is_open() ? failErrno("read pairs " + m_path, errno)
                                                 : Result<void>();
    }

private:
    std::string m_path;
    std::ifstream m_file;
    int64_t m_count = 0;
};

/// ".en", ".pt_BR", ".zh-Hans"; gettext's catalogues have an ending that looks like one.
bool isLanguage(const std::string& ending) {
    const size_t end = std::min(ending.find_first_of("_-"), ending.size());
    return (end == 3 || end == 4) && ending != ".mo" && ending != ".tsv" &&
           std::ranges::all_of(ending.substr(1, end - 1),
                               [](char c) { return c >= 'a' && c <= 'z'; });
}

} // namespace

std::optional<ParallelFiles> parallelFilesIn(const std::vector<std::string>& paths) {
    if (paths.size() != 2)
        return std::nullopt;
    const fs::path source = paths[0], target = paths[1];
    std::error_code ignored;
    const bool areFiles =
        fs::is_regular_file(source, ignored) && fs::is_regular_file(target, ignored);
    const std::string from = source.extension(), to = target.extension();
    if (!areFiles || from == to || !isLanguage(from) || !isLanguage(to) ||
        source.stem() != target.stem())
        return std::nullopt;
    return ParallelFiles{paths[0], paths[1], {from.substr(1), to.substr(1)}};
}

Result<void> harvestParallel(const ParallelFiles& files, HarvestState& state,
                             PairDeduplicator& seen,
                             const std::function<Result<void>(const Pair&)>& take) {
    RM_RETURN_IF_ERROR(checkText(files.source, Encoding::kUtf8));
    RM_RETURN_IF_ERROR(checkText(files.target, Encoding::kUtf8));
    Lines sources(files.source), targets(files.target);
    PairHarvest harvest;
    for (;;) {
        const auto source = sources.next(), target = targets.next();
        if (!source || !target)
            break;
        harvest.pairs.clear();
        harvest.add(*source, *target, files.source, sources.count());
        for (const Pair& pair : harvest.pairs) {
            const bool isNew = seen.add(pair);
            ++(isNew ? state.pairs : state.duplicates);
            if (isNew)
                RM_RETURN_IF_ERROR(take(pair));
        }
    }
    const int64_t sourceLines = sources.countAll(), targetLines = targets.countAll();
    RM_RETURN_IF_ERROR(sources.verdict());
    RM_RETURN_IF_ERROR(targets.verdict());
    if (sourceLines != targetLines)
        return fail(ErrorCode::kInvalid,
                    "read pairs " + files.source + ": it has " + std::to_string(sourceLines) +
                        " lines, and " + files.target + " has " + std::to_string(targetLines) +
                        "; each line must have its translation in the same line of the other");
    state.bad += harvest.bad;
    state.named.insert(state.named.end(), harvest.named.begin(), harvest.named.end());
    return {};
}

} // namespace rm
