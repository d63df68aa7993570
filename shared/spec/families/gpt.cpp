// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/families.h"

namespace rm {

ModelFamily gptFamily() {
    return {
        .name = "gpt",
        .types = {"gpt"},
        .data = DataKind::kText,
        .uses = generatorKeys(),
        .figures = {metric::kValidationLoss},
        .check = checkHeads,
        .bound = [](const RunSpec& spec) { return transformerBound(spec, spec.model.layers, 1); }};
}

} // namespace rm
