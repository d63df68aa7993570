// SPDX-License-Identifier: Apache-2.0
// Uses the libjpeg API of libjpeg-turbo, as the TurboJPEG 2 API cannot decode a part of a picture.
#include "shared/return_if_error.h"
#include "trainer/train/workloads/resnet/image_codecs.h"

#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio> // jpeglib.h needs FILE
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace rm {
namespace {

constexpr int kMaxScans = 500; ///< a progressive picture has about ten
constexpr int kInkChannels = 4;
/// Chroma upsampling reads a neighbouring sample, which covers up to four columns.
constexpr int64_t kMargin = 4;

/// libjpeg's error handler, which must not return.
struct ErrorExit {
    jpeg_error_mgr manager{};
    std::jmp_buf jump{};
    char message[JMSG_LENGTH_MAX] = {};
};

[[noreturn]] void leave(j_common_ptr common) {
    auto* exit = reinterpret_cast<ErrorExit*>(common->err);
    common->err->format_message(common, exit->message);
    std::longjmp(exit->jump, 1);
}

/// Makes the end of the data an error, as libjpeg would fill missing data with grey.
void judgeWarning(j_common_ptr common, int level) {
    if (level < 0 && common->err->msg_code == JWRN_JPEG_EOF)
        leave(common);
}

void limitScans(j_common_ptr common) {
    const auto* info = reinterpret_cast<j_decompress_ptr>(common);
    if (info->input_scan_number <= kMaxScans)
        return;
    auto* exit = reinterpret_cast<ErrorExit*>(common->err);
    std::snprintf(exit->message, sizeof exit->message, "more than %d scans", kMaxScans);
    std::longjmp(exit->jump, 1);
}

bool hasEndMarker(std::span<const std::byte> bytes) {
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return text.rfind("\xff\xd9") != text.npos;
}

uint8_t timesOver255(int a, int b) {
    const int product = a * b + 128;
    return static_cast<uint8_t>((product + (product >> 8)) >> 8);
}

/// Adobe's CMYK holds 255 - ink.
void inkToRgb(const uint8_t* ink, int64_t count, uint8_t* rgb) {
    for (; count > 0; --count, ink += kInkChannels, rgb += 3)
        for (int channel = 0; channel < 3; ++channel)
            rgb[channel] = timesOver255(ink[channel], ink[3]);
}

class JpegReader final : public ImageReader {
public:
    explicit JpegReader(std::span<const std::byte> bytes);
    ~JpegReader() override { jpeg_destroy_decompress(&m_info); }
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;

    Result<void> readHeader();
    /// Reduction would blur colour that is subsampled in one direction only.
    bool canReduce() const override { return m_info.max_h_samp_factor == m_info.max_v_samp_factor; }
    Result<Pixels> read(const Region& region, int64_t reduction) override;

private:
    /// False when libjpeg left `work` by longjmp; so no object in it may have a destructor.
    template <class Work>
    bool guarded(const Work& work) {
        if (setjmp(m_error.jump) != 0)
            return false;
        work();
        return true;
    }
    tl::unexpected<Error> failure() const { return fail(ErrorCode::kCorrupt, m_error.message); }

    bool hasInk() const { return m_info.num_components == kInkChannels; }
    void begin(const Region& scaled, int64_t reduction);
    void readRgb(size_t left, uint8_t* last, Pixels& out);
    void readInk(size_t left, uint8_t* row, Pixels& out);

    std::span<const std::byte> m_bytes;
    ErrorExit m_error;
    jpeg_progress_mgr m_progress{};
    jpeg_decompress_struct m_info{};
    JDIMENSION m_left = 0; ///< column of the picture at which decoded rows begin
};

JpegReader::JpegReader(std::span<const std::byte> bytes)
    : m_bytes(bytes) {
    m_info.err = jpeg_std_error(&m_error.manager);
    m_error.manager.error_exit = leave;
    m_error.manager.emit_message = judgeWarning;
    m_progress.progress_monitor = limitScans;
}

Result<void> JpegReader::readHeader() {
    const bool read = guarded([this] {
        jpeg_create_decompress(&m_info);
        m_info.progress = &m_progress;
        jpeg_mem_src(&m_info, reinterpret_cast<const unsigned char*>(m_bytes.data()),
                     m_bytes.size());
        jpeg_read_header(&m_info, TRUE);
    });
    if (!read)
        return failure();
    if (!hasEndMarker(m_bytes))
        return fail(ErrorCode::kCorrupt, "it ends too early");
    return setSize(m_info.image_width, m_info.image_height);
}

void JpegReader::begin(const Region& scaled, int64_t reduction) {
    m_info.scale_num = 1;
    m_info.scale_denom = static_cast<unsigned>(reduction);
    m_info.out_color_space = hasInk() ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&m_info);
    const int64_t right = std::min<int64_t>(scaled.x + scaled.width + kMargin, m_info.output_width);
    m_left = static_cast<JDIMENSION>(std::max<int64_t>(scaled.x - kMargin, 0));
    auto width = static_cast<JDIMENSION>(right) - m_left;
    jpeg_crop_scanline(&m_info, &m_left, &width);
    jpeg_skip_scanlines(&m_info, static_cast<JDIMENSION>(scaled.y));
}

/// Decodes each row directly into its place in the region. The row is wider than the region: on the
/// right it extends into the next row, which is written later; on the left it overwrites the end of
/// the previous row, which is then restored. Copying rows instead would cost 5 % of the reading
/// time.
void JpegReader::readRgb(size_t left, uint8_t* last, Pixels& out) {
    const auto rowBytes = static_cast<size_t>(out.width) * 3;
    uint8_t* row = out.rgb - left;
    for (int64_t y = 0; y < out.height; ++y, row += rowBytes) {
        std::memcpy(last, row, left);
        jpeg_read_scanlines(&m_info, &row, 1);
        std::memcpy(row, last, left);
    }
    jpeg_abort_decompress(&m_info);
}

void JpegReader::readInk(size_t left, uint8_t* row, Pixels& out) {
    for (int64_t y = 0; y < out.height; ++y) {
        jpeg_read_scanlines(&m_info, &row, 1);
        inkToRgb(row + left, out.width, out.rgb + y * out.width * 3);
    }
    jpeg_abort_decompress(&m_info);
}

Result<Pixels> JpegReader::read(const Region& region, int64_t reduction) {
    const Region scaled{region.x / reduction, region.y / reduction, region.width / reduction,
                        region.height / reduction};
    if (!guarded([&] { begin(scaled, reduction); }))
        return failure();
    const size_t decoded =
        static_cast<size_t>(m_info.output_width) * static_cast<size_t>(m_info.output_components);
    const size_t left =
        static_cast<size_t>(scaled.x - m_left) * static_cast<size_t>(m_info.output_components);
    Pixels pixels = makePixels(region, reduction, decoded);
    std::vector<uint8_t> aside(decoded);
    if (!guarded([&] {
            hasInk() ? readInk(left, aside.data(), pixels) : readRgb(left, aside.data(), pixels);
        }))
        return failure();
    return pixels;
}

class JpegWriter {
public:
    JpegWriter() {
        m_info.err = jpeg_std_error(&m_error.manager);
        m_error.manager.error_exit = leave;
    }
    ~JpegWriter() {
        jpeg_destroy_compress(&m_info);
        std::free(m_file); // NOLINT: allocated by libjpeg
    }
    JpegWriter(const JpegWriter&) = delete;
    JpegWriter& operator=(const JpegWriter&) = delete;

    /// False when libjpeg left it by longjmp; so no object in it may have a destructor.
    bool write(const uint8_t* rgb, int64_t width, int64_t height) {
        if (setjmp(m_error.jump) != 0)
            return false;
        jpeg_create_compress(&m_info);
        jpeg_mem_dest(&m_info, &m_file, &m_size);
        m_info.image_width = static_cast<JDIMENSION>(width);
        m_info.image_height = static_cast<JDIMENSION>(height);
        m_info.input_components = 3;
        m_info.in_color_space = JCS_RGB;
        jpeg_set_defaults(&m_info);
        jpeg_set_quality(&m_info, kQuality, TRUE);
        jpeg_start_compress(&m_info, TRUE);
        for (int64_t y = 0; y < height; ++y) {
            auto* row = const_cast<uint8_t*>(rgb + y * width * 3); // libjpeg does not write to it
            jpeg_write_scanlines(&m_info, &row, 1);
        }
        jpeg_finish_compress(&m_info);
        return true;
    }
    std::span<const unsigned char> file() const { return {m_file, m_size}; }

private:
    static constexpr int kQuality = 80;

    ErrorExit m_error;
    jpeg_compress_struct m_info{};
    unsigned char* m_file = nullptr;
    unsigned long m_size = 0; // NOLINT: libjpeg's type
};

} // namespace

std::vector<std::byte> encodeJpeg(const uint8_t* rgb, int64_t width, int64_t height) {
    JpegWriter writer;
    if (!writer.write(rgb, width, height))
        return {};
    const auto bytes = std::as_bytes(writer.file());
    return {bytes.begin(), bytes.end()};
}

Result<std::unique_ptr<ImageReader>> openJpeg(std::span<const std::byte> bytes) {
    auto reader = std::make_unique<JpegReader>(bytes);
    RM_RETURN_IF_ERROR(reader->readHeader());
    return reader;
}

} // namespace rm
