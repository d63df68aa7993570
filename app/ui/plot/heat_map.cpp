// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/heat_map.h"

#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/plot_style.h"
#include "app/ui/plot/table_twin.h"
#include "app/ui/widgets/label.h"

#include <QContextMenuEvent>
#include <QHBoxLayout>
#include <QMenu>
#include <QToolTip>
#include <QVBoxLayout>
#include <qcustomplot.h>

namespace rm {

namespace {

constexpr int kRight = 52;
constexpr double kBehind = 0.75; ///< a rank under this share of the median is named in red
constexpr int kMostLabels = 24;
constexpr int kLatestBins = 12; ///< averaged for the figure beside a rank
constexpr int kGapLine = 5;
constexpr int kGapMargin = 16;
constexpr double kLeastSeconds = 1; ///< of what is worth a word

/// Agents sample each second, and what they send may be that late.
constexpr int64_t kLateNs = 5'000'000'000;

/// The mean of the last bins that have a value; NaN: there is none at the end, as where a node has
/// not been heard of.
double latest(const HeatData& data, const std::vector<double>& cells) {
    const int64_t binNs = std::max<int64_t>(
        1, lengthOf(data.trained) / std::max<int64_t>(1, static_cast<int64_t>(cells.size())));
    const auto late = static_cast<size_t>(kLateNs / binNs);
    double sum = 0;
    int count = 0;
    for (size_t back = 0; back < cells.size() && count < kLatestBins; ++back) {
        const double cell = cells[cells.size() - 1 - back];
        if (count == 0 && back > late + static_cast<size_t>(kLatestBins))
            break;
        if (std::isfinite(cell)) {
            sum += cell;
            ++count;
        }
    }
    return count > 0 ? sum / count : std::nan("");
}

double medianLatest(const HeatData& data) {
    std::vector<double> known;
    for (const auto& row : data.cells)
        if (const double value = latest(data, row); std::isfinite(value))
            known.push_back(value);
    if (known.empty())
        return 0;
    std::ranges::nth_element(known, known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2));
    return known[known.size() / 2];
}

double seconds(int64_t ns) {
    return static_cast<double>(ns) / 1e9;
}

double secondsOf(const TimeSpan& span) {
    return seconds(span.lastNs - span.firstNs);
}

/// "1 s idle, 16 s set aside": a gap is as long as both, but in one of them something was trained.
QString partsText(double idle, double abandoned) {
    QStringList parts;
    if (idle >= kLeastSeconds)
        parts << HeatMap::tr("%1 idle").arg(formatDuration(idle));
    if (abandoned >= kLeastSeconds)
        parts << HeatMap::tr("%1 set aside").arg(formatDuration(abandoned));
    return parts.join(", ");
}

QString gapText(const TimeSpan& gap, double abandoned) {
    const QString from = formatClock(gap.firstNs), to = formatClock(gap.lastNs);
    const double length = secondsOf(gap);
    if (abandoned < kLeastSeconds)
        return HeatMap::tr("no training for %1, %2 to %3").arg(formatDuration(length), from, to);
    return HeatMap::tr("no training that counts for %1, %2 to %3: %4")
        .arg(formatDuration(length), from, to, partsText(length - abandoned, abandoned));
}

} // namespace

HeatMap::HeatMap(const char* objectName, QWidget* parent)
    : QFrame(parent) {
    setObjectName(objectName);
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
    m_empty = makeText({}, "bodySecondary");
    m_empty->setAlignment(Qt::AlignCenter);
    column->addWidget(m_empty, 1);
    m_plot = addPlot(*this);
    m_plot->setAccessibleName(tr("Utilization, rank by time"));
    m_plot->hide();
    connect(m_plot, &QCustomPlot::mouseMove, this,
            [this](QMouseEvent* event) { showToolTip(event->position()); });
}

