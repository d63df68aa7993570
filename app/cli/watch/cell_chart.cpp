// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/watch/cell_chart.h"

#include "app/cli/terminal.h"

#include <algorithm>
#include <cmath>

namespace rm::cli {

namespace {

constexpr int kAxisCells = 9; ///< to the left of the plot, for values
constexpr char32_t kBrailleBlank = 0x2800;

/// Dots to a cell.
struct DotSize {
    int across = 1, down = 1;
};

DotSize dotSize(Glyphs glyphs) {
    return glyphs == Glyphs::kUtf8 ? DotSize{2, 4} : DotSize{1, 1};
}

/// Where the lines are drawn, in cells.
Area plotOf(const Area& area) {
    return {area.x + kAxisCells, area.y + 1, std::max(0, area.width - kAxisCells),
            std::max(0, area.height - 2)};
}

/// A place on the axis that is not finite is at its end.
struct ValueScale {
    double low = 0, high = 1;
    bool isLog = false;

    double of(double value) const { return isLog ? std::log10(value) : value; }
    double valueAt(double place) const {
        const double scaled = low + (high - low) * place;
        return isLog ? std::pow(10, scaled) : scaled;
    }
    /// 0 at the top to `rows` - 1 at the bottom.
    int row(double value, int rows) const {
        const double place = (of(value) - low) / (high - low);
        const double clamped = std::isfinite(place) ? std::clamp(place, 0.0, 1.0) : 1;
        return static_cast<int>(std::lround((1 - clamped) * (rows - 1)));
    }
};

using Columns = std::vector<std::vector<ChartColumn>>; // of each line

ValueScale scaleOf(const CellChart& chart, const Columns& lines) {
    double low = INFINITY, high = -INFINITY;
    for (size_t line = 0; line < lines.size(); ++line)
        for (const ChartColumn& column : lines[line]) {
            if (column.count == 0)
                continue;
            const bool hasBand = chart.lines[line].hasBand;
            low = std::min<double>(low, hasBand ? column.min : column.mean);
            high = std::max<double>(high, hasBand ? column.max : column.mean);
        }
    if (!(low <= high))
        return {};
    ValueScale scale{low, high, chart.isLog && low > 0};
    if (chart.fromZero && !scale.isLog)
        scale.low = std::min(0.0, low);
    scale.low = scale.of(scale.low);
    scale.high = scale.of(scale.high);
    if (scale.high - scale.low < 1e-12 * std::max(1.0, std::abs(scale.high))) {
        const double room = std::max(std::abs(scale.high) * 0.1, 1e-9);
        scale.low -= chart.fromZero && scale.low == 0 ? 0 : room;
        scale.high += room;
    }
    return scale;
}

/// Dots of the plot. A cell has one ink, so that of a line hides a band's dots there: a band that
/// reaches further is seen above and below.
class DotField {
public:
    DotField(const Area& plot, Glyphs glyphs)
        : m_plot(plot)
        , m_size(dotSize(glyphs))
        , m_glyphs(glyphs)
        , m_cells(static_cast<size_t>(plot.width) * static_cast<size_t>(plot.height)) {}

    int width() const { return m_plot.width * m_size.across; }
    int height() const { return m_plot.height * m_size.down; }

    void band(int x, int top, int bottom) {
        for (int y = top; y <= bottom; ++y)
            if (DotCell* cell = at(x, y))
                cell->band |= bitOf(x, y);
    }
    void line(int x, int y, Ink ink) {
        if (DotCell* cell = at(x, y)) {
            cell->line = (cell->ink == ink ? cell->line : 0) | bitOf(x, y);
            cell->ink = ink;
        }
    }
    void draw(Canvas& canvas) const {
        for (int y = 0; y < m_plot.height; ++y)
            for (int x = 0; x < m_plot.width; ++x) {
                const DotCell& cell = m_cells[static_cast<size_t>(y * m_plot.width + x)];
                if (cell.line != 0)
                    canvas.put(m_plot.x + x, m_plot.y + y, glyphOf(cell.line, true), cell.ink);
                else if (cell.band != 0)
                    canvas.put(m_plot.x + x, m_plot.y + y, glyphOf(cell.band, false), Ink::kBand);
            }
    }

private:
    struct DotCell {
        uint8_t band = 0, line = 0;
        Ink ink = Ink::kPlain;
    };

