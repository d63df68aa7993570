// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

struct Import {
    std::string source; ///< as readWeights() takes it
    std::string into;   ///< the folder in which the checkpoint's folder is made
    std::string spec;   ///< of the run to come; empty: made from the source's config.json
};

/// Makes a checkpoint of step 0 from weights of elsewhere: --start-from goes on from it with a
/// fresh optimizer. Tokenizer files beside the weights come along. Returns the checkpoint's folder.
Result<std::string> importWeights(const Import& import);

} // namespace rm
