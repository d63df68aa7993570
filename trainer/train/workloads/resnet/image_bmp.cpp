// SPDX-License-Identifier: Apache-2.0
#include "shared/io/bytes.h"
#include "shared/return_if_error.h"
#include "trainer/train/workloads/resnet/image_codecs.h"

#include <memory>
#include <string>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_BMP
#define STBI_NO_STDIO
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace rm {
namespace {

/// Whether all rows are there: stb_image would take zeros for those that are missing. Rows are not
/// packed in any kind that it reads, and each has a multiple of 32 bits.
bool hasAllRows(std::span<const std::byte> bytes, int64_t width, int64_t height) {
    constexpr size_t kRowsAt = 10, kHeaderSizeAt = 14, kLeast = 30;
    if (bytes.size() < kLeast)
        return false;
    const bool isOfOs2 = loadInt<uint32_t>(bytes.subspan(kHeaderSizeAt)) == 12;
    const auto bits = int64_t{loadInt<uint16_t>(bytes.subspan(isOfOs2 ? 24 : 28))};
    const int64_t row = (width * bits + 31) / 32 * 4;
    return int64_t{loadInt<uint32_t>(bytes.subspan(kRowsAt))} + row * height <=
           static_cast<int64_t>(bytes.size());
}

class BmpReader final : public ImageReader {
public:
    explicit BmpReader(std::span<const std::byte> bytes)
        : m_bytes(bytes) {}

    Result<void> readHeader() {
        int width = 0, height = 0, channels = 0;
        if (stbi_info_from_memory(octets(m_bytes), static_cast<int>(m_bytes.size()), &width,
                                  &height, &channels) != 1)
            return failure();
        RM_RETURN_IF_ERROR(setSize(width, height));
        return hasAllRows(m_bytes, width, height) ? Result<void>()
                                                  : fail(ErrorCode::kCorrupt, "it ends too early");
    }
    Result<Pixels> read(const Region& region, int64_t) override {
        constexpr int kRgb = 3;
        int width = 0, height = 0, channels = 0;
        const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> decoded(
            stbi_load_from_memory(octets(m_bytes), static_cast<int>(m_bytes.size()), &width,
                                  &height, &channels, kRgb),
            &stbi_image_free);
        if (!decoded || width != this->width() || height != this->height())
            return failure();
        return cut({width, height, decoded.get(), nullptr}, region);
    }

private:
    static tl::unexpected<Error> failure() {
        const char* why = stbi_failure_reason();
        return fail(ErrorCode::kCorrupt, why ? why : "stb_image refuses it");
    }

    std::span<const std::byte> m_bytes;
};

} // namespace

Result<std::unique_ptr<ImageReader>> openBmp(std::span<const std::byte> bytes) {
    auto reader = std::make_unique<BmpReader>(bytes);
    RM_RETURN_IF_ERROR(reader->readHeader());
    return reader;
}

} // namespace rm
