// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/language_model.h"

#include "shared/io/json.h"

namespace rm {

std::string generationConfig(nlohmann::ordered_json textEnds, int64_t maxTokens,
                             const Sampling& sampling) {
    const bool draws = sampling.temperature > 0;
    textEnds["max_new_tokens"] = maxTokens;
    textEnds["do_sample"] = draws;
    if (draws) {
        textEnds["temperature"] = sampling.temperature;
        textEnds["top_k"] = sampling.topK;
        textEnds["top_p"] = sampling.topP;
    }
    return textEnds.dump(2) + "\n";
}

} // namespace rm