void HeatMap::applyTheme() {
    stylePlot(*m_plot);
    m_plot->yAxis->setTickLabelFont(Theme::instance().font(FontRole::kMono));
    m_plot->yAxis->grid()->setVisible(false);
    m_plot->yAxis->setRangeReversed(true);
    m_plot->xAxis->setTicker(xTicker(XAxis::kRelative));
    rebuild();
}

void HeatMap::show(const HeatData& heat) {
    m_data = heat;
    m_isRead = true;
    const bool known = !heat.metric.isEmpty();
    m_plot->setVisible(known);
    m_empty->setVisible(!known);
    m_title->setText(titleText());
    m_median = medianLatest(heat);
    m_scale->setFullText(known ? figureNote() : QString());
    m_empty->setText(emptyText());
    fitHeight();
    rebuild();
    describe();
}

void HeatMap::setUnread() {
    show({});
    m_isRead = false;
    m_empty->setText(emptyText());
}

QString HeatMap::emptyText() const {
    if (!m_isRead)
        return {};
    return m_ownTitle.isEmpty()
               ? tr("No samples of GPU or CPU use yet; the agent sends one each second.")
               : tr("No samples of it yet.");
}

void HeatMap::setLeastHeight(int height) {
    m_leastHeight = height;
    fitHeight();
}

void HeatMap::fitHeight() {
    const int ranks = 56 + 16 * static_cast<int>(m_data.cells.size());
    setMinimumHeight(std::max({size::kChartMin, m_leastHeight, ranks}));
}

void HeatMap::setTitle(const QString& title) {
    m_ownTitle = title;
    m_plot->setAccessibleName(title.isEmpty() ? tr("Utilization, rank by time") : title);
    m_title->setText(titleText());
    m_title->setToolTip(asPlain(title)); // which may be cut
    setAccessibleName(m_title->text());
}

void HeatMap::contextMenuEvent(QContextMenuEvent* event) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Show as table"), this,
                    [this] { showTableTwin(m_title->text(), m_data, this); })
        ->setObjectName("showHeatTable");
    Q_EMIT menuRequested(menu);
    menu->popup(event->globalPos());
}

QString HeatMap::titleText() const {
    if (!m_ownTitle.isEmpty())
        return shortTitle(m_ownTitle);
    if (!m_data.label.isEmpty())
        return tr("%1 by rank").arg(m_data.label);
    const bool isOfCpus = !m_data.metric.isEmpty() && m_data.format != MetricFormat::kPercent;
    return isOfCpus ? tr("CPU cores busy by rank") : tr("GPU utilization by rank");
}

