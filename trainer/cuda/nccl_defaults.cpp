// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/nccl_defaults.h"

#include <cstdlib>

namespace rm {

std::vector<std::pair<std::string, std::string>> ncclDefaults(const std::string& traceFolder) {
    std::vector<std::pair<std::string, std::string>> defaults = {
        // 3: end the process without cleanup, which would destroy the recorder before its dump.
        {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "3"},
        {"TORCH_NCCL_ENABLE_MONITORING", "1"},
        {"TORCH_FR_BUFFER_SIZE", "2000"}, // collectives; a few hundred kilobytes
        {"TORCH_NCCL_DUMP_ON_TIMEOUT", traceFolder.empty() ? "0" : "1"},
        {"TORCH_NCCL_PROPAGATE_ERROR", "1"}, // the other ranks learn of it and dump as well
    };
    if (traceFolder.empty())
        return defaults;
    const std::string prefix = traceFolder + "/nccl-trace-rank-";
    defaults.emplace_back("TORCH_FR_DUMP_TEMP_FILE", prefix);
    defaults.emplace_back("TORCH_NCCL_DEBUG_INFO_TEMP_FILE", prefix); // its name up to 2.8
    return defaults;
}

void applyNcclDefaults(const std::string& traceFolder) {
    for (const auto& [name, value] : ncclDefaults(traceFolder))
        ::setenv(name.c_str(), value.c_str(), /*overwrite=*/0);
}

} // namespace rm
