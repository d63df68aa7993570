// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/data_files.h"
#include "shared/result.h"
#include "trainer/train/workloads/translation/pairs/pair_deduplicator.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace rm {

/// Names of the two languages ("en", "it"), as far as they are known; else empty.
struct PairLanguages {
    std::string source;
    std::string target;
    bool operator==(const PairLanguages&) const = default;
};

/// The files that pairs come from, and their languages.
struct PairCorpus {
    std::vector<std::string> files; ///< .tsv, .rmpairs of texts, .mo
    PairLanguages languages;        ///< as the catalogues' folders (it/LC_MESSAGES) or shards say
};

/// The files of pairs behind the paths of a spec: a file stands for itself, a folder for all of
/// them below it. With `target`, catalogues of other languages are left out; without, several
/// are an error. kNotFound / kDenied / kInvalid (of no such kind, nothing there, or data of another
/// kind beside it) name the path.
Result<PairCorpus> findPairs(const std::vector<std::string>& paths, const std::string& target,
                             Others others = Others::kRefused);

/// Progress and counts of reading a corpus.
struct HarvestState {
    size_t pieces = 0; ///< parts of files to read
    size_t piecesDone = 0;
    int64_t pairs = 0;
    int64_t duplicates = 0;         ///< left out: the same source and target as before
    int64_t bad = 0;                ///< lines or messages that are no pair
    std::vector<std::string> named; ///< the first of the bad ones: "PATH:12: why"
};

/// Reads the files in parallel and calls `take` with each distinct pair, on this thread, in the
/// order of the files; adds to the counts in `state`. Calls `report` after each piece. Returns the
/// first error: a file that is unreadable or damaged, or an error of `take`.
Result<void> harvestPairs(const PairCorpus& corpus, HarvestState& state, PairDeduplicator& seen,
                          const std::function<Result<void>(const Pair&)>& take,
                          const std::function<void(const HarvestState&)>& report = {});

/// kCorrupt when more than the share `maxBad` of all that was read (pairs, duplicates, bad lines
/// and messages) is bad; names the first bad ones. `setting` is the name of the limit in the error.
Result<void> checkBad(const HarvestState& state, double maxBad, const std::string& setting);

} // namespace rm
