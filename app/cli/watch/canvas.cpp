// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/watch/canvas.h"

#include "app/cli/terminal.h"
#include "shared/enforce.h"

#include <QString>

#include <algorithm>
#include <cwchar>

namespace rm::cli {

namespace {

std::u32string charactersOf(const std::string& utf8) {
    return QString::fromStdString(oneLine(utf8)).toStdU32String();
}

/// 0 for marks that combine with the character before, which a cell has no room for.
int cellsOfOne(char32_t character) {
    if (character < 0x7f)
        return 1;
    return ::wcwidth(static_cast<wchar_t>(character));
}

} // namespace

Ink lineInk(size_t line) {
    return static_cast<Ink>(static_cast<size_t>(Ink::kLine0) + line % kLineInks);
}

Canvas::Canvas(int width, int height, Glyphs glyphs)
    : m_width(std::max(0, width))
    , m_height(std::max(0, height))
    , m_glyphs(glyphs)
    , m_cells(static_cast<size_t>(m_width) * static_cast<size_t>(m_height)) {}

const Cell& Canvas::at(int x, int y) const {
    RM_ENFORCE(x >= 0 && y >= 0 && x < m_width && y < m_height);
    return m_cells[static_cast<size_t>(y) * static_cast<size_t>(m_width) + static_cast<size_t>(x)];
}

void Canvas::put(int x, int y, char32_t glyph, Ink ink) {
    if (x < 0 || y < 0 || x >= m_width || y >= m_height)
        return;
    m_cells[static_cast<size_t>(y) * static_cast<size_t>(m_width) + static_cast<size_t>(x)] = {
        glyph, ink, false};
}

int Canvas::text(int x, int y, const std::string& utf8, Ink ink, int width) {
    const int end = width < 0 ? m_width : std::min(m_width, x + width);
    for (char32_t character : charactersOf(utf8)) {
        if (m_glyphs == Glyphs::kAscii && character > 0x7e)
            character = U'?';
        const int cells = cellsOfOne(character);
        if (cells == 0)
            continue;
        if (x + std::max(1, cells) > end)
            break;
        put(x, y, cells < 0 ? U'?' : character, ink);
        if (cells == 2)
            put(x + 1, y, 0, ink);
        x += std::max(1, cells);
    }
    return x;
}

void Canvas::reverse(const Area& area) {
    for (int y = std::max(0, area.y); y < std::min(m_height, area.bottom()); ++y)
        for (int x = std::max(0, area.x); x < std::min(m_width, area.right()); ++x)
            m_cells[static_cast<size_t>(y) * static_cast<size_t>(m_width) + static_cast<size_t>(x)]
                .isReverse = true;
}

std::string Canvas::row(int y) const {
    std::u32string characters;
    for (int x = 0; x < m_width; ++x)
        if (const char32_t glyph = at(x, y).glyph)
            characters += glyph;
    characters.erase(characters.find_last_not_of(U' ') + 1);
    return QString::fromStdU32String(characters).toStdString();
}

std::string Canvas::rows() const {
    std::string all;
    for (int y = 0; y < m_height; ++y)
        all += row(y) + '\n';
    return all;
}

int cellsOf(const std::string& utf8) {
    int cells = 0;
    for (const char32_t character : charactersOf(utf8)) {
        const int its = cellsOfOne(character);
        cells += its < 0 ? 1 : its;
    }
    return cells;
}

} // namespace rm::cli