void HeatMap::rebuild() {
    m_plot->clearPlottables();
    m_plot->clearItems();
    if (m_data.cells.empty())
        return;
    fillCells();
    labelRows();
    separateRanks();
    markGaps();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void HeatMap::fillCells() {
    const int ranks = static_cast<int>(m_data.cells.size());
    const int bins = static_cast<int>(m_data.cells.front().size());
    const double first = seconds(m_data.beforeNs);
    const double last = first + std::max(1e-3, seconds(lengthOf(m_data.trained)));
    m_map = new QCPColorMap(m_plot->xAxis, m_plot->yAxis);
    // A map of a single row has no height: one rank fills two rows of half a height each.
    const int rows = std::max(2, ranks);
    m_map->data()->setSize(bins, rows);
    m_map->data()->setRange({first, last},
                            ranks == 1 ? QCPRange(-0.25, 0.25) : QCPRange(0, ranks - 1.0));
    for (int row = 0; row < rows; ++row)
        for (int bin = 0; bin < bins; ++bin) {
            const auto rank = static_cast<size_t>(std::min(row, ranks - 1));
            m_map->data()->setCell(bin, row, m_data.cells[rank][static_cast<size_t>(bin)]);
        }
    QCPColorGradient gradient;
    gradient.clearColorStops();
    gradient.setColorStopAt(0, colours().accentBack);
    gradient.setColorStopAt(1, colours().accent);
    gradient.setNanHandling(QCPColorGradient::nhNanColor);
    gradient.setNanColor(colours().grid);
    m_map->setGradient(gradient);
    m_map->setDataRange({m_data.bottom, m_data.top});
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
    m_plot->axisRect()->setMargins(
        {widest + 6 * size::kGrid, gaps().empty() ? 2 * size::kGrid : kGapMargin, kRight, 20});
    auto ticker = QSharedPointer<QCPAxisTickerText>::create();
    const size_t every = 1 + (m_data.labels.size() - 1) / kMostLabels;
    for (size_t rank = 0; rank < m_data.labels.size(); rank += every) {
        ticker->addTick(static_cast<double>(rank), m_data.labels[rank]);
        const double value = latest(m_data, m_data.cells[rank]);
        auto* text = new QCPItemText(m_plot);
        text->position->setTypeX(QCPItemPosition::ptAxisRectRatio);
        text->position->setTypeY(QCPItemPosition::ptPlotCoords);
        text->position->setAxes(m_plot->xAxis, m_plot->yAxis);
        text->position->setAxisRect(m_plot->axisRect());
        text->position->setCoords(1, static_cast<double>(rank));
        text->setPositionAlignment(Qt::AlignLeft | Qt::AlignVCenter);
        text->setPadding({2 * size::kGrid, 0, 0, 0});
        text->setClipToAxisRect(false);
        text->setText(metricText(value, m_data.format));
        text->setFont(Theme::instance().font(FontRole::kSecondary));
        text->setColor(isBehind(value) ? colours().bad : colours().text);
    }
    m_plot->yAxis->setTicker(ticker);
}

void HeatMap::separateRanks() {
    for (size_t rank = 1; rank < m_data.cells.size(); ++rank) {
        auto* line = new QCPItemStraightLine(m_plot);
        const double y = static_cast<double>(rank) - 0.5;
        line->point1->setCoords(m_plot->xAxis->range().lower, y);
        line->point2->setCoords(m_plot->xAxis->range().upper, y);
        line->setPen(QPen(colours().card, 2));
    }
}

/// The gaps between the spans, and after the last one if the run stands still.
std::vector<HeatMap::Gap> HeatMap::gaps() const {
    std::vector<Gap> gaps;
    double x = seconds(m_data.beforeNs);
    for (size_t i = 0; i < m_data.trained.size(); ++i) {
        const TimeSpan& span = m_data.trained[i];
        const bool isLast = i + 1 == m_data.trained.size();
        x += secondsOf(span);
        const TimeSpan gap{span.lastNs, isLast ? m_data.endNs : m_data.trained[i + 1].firstNs};
        if (secondsOf(gap) >= kLeastSeconds)
            gaps.push_back({x, gap, seconds(lengthOf(within(m_data.abandoned, gap)))});
    }
    return gaps;
}

void HeatMap::markGaps() {
    const double ranks = static_cast<double>(m_data.cells.size());
    double free = -qInf(); // pixels right of the last words
    for (const Gap& gap : gaps()) {
        for (const auto& [colour, width] :
             {std::pair(colours().card, kGapLine), std::pair(colours().secondary, 1)}) {
            auto* line = new QCPItemLine(m_plot);
            line->start->setCoords(gap.x, -0.5);
            line->end->setCoords(gap.x, ranks - 0.5);
            line->setClipToAxisRect(false);
            line->setPen(
                QPen(colour, width, width == 1 ? Qt::DashLine : Qt::SolidLine, Qt::FlatCap));
        }
        auto* text = new QCPItemText(m_plot);
        text->setFont(Theme::instance().font(FontRole::kCaption));
        text->setColor(colours().secondary);
        text->setText(partsText(secondsOf(gap.clock) - gap.abandoned, gap.abandoned));
        text->setClipToAxisRect(false);
        text->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
        text->position->setCoords(gap.x, -0.5);
        const double length = QFontMetricsF(text->font()).horizontalAdvance(text->text());
        const double line = m_plot->xAxis->coordToPixel(gap.x);
        double left = line - length / 2;
        if (left + length > m_plot->width()) { // else its end would be cut off
            text->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
            left = line - length;
        }
        if (left < free)
            m_plot->removeItem(text);
        else
            free = left + length + size::kGrid;
    }
}

/// A low value is bad only of how busy a rank is.
bool HeatMap::isBehind(double latest) const {
    return m_data.label.isEmpty() && latest < kBehind * m_median;
}

/// Says what the colours mean, and explains the red figures where there are any.
QString HeatMap::figureNote() const {
    const bool anyBehind = std::ranges::any_of(
        m_data.cells, [this](const auto& cells) { return isBehind(latest(m_data, cells)); });
    const QString bottom =
        m_data.bottom == 0 ? QString("0") : metricText(m_data.bottom, m_data.format);
    const QString scale = tr("%1 of training, %2 – %3")
                              .arg(formatDuration(seconds(lengthOf(m_data.trained))), bottom,
                                   metricText(m_data.top, m_data.format));
    return anyBehind ? tr("red: under %1 of the median rank (%2)   %3")
                           .arg(formatPercent(kBehind), metricText(m_median, m_data.format), scale)
                     : scale;
}

QString HeatMap::figureText(size_t rank) const {
    const double value = latest(m_data, m_data.cells[rank]);
    const double span = seconds(lengthOf(m_data.trained)) /
                        static_cast<double>(m_data.cells[rank].size()) * kLatestBins;
    const QString mean =
        tr("rank %1: mean %2 over the last %3 of training")
            .arg(m_data.labels[rank].simplified(), metricText(value, m_data.format),
                 formatDuration(std::max(1.0, span)));
    return isBehind(value)
               ? mean + '\n' +
                     tr("red: under %1 of the median rank, which has %2")
                         .arg(formatPercent(kBehind), metricText(m_median, m_data.format))
               : mean;
}

QString HeatMap::cellText(size_t rank, double x) const {
    const std::vector<double>& cells = m_data.cells[rank];
    const double length = std::max(1e-3, seconds(lengthOf(m_data.trained)));
    const double share = (x - seconds(m_data.beforeNs)) / length;
    const auto last = static_cast<double>(cells.size() - 1);
    const double value =
        cells[static_cast<size_t>(std::clamp(std::round(share * last), 0.0, last))];
    const int64_t clock = clockAt(m_data.trained, static_cast<int64_t>(share * length * 1e9));
    return tr("rank %1: %2 at %3")
        .arg(m_data.labels[rank].simplified(), metricText(value, m_data.format),
             formatExact(clock));
}

QStringList HeatMap::gapTexts() const {
    QStringList texts;
    for (const Gap& gap : gaps())
        texts << gapText(gap.clock, gap.abandoned);
    return texts;
}

/// Says what is under the pointer.
void HeatMap::showToolTip(const QPointF& position) const {
    const QRect area = m_plot->axisRect()->rect();
    const double row = std::round(m_plot->yAxis->pixelToCoord(position.y()));
    const double x = m_plot->xAxis->pixelToCoord(position.x());
    QString text;
    for (const Gap& gap : gaps())
        if (std::abs(m_plot->xAxis->coordToPixel(gap.x) - position.x()) <= kNearPixels)
            text = gapText(gap.clock, gap.abandoned);
    const bool isRank = row >= 0 && row < static_cast<double>(m_data.cells.size());
    if (text.isEmpty() && isRank && position.x() > area.right())
        text = figureText(static_cast<size_t>(row));
    else if (text.isEmpty() && isRank && position.x() >= area.left())
        text = cellText(static_cast<size_t>(row), x);
    QToolTip::showText(m_plot->mapToGlobal(position.toPoint()), asPlain(text), m_plot);
}

void HeatMap::describe() {
    QStringList rows;
    for (size_t rank = 0; rank < m_data.labels.size(); ++rank)
        rows << figureText(rank).replace('\n', ", ");
    rows << gapTexts();
    m_plot->setAccessibleDescription(rows.isEmpty() ? tr("no samples yet") : rows.join("; "));
    setAccessibleName(m_title->text());
}

} // namespace rm
