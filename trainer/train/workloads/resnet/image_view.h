// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/resnet/image.h"

#include <ATen/core/Tensor.h>

#include <random>

namespace rm {

/// Share of the shorter side that validation keeps.
inline constexpr double kValidationCrop = 0.875;

/// The view of a picture in one training sample.
struct TrainingView {
    Region crop;
    int64_t reduction = 1; ///< see ImageReader::read()
    bool flip = false;     ///< left to right
    bool operator==(const TrainingView&) const = default;
};

/// As torchvision.transforms.RandomResizedCrop (scale 0.08 to 1, ratio 3/4 to 4/3), then a flip
/// with probability 1/2. A crop much larger than `size` may be decoded smaller; its edges are then
/// rounded to whole decoded pixels.
TrainingView drawView(const ImageReader& reader, int64_t size, std::mt19937_64& engine);

/// Resizes the view to (3, size, size), bilinear with antialiasing, into `out`: a row of a
/// channels-last uint8 (B, 3, size, size). The bytes are those of torchvision's resized_crop() of a
/// tensor. They differ from Pillow's by at most 1 if the view shrinks, by 2 in less than one of
/// 10,000 if it is enlarged, and by more than 1 in less than one of 1,000 if it was decoded
/// smaller.
Result<void> readView(ImageReader& reader, const TrainingView& view, const at::Tensor& out);

/// torchvision's Resize(size / kValidationCrop) and CenterCrop(size), into `out` as above.
Result<void> readCentre(ImageReader& reader, const at::Tensor& out);

} // namespace rm
