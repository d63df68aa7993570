// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/resnet/image.h"

#include "tests/fuzz/fuzz.h"

using namespace rm;

namespace {

constexpr int64_t kPixels = int64_t{1} << 20; ///< a header may claim more; then decoding is slow

void readMiddle(const uint8_t* data, size_t size, int64_t reduction) {
    const auto reader = ImageReader::open(fuzz::bytes(data, size));
    if (!reader)
        return;
    const int64_t width = (*reader)->width();
    const int64_t height = (*reader)->height();
    RM_HOLDS(width > 0 && height > 0 && width <= kMaxImagePixels / height);
    if (width * height > kPixels || (reduction > 1 && !(*reader)->canReduce()))
        return;
    const auto multiple = [reduction](int64_t length) { return length / reduction * reduction; };
    const Region region{multiple(width / 3), multiple(height / 3), multiple(width / 2),
                        multiple(height / 2)};
    if (region.width == 0 || region.height == 0)
        return;
    const auto pixels = (*reader)->read(region, reduction);
    if (!pixels)
        return;
    RM_HOLDS(pixels->width == region.width / reduction);
    RM_HOLDS(pixels->height == region.height / reduction);
    unsigned sum = 0; // every byte was written
    for (size_t i = 0; i < pixels->bytes(); ++i)
        sum += pixels->rgb[i];
    RM_HOLDS(sum <= pixels->bytes() * 255);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    for (const int64_t reduction : {1, 2, 8})
        readMiddle(data, size, reduction);
    return 0;
}
