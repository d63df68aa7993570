// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/resnet/image.h"

#include <vector>

namespace rm {

Result<std::unique_ptr<ImageReader>> openJpeg(std::span<const std::byte> bytes);
Result<std::unique_ptr<ImageReader>> openPng(std::span<const std::byte> bytes);

Result<std::unique_ptr<ImageReader>> openBmp(std::span<const std::byte> bytes);
/// A lossy or lossless one, no animation.
Result<std::unique_ptr<ImageReader>> openWebp(std::span<const std::byte> bytes);

/// The picture, rows of R, G, B without gaps, as a JPEG file of medium quality; empty: it cannot be
/// written as one.
std::vector<std::byte> encodeJpeg(const uint8_t* rgb, int64_t width, int64_t height);

/// As the libraries take them.
inline const uint8_t* octets(std::span<const std::byte> bytes) {
    return reinterpret_cast<const uint8_t*>(bytes.data());
}

/// Room for `region` shrunk by `reduction`, with `margin` bytes more before and after it.
Pixels makePixels(const Region& region, int64_t reduction = 1, size_t margin = 0);

/// The pixels of a part.
Pixels cut(const Pixels& whole, const Region& region);

} // namespace rm
