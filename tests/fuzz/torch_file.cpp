// SPDX-License-Identifier: Apache-2.0
// A whole file of torch.save(), in either form.
#include "tests/fuzz/fuzz.h"
#include "trainer/train/formats/torch_archive.h"

#include <sstream>

using namespace rm;

namespace {

constexpr uint64_t kMaxBytes = 1 << 20;

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto file = fuzz::bytes(data, size);
    std::istringstream stream(std::string(fuzz::text(data, size)));
    const auto weights = beginsAsTorchPickles(file)
                             ? readTorchPickles(file, "fuzz.pt")
                             : readTorchArchive(stream, "fuzz.pt", kMaxBytes);
    if (weights)
        for (const Weight& weight : *weights)
            RM_HOLDS(weight.tensor.numel() >= 0);
    return 0;
}
