// SPDX-License-Identifier: Apache-2.0
#include "shared/return_if_error.h"
#include "trainer/train/workloads/resnet/image_codecs.h"

#include <png.h>

#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

namespace rm {
namespace {

constexpr png_alloc_size_t kMaxChunkBytes = 8u << 20; ///< of profiles and texts, unpacked
constexpr png_uint_32 kMaxSide = 1u << 27;            ///< the product is checked after the header

bool hasEndChunk(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return text.rfind("IEND") != text.npos;
}

class PngReader final : public ImageReader {
public:
    explicit PngReader(std::span<const std::byte> bytes)
        : m_bytes(bytes)
        , m_rest(bytes) {}
    ~PngReader() override { png_destroy_read_struct(&m_png, &m_info, nullptr); }
    PngReader(const PngReader&) = delete;
    PngReader& operator=(const PngReader&) = delete;

    Result<void> readHeader();
    Result<Pixels> read(const Region& region, int64_t reduction) override;

private:
    /// False when libpng left `work` by longjmp; so no object in it may have a destructor.
    template <class Work>
    bool guarded(const Work& work) {
        if (setjmp(png_jmpbuf(m_png)) != 0)
            return false;
        work();
        return true;
    }
    tl::unexpected<Error> failure() const { return fail(ErrorCode::kCorrupt, m_message); }

    [[noreturn]] static void onError(png_structp png, png_const_charp message);
    static void onWarning(png_structp, png_const_charp) {}
    static void giveBytes(png_structp png, png_bytep out, size_t count);

    void askForRgb();
    void readPlain(const Region& region, uint8_t* row, Pixels& out);

    std::span<const std::byte> m_bytes;
    std::span<const std::byte> m_rest; ///< not yet given to libpng
    png_structp m_png = nullptr;
    png_infop m_info = nullptr;
    char m_message[128] = {};
    bool m_interlaced = false;
};

void PngReader::onError(png_structp png, png_const_charp message) {
    auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(reader->m_message, sizeof reader->m_message, "%s", message);
    png_longjmp(png, 1);
}

void PngReader::giveBytes(png_structp png, png_bytep out, size_t count) {
    auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > reader->m_rest.size())
        png_error(png, "it ends too early");
    std::memcpy(out, reader->m_rest.data(), count);
    reader->m_rest = reader->m_rest.subspan(count);
}

Result<void> PngReader::readHeader() {
    m_png = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, onError, onWarning);
    m_info = m_png ? png_create_info_struct(m_png) : nullptr;
    if (!m_info)
        return fail(ErrorCode::kExhausted, "no memory for libpng");
    const bool read = guarded([this] {
        png_set_user_limits(m_png, kMaxSide, kMaxSide);
        png_set_chunk_malloc_max(m_png, kMaxChunkBytes);
        png_set_read_fn(m_png, this, giveBytes);
        png_read_info(m_png, m_info);
    });
    if (!read)
        return failure();
    if (!hasEndChunk(m_bytes))
        return fail(ErrorCode::kCorrupt, "it ends too early");
    return setSize(png_get_image_width(m_png, m_info), png_get_image_height(m_png, m_info));
}

/// Pillow takes the high byte of 16 bits and drops alpha; libpng must not apply gamma.
void PngReader::askForRgb() {
    png_set_expand(m_png);
    png_set_strip_16(m_png);
    png_set_strip_alpha(m_png);
    png_set_gray_to_rgb(m_png);
    m_interlaced = png_set_interlace_handling(m_png) > 1;
    png_read_update_info(m_png, m_info);
    if (png_get_rowbytes(m_png, m_info) != static_cast<size_t>(width()) * 3)
        png_error(m_png, "its pixels do not become RGB");
}

void PngReader::readPlain(const Region& region, uint8_t* row, Pixels& out) {
    const auto rowBytes = static_cast<size_t>(out.width) * 3;
    for (int64_t y = 0; y < region.y; ++y)
        png_read_row(m_png, row, nullptr);
    for (int64_t y = 0; y < region.height; ++y) {
        png_read_row(m_png, row, nullptr);
        std::memcpy(out.rgb + static_cast<size_t>(y) * rowBytes, row + region.x * 3, rowBytes);
    }
}

Result<Pixels> PngReader::read(const Region& region, int64_t) {
    if (!guarded([this] { askForRgb(); }))
        return failure();
    if (!m_interlaced) {
        Pixels pixels = makePixels(region);
        std::vector<uint8_t> row(static_cast<size_t>(width()) * 3);
        if (!guarded([&] { readPlain(region, row.data(), pixels); }))
            return failure();
        return pixels;
    }
    const Pixels whole = makePixels({0, 0, width(), height()});
    std::vector<png_bytep> rows;
    for (int64_t y = 0; y < height(); ++y)
        rows.push_back(whole.rgb + y * width() * 3);
    if (!guarded([&] { png_read_image(m_png, rows.data()); }))
        return failure();
    return cut(whole, region);
}

} // namespace

Result<std::unique_ptr<ImageReader>> openPng(std::span<const std::byte> bytes) {
    auto reader = std::make_unique<PngReader>(bytes);
    RM_RETURN_IF_ERROR(reader->readHeader());
    return reader;
}

} // namespace rm
