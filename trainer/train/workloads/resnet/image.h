// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace rm {

/// A rectangle of a picture, in its own pixels.
struct Region {
    int64_t x = 0, y = 0, width = 0, height = 0;
    bool operator==(const Region&) const = default;
};

/// Decoded pixels: rows of R, G, B, one byte each, without gaps.
struct Pixels {
    int64_t width = 0;
    int64_t height = 0;
    uint8_t* rgb = nullptr; ///< in `room`
    std::unique_ptr<uint8_t[]> room;

    size_t bytes() const { return static_cast<size_t>(width * height) * 3; }
};

/// More pixels than this are refused before decoding: no photograph has as many, and a file of a
/// few bytes can claim any number.
inline constexpr int64_t kMaxImagePixels = int64_t{1} << 27;

/// An encoded picture whose header has been read. The colours are those of Pillow's
/// Image.open(...).convert("RGB"): grey and palettes become RGB, alpha and colour profiles are
/// ignored, CMYK is taken to be inverted, as Adobe writes it; but 16-bit greys keep their high
/// byte, where Pillow clips them to white. Any input ends in bounded time and memory with pixels or
/// an error.
class ImageReader {
public:
    virtual ~ImageReader() = default;

    /// JPEG, PNG, WebP or BMP, by the first bytes. `bytes` must outlive the reader. kCorrupt says
    /// what is wrong with them.
    static Result<std::unique_ptr<ImageReader>> open(std::span<const std::byte> bytes);

    int64_t width() const { return m_width; }
    int64_t height() const { return m_height; }

    /// Whether read() can shrink by 2, 4 or 8 with good quality.
    virtual bool canReduce() const { return false; }

    /// Decodes only what `region` needs, with the same result as decoding all. `reduction`: 1, 2, 4
    /// or 8 pixels per side become one by a smaller inverse cosine transform; the region's corner
    /// and size must be multiples of it. Call once per reader.
    virtual Result<Pixels> read(const Region& region, int64_t reduction) = 0;

protected:
    /// The size in the header, or why it is refused.
    Result<void> setSize(int64_t width, int64_t height);

private:
    int64_t m_width = 0;
    int64_t m_height = 0;
};

} // namespace rm
