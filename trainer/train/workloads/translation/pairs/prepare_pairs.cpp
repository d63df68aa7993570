// SPDX-License-Identifier: Apache-2.0
#include "shared/counted.h"
#include "shared/return_if_error.h"
#include "trainer/train/prepare/prepare.h"
#include "trainer/train/prepare/progress_line.h"
#include "trainer/train/workloads/translation/pairs/pair_corpus.h"
#include "trainer/train/workloads/translation/pairs/pair_file.h"
#include "trainer/train/workloads/translation/pairs/parallel_files.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace rm {
namespace {

std::string howFar(const HarvestState& state) {
    return std::to_string(state.piecesDone) + " of " + std::to_string(state.pieces) +
           " pieces read, " + std::to_string(state.pairs) + " pairs";
}

/// As the endings of the two files say, unless the options say otherwise.
PairLanguages languagesOf(const ParallelFiles& files, const PrepareOptions& options) {
    return {options.source.empty() ? files.languages.source : options.source,
            options.target.empty() ? files.languages.target : options.target};
}

/// The files without the output file, which is about to be overwritten.
Result<PairCorpus> findInputs(const PrepareOptions& options) {
    auto corpus = findPairs(options.paths, options.target);
    if (!corpus)
        return corpus;
    std::erase_if(corpus->files, [&](const std::string& file) {
        std::error_code absent;
        return std::filesystem::equivalent(file, options.out, absent);
    });
    const std::string& source = corpus->languages.source;
    if (!source.empty() && !options.source.empty() && options.source != source)
        return fail(ErrorCode::kInvalid, "prepare pairs: the messages of gettext catalogues are "
                                         "English, so --source must be en, not " +
                                             options.source);
    for (auto [known, wanted] : {std::pair(&corpus->languages.source, &options.source),
                                 {&corpus->languages.target, &options.target}})
        if (!wanted->empty())
            *known = *wanted;
    return corpus;
}

void report(const PrepareOptions& options, const PairCorpus& corpus, const HarvestState& state,
            double seconds) {
    for (const std::string& name : state.named)
        std::fprintf(stderr, "warning: %s; left out\n", name.c_str());
    if (state.bad > static_cast<int64_t>(state.named.size()))
        std::fprintf(stderr, "warning: %lld in all are no pairs\n",
                     static_cast<long long>(state.bad));
    std::printf("%s: %lld pairs from %s, %lld duplicates left out, %.1f s\n", options.out.c_str(),
                static_cast<long long>(state.pairs), counted(corpus.files.size(), "file").c_str(),
                static_cast<long long>(state.duplicates), seconds);
}

} // namespace

Result<void> preparePairs(const PrepareOptions& options) {
    const auto parallel = parallelFilesIn(options.paths);
    PairCorpus corpus;
    if (parallel)
        corpus = {options.paths, languagesOf(*parallel, options)};
    else {
        RM_ASSIGN_OR_RETURN(corpus, findInputs(options));
    }
    const PairFileInfo info{1, 0, 0, corpus.languages.source, corpus.languages.target};
    RM_ASSIGN_OR_RETURN(auto writer, PairFileWriter::create(options.out, info));
    HarvestState state;
    PairDeduplicator seen;
    double seconds = 0;
    {
        ProgressLine progress;
        const auto take = [&](const Pair& pair) { return writer.append(pair.source, pair.target); };
        const auto harvested =
            parallel ? harvestParallel(*parallel, state, seen, take)
                     : harvestPairs(corpus, state, seen, take,
                                    [&](const HarvestState& now) { progress.show(howFar(now)); });
        const auto done =
            Result<void>(harvested)
                .and_then([&] { return checkBad(state, options.maxBad, "--max-bad"); })
                .and_then([&] { return writer.finish(); });
        if (!done)
            return done;
        seconds = progress.seconds();
    }
    if (state.pairs == 0) {
        std::filesystem::remove(options.out);
        return fail(ErrorCode::kInvalid, "prepare pairs: there are no pairs in " +
                                             counted(corpus.files.size(), "file") +
                                             ", so no shard is made");
    }
    report(options, corpus, state, seconds);
    return {};
}

} // namespace rm
