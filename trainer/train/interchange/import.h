// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

struct Import {
    std::string source; ///< as readWeights() takes it
    std::string into;   ///< the folder in which the checkpoint's folder is made
    std::string spec;   ///< of the future run; empty: made from the source's config.json
};

/// Makes a checkpoint of step 0, with a fresh optimizer state, from weights of other programs, so
/// that --start-from can continue from it. Tokenizer files beside the weights are included. Returns
/// the checkpoint's folder.
Result<std::string> importWeights(const Import& import);

} // namespace rm
