// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/image.h"

namespace rm {

Result<std::unique_ptr<ImageReader>> openJpeg(std::span<const std::byte> bytes);
Result<std::unique_ptr<ImageReader>> openPng(std::span<const std::byte> bytes);

/// Room for `region` shrunk by `reduction`.
Pixels makePixels(const Region& region, int64_t reduction = 1);

} // namespace rm
