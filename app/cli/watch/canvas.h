// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rm::cli {

/// What a cell of the terminal is drawn for; Screen knows the colours and attributes.
enum class Ink : uint8_t {
    kPlain,
    kDim,
    kTitle,
    kGood,
    kWarn,
    kBad,
    kAccent,
    kLine0, ///< the lines of a chart, see lineInk()
    kLine1,
    kLine2,
    kLine3,
    kLine4,
    kBand, ///< from the least to the most of what a column covers
};
inline constexpr int kInks = 13;
inline constexpr int kLineInks = 5;

Ink lineInk(size_t line); ///< of the line at that place of a chart

/// Which characters the terminal can show.
enum class Glyphs : uint8_t { kUtf8, kAscii };

/// A part of the screen, in cells.
struct Area {
    int x = 0, y = 0, width = 0, height = 0;
    int right() const { return x + width; }
    int bottom() const { return y + height; }
    bool operator==(const Area&) const = default;
};

struct Cell {
    char32_t glyph = U' '; ///< 0: the right half of a wide character
    Ink ink = Ink::kPlain;
    bool isReverse = false;
    bool operator==(const Cell&) const = default;
};

/// What the terminal shows, as a value: drawn without a terminal, and shown by Screen.
class Canvas {
public:
    Canvas(int width, int height, Glyphs glyphs = Glyphs::kUtf8);

    int width() const { return m_width; }
    int height() const { return m_height; }
    Glyphs glyphs() const { return m_glyphs; }
    const Cell& at(int x, int y) const;

    /// What lies outside is left out.
    void put(int x, int y, char32_t glyph, Ink ink = Ink::kPlain);
    /// UTF-8 in one row, cut behind `width` cells (below 0: at the right edge), without control
    /// characters. What ASCII does not have becomes '?'. Returns where it ends.
    int text(int x, int y, const std::string& utf8, Ink ink = Ink::kPlain, int width = -1);
    /// Shows a part in reverse.
    void reverse(const Area& area);

    std::string row(int y) const; ///< UTF-8, without spaces at its end
    std::string rows() const;     ///< all of them, each with its line break

private:
    int m_width, m_height;
    Glyphs m_glyphs;
    std::vector<Cell> m_cells;
};

/// The cells that the text takes.
int cellsOf(const std::string& utf8);

} // namespace rm::cli
