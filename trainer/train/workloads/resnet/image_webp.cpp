// SPDX-License-Identifier: Apache-2.0
#include "shared/io/bytes.h"
#include "shared/return_if_error.h"
#include "trainer/train/workloads/resnet/image_codecs.h"

#include <webp/decode.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace rm {
namespace {

/// Colour is upsampled with its neighbours, and a part begins at even pixels alone.
constexpr int64_t kNeighbours = 4;

std::string whyNot(VP8StatusCode status) {
    switch (status) {
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
        return "it ends too early";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
        return "it has what libwebp does not know";
    case VP8_STATUS_OUT_OF_MEMORY:
        return "no memory for libwebp";
    default:
        return "its data are damaged";
    }
}

class WebpReader final : public ImageReader {
public:
    explicit WebpReader(std::span<const std::byte> bytes)
        : m_bytes(bytes) {}

    Result<void> readHeader();
    Result<Pixels> read(const Region& region, int64_t reduction) override;

private:
    std::span<const std::byte> m_bytes;
};

Result<void> WebpReader::readHeader() {
    // "RIFF", and how many bytes follow: of a lossless picture the last ones may not be missed.
    constexpr size_t kLengthAt = 4, kCountedFrom = 8;
    if (m_bytes.size() < kCountedFrom ||
        loadInt<uint32_t>(m_bytes.subspan(kLengthAt)) > m_bytes.size() - kCountedFrom)
        return fail(ErrorCode::kCorrupt, whyNot(VP8_STATUS_NOT_ENOUGH_DATA));
    WebPBitstreamFeatures features;
    const auto status = WebPGetFeatures(octets(m_bytes), m_bytes.size(), &features);
    if (status != VP8_STATUS_OK)
        return fail(ErrorCode::kCorrupt, whyNot(status));
    if (features.has_animation != 0)
        return fail(ErrorCode::kCorrupt, "it is an animation");
    return setSize(features.width, features.height);
}

Result<Pixels> WebpReader::read(const Region& region, int64_t) {
    const int64_t left = std::max<int64_t>(region.x - kNeighbours, 0) & ~int64_t{1};
    const int64_t top = std::max<int64_t>(region.y - kNeighbours, 0) & ~int64_t{1};
    const Region around{left, top, std::min(region.x + region.width + kNeighbours, width()) - left,
                        std::min(region.y + region.height + kNeighbours, height()) - top};
    const Pixels decoded = makePixels(around);
    WebPDecoderConfig config;
    WebPInitDecoderConfig(&config);
    config.options.use_cropping = 1;
    config.options.crop_left = static_cast<int>(around.x);
    config.options.crop_top = static_cast<int>(around.y);
    config.options.crop_width = static_cast<int>(around.width);
    config.options.crop_height = static_cast<int>(around.height);
    config.output.colorspace = MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = {decoded.rgb, static_cast<int>(around.width * 3), decoded.bytes()};
    const auto status = WebPDecode(octets(m_bytes), m_bytes.size(), &config);
    if (status != VP8_STATUS_OK)
        return fail(ErrorCode::kCorrupt, whyNot(status));
    return cut(decoded, {region.x - around.x, region.y - around.y, region.width, region.height});
}

} // namespace

Result<std::unique_ptr<ImageReader>> openWebp(std::span<const std::byte> bytes) {
    auto reader = std::make_unique<WebpReader>(bytes);
    RM_RETURN_IF_ERROR(reader->readHeader());
    return reader;
}

} // namespace rm
