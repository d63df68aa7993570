// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/resnet/image.h"

#include "shared/io/data_files.h"
#include "trainer/train/workloads/resnet/image_codecs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace rm {
namespace {

constexpr std::array<uint8_t, 3> kJpegStart = {0xff, 0xd8, 0xff};
constexpr std::array<uint8_t, 8> kPngStart = {0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a};
constexpr std::array<uint8_t, 4> kRiffStart = {'R', 'I', 'F', 'F'};
constexpr size_t kRiffHeader = 8; ///< that word and a length
constexpr std::array<uint8_t, 4> kWebpStart = {'W', 'E', 'B', 'P'};
constexpr std::array<uint8_t, 2> kBmpStart = {'B', 'M'};

template <size_t size>
bool startsWith(std::span<const std::byte> bytes, const std::array<uint8_t, size>& start) {
    return bytes.size() >= size && std::memcmp(bytes.data(), start.data(), size) == 0;
}

} // namespace

Result<std::unique_ptr<ImageReader>> ImageReader::open(std::span<const std::byte> bytes) {
    if (startsWith(bytes, kJpegStart))
        return openJpeg(bytes);
    if (startsWith(bytes, kPngStart))
        return openPng(bytes);
    if (startsWith(bytes, kRiffStart) &&
        startsWith(bytes.subspan(std::min(kRiffHeader, bytes.size())), kWebpStart))
        return openWebp(bytes);
    if (startsWith(bytes, kBmpStart))
        return openBmp(bytes);
    return fail(ErrorCode::kCorrupt, bytes.empty()
                                         ? "it is empty"
                                         : whyNotOfItsKind(bytes, "no JPEG, PNG, WebP or BMP"));
}

Result<void> ImageReader::setSize(int64_t width, int64_t height) {
    m_width = width;
    m_height = height;
    const std::string size = std::to_string(width) + " x " + std::to_string(height) + " pixels";
    if (width < 1 || height < 1)
        return fail(ErrorCode::kCorrupt, "it claims " + size);
    if (width > kMaxImagePixels / height)
        return fail(ErrorCode::kCorrupt, "it claims " + size + ", which is more than " +
                                             std::to_string(kMaxImagePixels));
    return {};
}

Pixels makePixels(const Region& region, int64_t reduction, size_t margin) {
    Pixels pixels{region.width / reduction, region.height / reduction, nullptr, nullptr};
    pixels.room = std::make_unique_for_overwrite<uint8_t[]>(pixels.bytes() + 2 * margin);
    pixels.rgb = pixels.room.get() + margin;
    return pixels;
}

Pixels cut(const Pixels& whole, const Region& region) {
    Pixels part = makePixels(region);
    const auto rowBytes = static_cast<size_t>(region.width) * 3;
    for (int64_t y = 0; y < region.height; ++y)
        std::memcpy(part.rgb + static_cast<size_t>(y) * rowBytes,
                    whole.rgb + ((region.y + y) * whole.width + region.x) * 3, rowBytes);
    return part;
}

} // namespace rm
