// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/watch/canvas.h"
#include "app/core/store/series.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rm::cli {

/// What one column of a chart covers of a line: all its points, of all ranks that it stands for.
struct ChartColumn {
    float min = 0, max = 0, mean = 0;
    int64_t count = 0;     ///< finite points; 0: the values above say nothing
    bool isBroken = false; ///< it has points, and none of them is a number: the line breaks
    bool isInfinite = false;
    bool operator==(const ChartColumn&) const = default;
};

/// The buckets of each rank on `columns` columns from `firstStep` to `lastStep`. A bucket counts in
/// every column that it reaches into, so that no extreme is lost.
std::vector<ChartColumn> columnsOf(const std::vector<std::vector<Bucket>>& ranks, int64_t firstStep,
                                   int64_t lastStep, int columns);

/// The means as a debiased exponential moving average, whose weight falls by `weight` from column
/// to column; `min` and `max` stay, so that the band shows what the average hides. 0: as it is.
std::vector<ChartColumn> smoothed(std::vector<ChartColumn> columns, double weight);

struct ChartLine {
    std::string name;
    std::vector<std::vector<Bucket>> ranks; ///< of each rank that it stands for
    double weight = 0;                      ///< of the smoothing
    bool hasBand = true;
    std::optional<double> last = {}; ///< its newest value, for the title
};

struct CellChart {
    std::string title;
    std::vector<ChartLine> lines;
    int64_t firstStep = 0, lastStep = 0;
    bool fromZero = false;
    bool isLog = false; ///< as far as all values are above 0
};

/// How many columns a chart of that width has.
int columnsIn(const Area& area, Glyphs glyphs);

/// Draws title, axes, bands and lines: in UTF-8 with braille dots, two to a cell across and four
/// down, else with one character for each cell. `isChosen`: its title is in reverse.
void drawChart(Canvas& canvas, const Area& area, const CellChart& chart, bool isChosen = false);

} // namespace rm::cli
