// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/safetensors.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = fuzz::bytes(data, size);
    const auto parsed = parseSafetensors(file, "fuzz.safetensors");
    if (!parsed)
        return 0;
    size_t total = 0;
    for (const TensorView& tensor : parsed->first) {
        RM_HOLDS(tensor.data.empty() ||
                 (tensor.data.data() >= file.data() + 8 && tensor.data.size() <= file.size()));
        uint64_t bytes = safetensorsItemSize(tensor.dtype);
        for (const int64_t dimension : tensor.shape)
            bytes *= uint64_t(dimension);
        RM_HOLDS(bytes == tensor.data.size());
        total += tensor.data.size();
    }
    RM_HOLDS(total <= file.size() - 8);
    return 0;
}
