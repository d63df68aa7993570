// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/data/image.h"

#include <ATen/core/Tensor.h>

#include <random>

namespace rm {

/// Share of the shorter side that validation keeps.
inline constexpr double kValidationCrop = 0.875;

/// What of a picture one training sample shows.
struct TrainingView {
    Region crop;
    int64_t reduction = 1; ///< see ImageReader::read()
    bool flip = false;     ///< left to right
    bool operator==(const TrainingView&) const = default;
};

/// torchvision.transforms.RandomResizedCrop's rule (scale 0.08 to 1, ratio 3/4 to 4/3), then a flip
/// one time in two. A crop much larger than `size` may be decoded smaller; its edges are then
/// rounded to whole pixels of what is decoded.
TrainingView drawView(const ImageReader& reader, int64_t size, std::mt19937_64& engine);

/// The view shrunk or enlarged to (3, size, size) as Pillow does it, bilinear with antialiasing,
/// into `out`: a row of a channels-last uint8 (B, 3, size, size). Differs from Pillow's bytes by 1
/// at most; where the view is reduced, by more in one byte of a thousand.
Result<void> readView(ImageReader& reader, const TrainingView& view, const at::Tensor& out);

/// torchvision's Resize(size / kValidationCrop) and CenterCrop(size), into `out` as above.
Result<void> readCentre(ImageReader& reader, const at::Tensor& out);

} // namespace rm
