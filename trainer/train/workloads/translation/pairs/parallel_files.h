// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/translation/pairs/pair_corpus.h"

#include <optional>

namespace rm {

/// Two texts of which line N of the one is the translation of line N of the other, as corpora are
/// published: "train.en" and "train.it".
struct ParallelFiles {
    std::string source;
    std::string target;
    PairLanguages languages; ///< the endings
};

/// nullopt: the paths are not two such files, which have one name and the endings of two languages.
std::optional<ParallelFiles> parallelFilesIn(const std::vector<std::string>& paths);

/// Calls `take` with each distinct pair in the order of the lines; adds to the counts in `state`. A
/// line is bad if a side of it is empty or no UTF-8. kInvalid if one file has more lines than the
/// other, with both numbers: then no pair of them can be trusted.
Result<void> harvestParallel(const ParallelFiles& files, HarvestState& state,
                             PairDeduplicator& seen,
                             const std::function<Result<void>(const Pair&)>& take);

} // namespace rm
