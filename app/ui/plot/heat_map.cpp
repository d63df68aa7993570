// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/heat_map.h"

#include "app/ui/format.h"
#include "app/ui/plot/plot_style.h"
#include "app/ui/theme.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QVBoxLayout>
#include <qcustomplot.h>

namespace rm {

namespace {

constexpr int kRight = 52;
constexpr double kBehind = 0.75; ///< a rank under this share of the median is named in red
constexpr int kMostLabels = 24;

bool isRatio(const HeatData& data) {
    return data.metric == "gpu/utilization";
}

double lastKnown(const std::vector<double>& cells) {
    const auto known =
        std::find_if(cells.rbegin(), cells.rend(), [](double cell) { return std::isfinite(cell); });
    return known == cells.rend() ? std::nan("") : *known;
}

double medianLast(const HeatData& data) {
    std::vector<double> last;
    for (const auto& row : data.cells)
        if (const double value = lastKnown(row); std::isfinite(value))
            last.push_back(value);
    if (last.empty())
        return 0;
    std::ranges::nth_element(last, last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2));
    return last[last.size() / 2];
}

QString valueText(const HeatData& data, double value) {
    return isRatio(data) ? formatPercent(value) : formatFigure(value);
}

} // namespace

HeatMap::HeatMap(QWidget* parent)
    : QFrame(parent) {
    setObjectName("heatMap");
    buildUi();
    connect(&Theme::instance(), &Theme::changed, this, &HeatMap::applyTheme);
    applyTheme();
}

void HeatMap::buildUi() {
    setProperty("role", "card");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(1, 9, 1, 1);
    column->setSpacing(2);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(12, 0, 12, 0);
    m_title = makeLabel(tr("GPU utilization by rank"), "chartTitle");
    m_scale = new ElidedLabel({}, "secondary");
    m_scale->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    head->addWidget(m_title);
    head->addWidget(m_scale, 1);
    column->addLayout(head);
    m_empty = makeText(tr("No samples of GPU or CPU use yet; the agent sends one each second."),
                       "bodySecondary");
    m_empty->setAlignment(Qt::AlignCenter);
    column->addWidget(m_empty, 1);
    m_plot = new QCustomPlot;
    m_plot->setObjectName("plot");
    m_plot->setFocusPolicy(Qt::StrongFocus);
    column->addWidget(m_plot, 1);
    m_plot->setAccessibleName(tr("Utilization, rank by time"));
    m_plot->hide();
}

void HeatMap::applyTheme() {
    stylePlot(*m_plot);
    m_plot->yAxis->setTickLabelFont(Theme::instance().font(FontRole::kMono));
    m_plot->yAxis->grid()->setVisible(false);
    m_plot->yAxis->setRangeReversed(true);
    m_plot->xAxis->setTicker(xTicker(XAxis::kWall));
    rebuild();
}

void HeatMap::show(const HeatData& heat) {
    m_data = heat;
    const bool known = !heat.metric.isEmpty();
    m_plot->setVisible(known);
    m_empty->setVisible(!known);
    m_title->setText(known && !isRatio(heat) ? tr("CPU cores busy by rank")
                                             : tr("GPU utilization by rank"));
    const double seconds = static_cast<double>(heat.lastNs - heat.firstNs) / 1e9;
    const QString top = isRatio(heat) ? formatPercent(1) : formatFigure(heat.top);
    m_scale->setFullText(known ? tr("%1   0 – %2").arg(formatDuration(seconds), top) : QString());
    setMinimumHeight(std::max(size::kChartMin, 56 + 16 * static_cast<int>(heat.cells.size())));
    rebuild();
    describe();
}

void HeatMap::rebuild() {
    m_plot->clearPlottables();
    m_plot->clearItems();
    if (m_data.cells.empty())
        return;
    fillCells();
    labelRows();
    addGaps();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void HeatMap::fillCells() {
    const int ranks = static_cast<int>(m_data.cells.size());
    const int bins = static_cast<int>(m_data.cells.front().size());
    const double first = static_cast<double>(m_data.firstNs) / 1e9;
    const double last = static_cast<double>(m_data.lastNs) / 1e9;
    m_map = new QCPColorMap(m_plot->xAxis, m_plot->yAxis);
    m_map->data()->setSize(bins, ranks);
    m_map->data()->setRange({first, last}, {0, std::max(1e-9, ranks - 1.0)});
    for (int rank = 0; rank < ranks; ++rank)
        for (int bin = 0; bin < bins; ++bin)
            m_map->data()->setCell(
                bin, rank, m_data.cells[static_cast<size_t>(rank)][static_cast<size_t>(bin)]);
    QCPColorGradient gradient;
    gradient.clearColorStops();
    gradient.setColorStopAt(0, colours().accentBack);
    gradient.setColorStopAt(1, colours().accent);
    gradient.setNanHandling(QCPColorGradient::nhNanColor);
    gradient.setNanColor(colours().grid);
    m_map->setGradient(gradient);
    m_map->setDataRange({0, m_data.top});
    m_map->setInterpolate(false);
    m_map->setTightBoundary(false);
    m_plot->xAxis->setRange(first, last);
    m_plot->yAxis->setRange(-0.5, ranks - 0.5);
}

void HeatMap::labelRows() {
    int widest = 0;
    const QFontMetrics metrics(Theme::instance().font(FontRole::kMono));
    for (const QString& label : m_data.labels)
        widest = std::max(widest, metrics.horizontalAdvance(label));
    m_plot->axisRect()->setMargins({widest + 6 * size::kGrid, 2 * size::kGrid, kRight, 20});
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const double median = medianLast(m_data);
    const size_t every = 1 + (m_data.labels.size() - 1) / kMostLabels;
    for (size_t rank = 0; rank < m_data.labels.size(); rank += every) {
        ticker->addTick(static_cast<double>(rank), m_data.labels[rank]);
        const double value = lastKnown(m_data.cells[rank]);
        auto* text = new QCPItemText(m_plot);
        text->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
        text->position->setTypeY(QCPItemPosition::ptPlotCoords);
        text->position->setAxes(m_plot->xAxis, m_plot->yAxis);
        text->position->setAxisRect(m_plot->axisRect());
        text->position->setCoords(1, static_cast<double>(rank));
        text->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        text->setPadding({2 * size::kGrid, 0, 0, 0});
        text->setClipToAxisRect(false);
        text->setText(valueText(m_data, value));
        text->setFont(Theme::instance().font(FontRole::kSecondary));
        text->setColor(value < kBehind * median ? colours().bad : colours().text);
    }
    m_plot->yAxis->setTicker(ticker);
}

void HeatMap::addGaps() {
    for (size_t rank = 1; rank < m_data.cells.size(); ++rank) {
        auto* line = new QCPItemStraightLine(m_plot);
        const double y = static_cast<double>(rank) - 0.5;
        line->point1->setCoords(m_plot->xAxis->range().lower, y);
        line->point2->setCoords(m_plot->xAxis->range().upper, y);
        line->setPen(QPen(colours().card, 2));
    }
}

void HeatMap::describe() {
    QStringList rows;
    for (size_t rank = 0; rank < m_data.labels.size(); ++rank)
        rows << m_data.labels[rank] + ' ' + valueText(m_data, lastKnown(m_data.cells[rank]));
    m_plot->setAccessibleDescription(rows.isEmpty() ? tr("no samples yet") : rows.join("; "));
    setAccessibleName(m_title->text());
}

} // namespace rm
