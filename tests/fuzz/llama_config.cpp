// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz.h"
#include "trainer/train/workloads/llama/settings.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto settings = llamaSettings(std::string(fuzz::text(data, size)), "fuzz");
    if (!settings)
        return 0;
    RM_HOLDS(settings->layers > 0 && settings->vocab > 0 && settings->context > 0);
    RM_HOLDS(settings->width % settings->heads == 0);
    RM_HOLDS(settings->heads % settings->kvHeads == 0);
    RM_HOLDS(settings->headDim > 0 && settings->headDim % 2 == 0);
    const auto again = llamaSettings(llamaConfig(*settings), "again");
    RM_HOLDS(again && *again == *settings);
    return 0;
}
