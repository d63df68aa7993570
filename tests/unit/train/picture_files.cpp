// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/picture_files.h"

#include <jpeglib.h>
#include <png.h>

#include <algorithm>
#include <cmath>
#include <cstdio> // jpeglib.h needs FILE
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace rm::test {
namespace {

void appendTo(png_structp png, png_bytep bytes, size_t count) {
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(bytes), count);
}

void flushNothing(png_structp) {}

void choose(jpeg_compress_struct& info, const JpegKind& kind) {
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, kind.quality, TRUE);
    if (kind.grey)
        jpeg_set_colorspace(&info, JCS_GRAYSCALE);
    else
        info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = kind.coarseness;
    if (kind.acrossOnly)
        info.comp_info[0].v_samp_factor = 1;
    if (kind.progressive)
        jpeg_simple_progression(&info);
}

} // namespace

Picture madeUp(int width, int height, uint32_t seed, Colour colour) {
    Picture picture{width, height, {}};
    const double slant = 0.1 + 0.013 * static_cast<double>(seed % 17);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (size_t channel = 0; channel < 3; ++channel) {
                const double wave = std::sin(slant * x + 0.07 * y + double(seed) + double(channel));
                picture.rgb.push_back(
                    static_cast<uint8_t>(std::clamp(colour[channel] + 40.0 * wave, 0.0, 255.0)));
            }
    return picture;
}

std::string jpegOf(const Picture& picture, JpegKind kind) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* bytes = nullptr;
    unsigned long count = 0;
    jpeg_mem_dest(&info, &bytes, &count);
    info.image_width = static_cast<JDIMENSION>(picture.width);
    info.image_height = static_cast<JDIMENSION>(picture.height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    choose(info, kind);
    jpeg_start_compress(&info, TRUE);
    std::vector<uint8_t> rgb = picture.rgb;
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = rgb.data() + info.next_scanline * info.image_width * 3;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    std::string text(reinterpret_cast<char*>(bytes), count);
    std::free(bytes);
    return text;
}

std::string pngOf(const Picture& picture, bool interlaced) {
    std::string text;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &text, appendTo, flushNothing);
    png_set_IHDR(png, info, static_cast<png_uint_32>(picture.width),
                 static_cast<png_uint_32>(picture.height), 8, PNG_COLOR_TYPE_RGB,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
                 PNG_FILTER_TYPE_BASE);
    png_write_info(png, info);
    std::vector<png_bytep> rows;
    std::vector<uint8_t> rgb = picture.rgb;
    for (int y = 0; y < picture.height; ++y)
        rows.push_back(rgb.data() + static_cast<ptrdiff_t>(y) * picture.width * 3);
    png_write_image(png, rows.data());
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return text;
}

void writeBytes(const std::string& path, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
}

void writeClasses(const std::string& root, const std::vector<std::string>& names, int perClass) {
    constexpr std::array<Colour, 4> kColours = {
        {{200, 60, 60}, {60, 200, 60}, {60, 60, 200}, {200, 200, 60}}};
    for (size_t label = 0; label < names.size(); ++label)
        for (int index = 0; index < perClass; ++index) {
            const auto picture = madeUp(40 + index % 7, 36, static_cast<uint32_t>(index),
                                        kColours[label % kColours.size()]);
            const bool png = index % 3 == 0;
            const std::string stem = root + "/" + names[label] + "/" + std::to_string(index);
            writeBytes(stem + (png ? ".png" : ".jpg"), png ? pngOf(picture) : jpegOf(picture));
        }
}

} // namespace rm::test
