// SPDX-License-Identifier: Apache-2.0
// A pickle through LibTorch's Unpickler, with storages of a few bytes each.
#include "trainer/train/formats/unpickle.h"

#include "tests/fuzz/fuzz.h"

#include <array>

using namespace rm;

namespace {

constexpr int64_t kMostItems = 100'000;

/// Reads every item that a tensor shows.
void touch(const at::Tensor& tensor) {
    if (tensor.numel() > kMostItems)
        return;
    const at::Tensor whole = tensor.contiguous();
    const auto* bytes = static_cast<const uint8_t*>(whole.const_data_ptr());
    unsigned sum = 0;
    for (size_t i = 0; i < whole.nbytes(); ++i)
        sum += bytes[i];
    RM_HOLDS(sum <= 255 * whole.nbytes());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto plain = toPlainPickle(fuzz::bytes(data, size), "fuzz.pt");
    if (!plain)
        return 0;
    const auto storage = std::make_shared<std::array<std::byte, 64>>();
    const auto find = [&](const std::string& key) {
        return StorageBytes{storage->data(), key.size() % storage->size(), storage};
    };
    try {
        const Unpickled unpickled = unpickle(*plain);
        itemSizes(unpickled);
        if (const auto weights = stateDictOf(unpickled, find, "fuzz.pt"))
            for (const Weight& weight : *weights)
                touch(weight.tensor);
    } catch (const std::exception&) { // LibTorch reports by exception
    }
    return 0;
}