    DotCell* at(int x, int y) {
        if (x < 0 || y < 0 || x >= width() || y >= height())
            return nullptr;
        return &m_cells[static_cast<size_t>(y / m_size.down * m_plot.width + x / m_size.across)];
    }
    /// As Unicode numbers the dots of braille.
    uint8_t bitOf(int x, int y) const {
        static constexpr uint8_t kBits[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
        return m_glyphs == Glyphs::kUtf8 ? kBits[x % 2][y % 4] : 1;
    }
    char32_t glyphOf(uint8_t bits, bool isLine) const {
        if (m_glyphs == Glyphs::kUtf8)
            return kBrailleBlank + bits;
        return isLine ? U'*' : U':';
    }

    Area m_plot;
    DotSize m_size;
    Glyphs m_glyphs;
    std::vector<DotCell> m_cells;
};

void drawBand(DotField& field, const std::vector<ChartColumn>& columns, const ValueScale& scale) {
    for (size_t at = 0; at < columns.size(); ++at)
        if (columns[at].count > 0)
            field.band(static_cast<int>(at), scale.row(columns[at].max, field.height()),
                       scale.row(columns[at].min, field.height()));
}

/// From one column that has values to the next one that has, unless there is a gap between.
void drawLine(DotField& field, const std::vector<ChartColumn>& columns, const ValueScale& scale,
              Ink ink) {
    int fromX = -1, fromY = 0;
    for (int x = 0; x < static_cast<int>(columns.size()); ++x) {
        const ChartColumn& column = columns[static_cast<size_t>(x)];
        if (column.isBroken)
            fromX = -1;
        if (column.count == 0)
            continue;
        const int y = scale.row(column.mean, field.height());
        if (fromX < 0)
            field.line(x, y, ink);
        const int steps = std::max(x - fromX, std::abs(y - fromY));
        for (int step = 0; fromX >= 0 && step <= steps; ++step)
            field.line(fromX + (x - fromX) * step / std::max(1, steps),
                       fromY + (y - fromY) * step / std::max(1, steps), ink);
        fromX = x;
        fromY = y;
    }
}

/// Columns with values that no axis reaches.
void drawInfinite(Canvas& canvas, const Area& plot, const std::vector<ChartColumn>& columns) {
    const char32_t mark = canvas.glyphs() == Glyphs::kUtf8 ? U'▲' : U'^';
    const int across = dotSize(canvas.glyphs()).across;
    for (size_t at = 0; at < columns.size(); ++at)
        if (columns[at].isInfinite || columns[at].isBroken)
            canvas.put(plot.x + static_cast<int>(at) / across, plot.y, mark, Ink::kBad);
}

void drawTitle(Canvas& canvas, const Area& area, const CellChart& chart, bool isChosen) {
    const int end = area.right() - 1;
    int x = canvas.text(area.x, area.y, chart.title, Ink::kTitle, area.width);
    if (isChosen)
        canvas.reverse({area.x, area.y, x - area.x, 1});
    for (size_t at = 0; at < chart.lines.size(); ++at) {
        const ChartLine& line = chart.lines[at];
        if (!line.last) // there is nothing of it yet
            continue;
        const std::string words =
            line.name + (line.name.empty() ? "" : " ") + formatNumber(*line.last);
        if (x + 2 + cellsOf(words) > end)
            continue;
        x = canvas.text(x + 2, area.y, words, lineInk(at));
    }
}

void drawAxes(Canvas& canvas, const Area& area, const CellChart& chart, const ValueScale& scale,
              bool hasValues) {
    const Area plot = plotOf(area);
    const char32_t edge = canvas.glyphs() == Glyphs::kUtf8 ? U'│' : U'|';
    for (int y = plot.y; y < plot.bottom(); ++y)
        canvas.put(plot.x - 1, y, edge, Ink::kDim);
    const auto label = [&](int y, double place) {
        const std::string value = formatNumber(scale.valueAt(place));
        const int room = kAxisCells - 1;
        canvas.text(area.x + std::max(0, room - cellsOf(value)), y, value, Ink::kDim, room);
    };
    if (hasValues) {
        label(plot.y, 1);
        label(plot.bottom() - 1, 0);
        if (plot.height > 6)
            label(plot.y + plot.height / 2, 0.5);
    }
    const std::string first = std::to_string(chart.firstStep);
    const std::string last = std::to_string(chart.lastStep);
    const int y = area.bottom() - 1;
    canvas.text(plot.x, y, first, Ink::kDim, plot.width);
    if (cellsOf(first) + cellsOf(last) + 2 <= plot.width && chart.lastStep > chart.firstStep)
        canvas.text(plot.right() - cellsOf(last), y, last, Ink::kDim);
}

void addTo(ChartColumn& column, const Bucket& bucket) {
    if (bucket.count == 0) {
        column.isBroken = column.count == 0;
        return;
    }
    column.isInfinite |= !std::isfinite(bucket.min) || !std::isfinite(bucket.max);
    if (!std::isfinite(bucket.mean)) {
        column.isBroken = column.count == 0;
        return;
    }
    const auto before = static_cast<float>(column.count), more = static_cast<float>(bucket.count);
    column.min = column.count == 0 ? bucket.min : std::min(column.min, bucket.min);
    column.max = column.count == 0 ? bucket.max : std::max(column.max, bucket.max);
    column.mean = (column.mean * before + bucket.mean * more) / (before + more);
    column.count += bucket.count;
    column.isBroken = false;
}

} // namespace

std::vector<ChartColumn> columnsOf(const std::vector<std::vector<Bucket>>& ranks, int64_t firstStep,
                                   int64_t lastStep, int columns) {
    std::vector<ChartColumn> all(static_cast<size_t>(std::max(0, columns)));
    if (all.empty() || lastStep < firstStep)
        return all;
    const auto steps = static_cast<double>(lastStep - firstStep + 1);
    const auto columnOf = [&](int64_t step) {
        const double place = static_cast<double>(step - firstStep) / steps;
        return std::clamp(static_cast<int>(place * columns), 0, columns - 1);
    };
    for (const std::vector<Bucket>& buckets : ranks)
        for (const Bucket& bucket : buckets) {
            if (bucket.lastStep < firstStep || bucket.firstStep > lastStep)
                continue;
            for (int at = columnOf(bucket.firstStep); at <= columnOf(bucket.lastStep); ++at)
                addTo(all[static_cast<size_t>(at)], bucket);
        }
    return all;
}

std::vector<ChartColumn> smoothed(std::vector<ChartColumn> columns, double weight) {
    if (weight <= 0)
        return columns;
    double sum = 0, weights = 0;
    for (ChartColumn& column : columns) {
        sum *= weight;
        weights *= weight;
        if (column.count == 0)
            continue;
        sum += column.mean;
        weights += 1;
        column.mean = static_cast<float>(sum / weights);
    }
    return columns;
}

int columnsIn(const Area& area, Glyphs glyphs) {
    return plotOf(area).width * dotSize(glyphs).across;
}

void drawChart(Canvas& canvas, const Area& area, const CellChart& chart, bool isChosen) {
    const Area plot = plotOf(area);
    if (plot.width < 1 || plot.height < 1)
        return;
    Columns raw, lines;
    bool hasValues = false;
    for (const ChartLine& line : chart.lines) {
        raw.push_back(columnsOf(line.ranks, chart.firstStep, chart.lastStep,
                                columnsIn(area, canvas.glyphs())));
        lines.push_back(smoothed(raw.back(), line.weight));
        hasValues |= std::ranges::any_of(raw.back(), [](const auto& one) { return one.count > 0; });
    }
    const ValueScale scale = scaleOf(chart, lines);
    drawTitle(canvas, area, chart, isChosen);
    drawAxes(canvas, area, chart, scale, hasValues);
    if (!hasValues)
        canvas.text(plot.x + 1, plot.y + plot.height / 2, "no values yet", Ink::kDim,
                    plot.width - 1);
    DotField field(plot, canvas.glyphs());
    for (size_t at = 0; at < lines.size(); ++at)
        if (chart.lines[at].hasBand)
            drawBand(field, raw[at], scale);
    for (size_t at = lines.size(); at-- > 0;) // the first line on top
        drawLine(field, lines[at], scale, lineInk(at));
    field.draw(canvas);
    for (const std::vector<ChartColumn>& columns : raw)
        drawInfinite(canvas, plot, columns);
}

} // namespace rm::cli
