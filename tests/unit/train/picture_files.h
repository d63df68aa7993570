// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rm::test {

using Colour = std::array<uint8_t, 3>;

/// Rows of R, G, B.
struct Picture {
    int width = 0;
    int height = 0;
    std::vector<uint8_t> rgb;
};

/// A soft pattern about `colour`; another for every `seed`.
Picture madeUp(int width, int height, uint32_t seed, Colour colour = {128, 128, 128});

struct JpegKind {
    int coarseness = 2;      ///< of colour, in both directions: 1 (4:4:4) or 2 (4:2:0)
    bool acrossOnly = false; ///< in one direction instead (4:2:2)
    bool progressive = false;
    bool grey = false;
    int quality = 95;
};
std::string jpegOf(const Picture& picture, JpegKind kind = {});
std::string pngOf(const Picture& picture, bool interlaced = false);

/// Writes `bytes`, and the folders it needs.
void writeBytes(const std::string& path, const std::string& bytes);

/// ROOT/NAME/N.jpg or .png for each class: `perClass` pictures, told apart by their colour.
void writeClasses(const std::string& root, const std::vector<std::string>& names, int perClass);

} // namespace rm::test
