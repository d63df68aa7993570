// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/resnet/image.h"

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

/// The view shrunk or enlarged to (3, size, size), bilinear with antialiasing, into `out`: a row of
/// a channels-last uint8 (B, 3, size, size). Its bytes are those of torchvision's resized_crop() of
/// a tensor. From Pillow's they differ by 1 at most where a view shrinks, by 2 in less than one of
/// 10,000 where it is enlarged; where it is reduced, by more than 1 in less than one of 1,000.
Result<void> readView(ImageReader& reader, const TrainingView& view, const at::Tensor& out);

/// torchvision's Resize(size / kValidationCrop) and CenterCrop(size), into `out` as above.
Result<void> readCentre(ImageReader& reader, const at::Tensor& out);

} // namespace rm
