// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/run_spec.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"

namespace rm {

class World;

/// The prepared data of a translation.
struct PairData {
    PairFile train;      ///< ids; pairs that fit into model.context only
    PairFile validation; ///< texts
    PairTokenizer tokenizer;
    PairLanguages languages;
    std::string identity;              ///< see Task::dataIdentity()
    int64_t bad = 0;                   ///< lines that were no pairs; on rank 0
    std::vector<std::string> warnings; ///< for people, on rank 0
};

/// Turns the spec's pairs into shards cached in `cacheDir`, once per node, and opens them on every
/// rank; all ranks call it together and all get the same error. `tokenizer` (on rank 0) is that of
/// the checkpoint or of model.start_from, serialized; empty: one is learnt from the training pairs.
/// It is an error if the pairs differ between nodes.
Result<PairData> preparePairData(const RunSpec& spec, const std::string& cacheDir,
                                 const World& world, const std::string& tokenizer);

} // namespace rm
