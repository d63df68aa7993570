// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/watch/rank_map.h"

#include "app/cli/terminal.h"
#include "shared/board/board.h"

#include <algorithm>
#include <cmath>

namespace rm::cli {

namespace {

constexpr size_t kMostOfName = 16; ///< characters of a node's name
constexpr int kBetweenNodes = 3;   ///< cells

const char* titleOf(RankMapKind kind) {
    switch (kind) {
    case RankMapKind::kBusy:
        return "ranks by busy time, as a share of the step";
    case RankMapKind::kUtilization:
        return "ranks by utilization";
    case RankMapKind::kPhase:
        return "ranks by phase: d data, f forward, b backward, a all-reduce, o optimizer, "
               "v validation, c checkpoint, h held, s starting, r rendezvous, e ending";
    }
    return "";
}

double levelOf(const RankCell& rank, RankMapKind kind) {
    return kind == RankMapKind::kBusy ? rank.busy : rank.utilization;
}

char32_t shadeOf(double level, Glyphs glyphs) {
    const double share = std::clamp(level, 0.0, 1.0);
    if (glyphs == Glyphs::kAscii)
        return U'0' + static_cast<char32_t>(std::min(9, static_cast<int>(share * 10)));
    static constexpr char32_t kShades[] = U"▁▂▃▄▅▆▇█";
    return kShades[std::min(7, static_cast<int>(share * 8))];
}

Cell cellOf(const RankCell& rank, RankMapKind kind, Glyphs glyphs) {
    if (rank.isGone)
        return {U'?', Ink::kBad, false};
    const Ink ink = rank.isSlow ? Ink::kBad : Ink::kGood;
    if (kind == RankMapKind::kPhase)
        return {rank.phase == 0 ? U'-' : static_cast<char32_t>(rank.phase),
                rank.isSlow         ? Ink::kBad
                : rank.phase == 'a' ? Ink::kDim
                : rank.phase == 'h' ? Ink::kWarn
                                    : Ink::kGood,
                false};
    const double level = levelOf(rank, kind);
    if (level < 0 || std::isnan(level))
        return {U'-', Ink::kDim, false};
    return {shadeOf(level, glyphs), ink, false};
}

/// Where a group of ranks, or a part of it, lies; in rows behind the title.
struct Place {
    int x = 0, row = 0;
    bool isName = false; ///< of the node, of the rank's group
    size_t rank = 0;     ///< index
};

std::string nameOf(const RankCell& rank) {
    return cutBehind(rank.node, kMostOfName);
}

std::vector<Place> placesOf(const std::vector<RankCell>& ranks, int width) {
    std::vector<Place> places;
    int x = 0, row = 0;
    for (size_t first = 0; first < ranks.size();) {
        size_t end = first;
        while (end < ranks.size() && ranks[end].node == ranks[first].node)
            ++end;
        const int name = cellsOf(nameOf(ranks[first])) + 1;
        const int whole = name + static_cast<int>(end - first);
        if (x > 0 && x + kBetweenNodes + whole > width) {
            x = 0;
            ++row;
        } else if (x > 0) {
            x += kBetweenNodes;
        }
        places.push_back({x, row, true, first});
        const int begin = x + name;
        x = begin;
        for (; first < end; ++first) {
            if (x >= width && begin < width) {
                x = begin;
                ++row;
            }
            places.push_back({x++, row, false, first});
        }
    }
    return places;
}

} // namespace

char phaseLetter(uint8_t phase) {
    static constexpr char kLetters[] = "sdfbaovcher"; // in the order of Phase
    return phase < sizeof kLetters - 1 ? kLetters[phase] : '?';
}

int rowsOfRankMap(const std::vector<RankCell>& ranks, int width) {
    const auto places = placesOf(ranks, width);
    return 1 + (places.empty() ? 1 : places.back().row + 1);
}

void drawRankMap(Canvas& canvas, const Area& area, const std::vector<RankCell>& ranks,
                 RankMapKind kind) {
    canvas.text(area.x, area.y, titleOf(kind), Ink::kTitle, area.width);
    if (ranks.empty())
        canvas.text(area.x, area.y + 1, "no ranks yet", Ink::kDim, area.width);
    size_t left = 0;
    for (const Place& place : placesOf(ranks, area.width)) {
        const int y = area.y + 1 + place.row;
        if (y >= area.bottom()) {
            left += place.isName ? 0 : 1;
            continue;
        }
        const RankCell& rank = ranks[place.rank];
        if (place.isName) {
            canvas.text(area.x + place.x, y, nameOf(rank), Ink::kDim, area.width - place.x);
        } else {
            const Cell cell = cellOf(rank, kind, canvas.glyphs());
            canvas.put(area.x + place.x, y, cell.glyph, cell.ink);
        }
    }
    if (left == 0)
        return;
    const std::string more = " and " + std::to_string(left) + " more";
    canvas.text(area.right() - cellsOf(more), area.bottom() - 1, more, Ink::kDim);
}

} // namespace rm::cli
