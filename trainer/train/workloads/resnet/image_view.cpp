// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/resnet/image_view.h"

#include "shared/return_if_error.h"

#include <ATen/ops/_upsample_bilinear2d_aa.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace rm {
namespace {

constexpr int kAttempts = 10;
constexpr double kMinScale = 0.08;
constexpr double kMinRatio = 3.0 / 4.0;
constexpr double kMaxRatio = 4.0 / 3.0;
/// How many decoded pixels must become one, at least, after a shrinking decode; averaging then
/// hides the difference (99.9 % of bytes within 1, measured).
constexpr int64_t kMinShrink = 6;

/// A number in [0, 1), the same with every standard library.
double uniform(std::mt19937_64& engine) {
    return std::ldexp(static_cast<double>(engine() >> 11), -53);
}

double uniform(std::mt19937_64& engine, double low, double high) {
    return low + (high - low) * uniform(engine);
}

/// 0 to `most`.
int64_t upTo(std::mt19937_64& engine, int64_t most) {
    return std::min(most, static_cast<int64_t>(uniform(engine) * static_cast<double>(most + 1)));
}

int64_t rounded(double value) {
    return static_cast<int64_t>(std::nearbyint(value)); // half to even, as Python
}

/// The largest crop in the middle whose ratio is allowed.
Region middle(int64_t width, int64_t height) {
    Region crop{0, 0, width, height};
    const double ratio = static_cast<double>(width) / static_cast<double>(height);
    if (ratio < kMinRatio)
        crop.height = rounded(static_cast<double>(width) / kMinRatio);
    else if (ratio > kMaxRatio)
        crop.width = rounded(static_cast<double>(height) * kMaxRatio);
    crop.x = (width - crop.width) / 2;
    crop.y = (height - crop.height) / 2;
    return crop;
}

Region drawCrop(int64_t width, int64_t height, std::mt19937_64& engine) {
    const auto area = static_cast<double>(width) * static_cast<double>(height);
    for (int i = 0; i < kAttempts; ++i) {
        const double target = area * uniform(engine, kMinScale, 1.0);
        const double ratio = std::exp(uniform(engine, std::log(kMinRatio), std::log(kMaxRatio)));
        const int64_t w = rounded(std::sqrt(target * ratio));
        const int64_t h = rounded(std::sqrt(target / ratio));
        if (w < 1 || h < 1 || w > width || h > height)
            continue;
        const int64_t y = upTo(engine, height - h);
        const int64_t x = upTo(engine, width - w);
        return {x, y, w, h};
    }
    return middle(width, height);
}

Region aligned(const Region& crop, int64_t to) {
    return {crop.x / to * to, crop.y / to * to, crop.width / to * to, crop.height / to * to};
}

at::Tensor tensorOf(const Pixels& pixels) {
    return at::from_blob(pixels.rgb, {1, 3, pixels.height, pixels.width},
                         {pixels.width * pixels.height * 3, 1, pixels.width * 3, 3},
                         at::TensorOptions(at::kByte));
}

void resizeInto(const at::Tensor& out, const Pixels& pixels) {
    at::Tensor row = out.unsqueeze(0);
    at::_upsample_bilinear2d_aa_out(row, tensorOf(pixels), {out.size(1), out.size(2)}, false);
}

constexpr int64_t kPixelBytes = 3;
using Pixel = std::array<uint8_t, kPixelBytes>;

/// Writes the first pixels of a row of `width` that is `from` mirrored, five at a time, and returns
/// how many. The last few are left, as it reads and writes a byte too many.
__attribute__((target("ssse3"))) int64_t mirrorByFives(const uint8_t* from, uint8_t* to,
                                                       int64_t width) {
    using Bytes = uint8_t __attribute__((vector_size(16)));
    int64_t x = 0;
    for (; x + 6 <= width; x += 5) {
        Bytes five;
        std::memcpy(&five, from + (width - x - 5) * kPixelBytes, sizeof five);
        five = __builtin_shufflevector(five, five, 12, 13, 14, 9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2,
                                       15);
        std::memcpy(to + x * kPixelBytes, &five, sizeof five);
    }
    return x;
}

void flipRows(const at::Tensor& out) {
    static const bool shuffles = __builtin_cpu_supports("ssse3");
    const int64_t width = out.size(2);
    const auto rowBytes = static_cast<size_t>(width * kPixelBytes);
    std::vector<uint8_t> row(rowBytes + 1);
    auto* to = out.mutable_data_ptr<uint8_t>();
    for (int64_t y = 0; y < out.size(1); ++y, to += rowBytes) {
        std::memcpy(row.data(), to, rowBytes);
        const auto* pixels = reinterpret_cast<const Pixel*>(row.data());
        const int64_t done = shuffles ? mirrorByFives(row.data(), to, width) : 0;
        std::reverse_copy(pixels, pixels + width - done, reinterpret_cast<Pixel*>(to) + done);
    }
}

} // namespace

TrainingView drawView(const ImageReader& reader, int64_t size, std::mt19937_64& engine) {
    TrainingView view{drawCrop(reader.width(), reader.height(), engine), 1, false};
    view.flip = uniform(engine) < 0.5;
    const int64_t shrink = std::min(view.crop.width, view.crop.height) / size;
    for (const int64_t reduction : {8, 4, 2})
        if (reader.canReduce() && shrink >= reduction * kMinShrink) {
            view.reduction = reduction;
            view.crop = aligned(view.crop, reduction);
            break;
        }
    return view;
}

Result<void> readView(ImageReader& reader, const TrainingView& view, const at::Tensor& out) {
    RM_ASSIGN_OR_RETURN(const auto pixels, reader.read(view.crop, view.reduction));
    resizeInto(out, pixels);
    if (view.flip)
        flipRows(out);
    return {};
}

Result<void> readCentre(ImageReader& reader, const at::Tensor& out) {
    const int64_t size = out.size(1);
    const auto shorter = static_cast<int64_t>(static_cast<double>(size) / kValidationCrop);
    const int64_t least = std::min(reader.width(), reader.height());
    const int64_t height = shorter * reader.height() / least;
    const int64_t width = shorter * reader.width() / least;
    if (height > kMaxImagePixels / width)
        return fail(ErrorCode::kCorrupt,
                    "its sides are too unequal: " + std::to_string(reader.width()) + " x " +
                        std::to_string(reader.height()) + " pixels");
    RM_ASSIGN_OR_RETURN(const auto pixels, reader.read({0, 0, reader.width(), reader.height()}, 1));
    const at::Tensor whole = at::_upsample_bilinear2d_aa(tensorOf(pixels), {height, width}, false);
    const int64_t top = rounded(static_cast<double>(height - size) / 2);
    const int64_t left = rounded(static_cast<double>(width - size) / 2);
    at::Tensor(out).copy_(whole[0].narrow(1, top, size).narrow(2, left, size));
    return {};
}

} // namespace rm
