// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/parallel_plot.h"

#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/parallel_lines.h"
#include "app/ui/plot/plot_style.h"
#include "app/ui/widgets/label.h"

#include <QKeyEvent>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {
constexpr int kSideRoom = 76, kTopRoom = 10, kBottomMost = 30; ///< margins, in pixels
constexpr double kEndStep = 0.05;                              ///< share that a key moves an end
constexpr double kClickPixels = 3;
} // namespace

ParallelPlot::ParallelPlot(QWidget* parent)
    : QFrame(parent) {
    setObjectName("parallelPlot");
    buildUi();
    connect(&Theme::instance(), &Theme::changed, this, &ParallelPlot::applyTheme);
    applyTheme();
}

void ParallelPlot::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    m_plot = addPlot(*this);
    m_plot->setMinimumHeight(2 * size::kChartMin);
    m_lines = new ParallelLines(m_plot);
    m_empty = addEmptyText(*m_plot);
    connect(m_plot, &QCustomPlot::mousePress, this, [this](QMouseEvent* event) {
        if (event->button() == Qt::LeftButton)
            onPress(event->position());
    });
    connect(m_plot, &QCustomPlot::mouseMove, this,
            [this](QMouseEvent* event) { onMove(event->position()); });
    connect(m_plot, &QCustomPlot::mouseRelease, this, [this](QMouseEvent* event) {
        if (event->button() == Qt::LeftButton)
            onRelease(event->position());
    });
    connect(m_plot, &QCustomPlot::afterLayout, this, &ParallelPlot::axesPlaced);
}

void ParallelPlot::applyTheme() {
    stylePlot(*m_plot);
    m_plot->axisRect()->setMargins({kSideRoom, kTopRoom, kSideRoom, kBottomMost});
    for (QCPAxis* axis : {m_plot->xAxis, m_plot->yAxis}) {
        axis->setTickLabels(false);
        axis->grid()->setVisible(false);
    }
    styleEmptyText(*m_empty);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ParallelPlot::setLastAxisColours(std::optional<std::pair<QColor, QColor>> lowAndHigh) {
    m_lines->lowAndHigh = std::move(lowAndHigh);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

void ParallelPlot::setEmptyText(const QString& why) {
    m_empty->setText(why);
}

void ParallelPlot::show(std::vector<PlottedRun> runs, std::vector<PlotScale> axes,
                        std::vector<QColor> colours) {
    std::vector<std::optional<Range>> ranges(axes.size());
    for (size_t axis = 0; axis < axes.size(); ++axis) {
        const auto before = std::ranges::find(m_lines->axes, axes[axis].title, &PlotScale::title);
        if (before != m_lines->axes.end())
            ranges[axis] = m_lines->ranges[static_cast<size_t>(before - m_lines->axes.begin())];
    }
    m_lines->runs = std::move(runs);
    m_lines->axes = std::move(axes);
    m_lines->colours = std::move(colours);
    m_lines->ranges = std::move(ranges);
    m_lines->pointed.reset();
    if (m_lines->chosen && *m_lines->chosen >= m_lines->axes.size())
        m_lines->chosen.reset();
    m_empty->setVisible(m_lines->runs.empty() || m_lines->axes.empty());
    changed();
}

const std::vector<PlotScale>& ParallelPlot::axes() const {
    return m_lines->axes;
}

std::optional<ParallelPlot::Range> ParallelPlot::range(size_t axis) const {
    return m_lines->ranges[axis];
}

void ParallelPlot::setRange(size_t axis, std::optional<Range> range) {
    m_lines->ranges[axis] = range;
    changed();
}

void ParallelPlot::clearRanges() {
    m_lines->ranges.assign(m_lines->axes.size(), std::nullopt);
    changed();
}

bool ParallelPlot::isKept(size_t run) const {
    return m_lines->isKept(run);
}

size_t ParallelPlot::kept() const {
    size_t count = 0;
    for (size_t run = 0; run < m_lines->runs.size(); ++run)
        count += m_lines->isKept(run);
    return count;
}

QPoint ParallelPlot::pixelOf(size_t axis, double share) const {
    return m_lines->pixelOf(axis, share).toPoint();
}

void ParallelPlot::changed() {
    describe();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
    Q_EMIT rangesChanged();
}

void ParallelPlot::onPress(const QPointF& pixel) {
    m_pressed = pixel;
    m_dragged = m_lines->axisAt(pixel);
    m_dragBegin = m_lines->shareAt(pixel.y());
}

void ParallelPlot::onMove(const QPointF& pixel) {
    if (m_dragged && QLineF(pixel, m_pressed).length() > kClickPixels) {
        const double share = m_lines->shareAt(pixel.y());
        setRange(*m_dragged, std::minmax(m_dragBegin, share));
        return;
    }
    const auto axis = m_lines->axisAt(pixel);
    m_plot->setCursor(axis ? Qt::SizeVerCursor : Qt::ArrowCursor);
    point(axis ? std::nullopt : m_lines->runAt(pixel), pixel);
}

void ParallelPlot::onRelease(const QPointF& pixel) {
    const bool isClick = QLineF(pixel, m_pressed).length() <= kClickPixels;
    const auto axis = std::exchange(m_dragged, std::nullopt);
    if (isClick && axis)
        setRange(*axis, std::nullopt);
    else if (const auto run = m_lines->runAt(pixel); isClick && run)
        Q_EMIT opened(m_lines->runs[*run].id);
}

void ParallelPlot::point(std::optional<size_t> run, const QPointF& pixel) {
    if (std::exchange(m_lines->pointed, run) == run)
        return;
    if (run)
        QToolTip::showText(m_plot->mapToGlobal(pixel.toPoint()), asPlain(textOf(*run)), m_plot);
    else
        QToolTip::hideText();
    m_plot->replot(QCustomPlot::rpQueuedReplot);
}

QString ParallelPlot::textOf(size_t run) const {
    QStringList lines{m_lines->runs[run].name};
    for (const PlotScale& axis : m_lines->axes)
        lines << tr("%1: %2").arg(axis.title, axis.textOf(axis.scale.values[run]));
    return lines.join('\n');
}

/// Of the chosen axis; a range begins as the whole of it.
void ParallelPlot::moveEnd(bool isUpper, double by) {
    if (!m_lines->chosen)
        return;
    Range range = m_lines->ranges[*m_lines->chosen].value_or(Range(0, 1));
    double& end = isUpper ? range.second : range.first;
    end = std::clamp(end + by, isUpper ? range.first : 0.0, isUpper ? 1.0 : range.second);
    const bool isWhole = range == Range(0, 1);
    setRange(*m_lines->chosen, isWhole ? std::nullopt : std::optional(range));
}

bool ParallelPlot::onKey(int key, bool isShifted) {
    const auto count = static_cast<int>(m_lines->axes.size());
    if (count == 0)
        return false;
    const int chosen = m_lines->chosen ? static_cast<int>(*m_lines->chosen) : -1;
    switch (key) {
    case Qt::Key_Right:
    case Qt::Key_Left:
        m_lines->chosen =
            static_cast<size_t>(std::clamp(chosen + (key == Qt::Key_Right ? 1 : -1), 0, count - 1));
        changed();
        return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
        moveEnd(isShifted, key == Qt::Key_Up ? kEndStep : -kEndStep);
        return true;
    case Qt::Key_Delete:
        if (chosen >= 0)
            setRange(static_cast<size_t>(chosen), std::nullopt);
        return true;
    case Qt::Key_Escape:
        clearRanges();
        return true;
    default:
        return false;
    }
}

bool ParallelPlot::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Leave)
        point(std::nullopt, {});
    if (event->type() == QEvent::KeyPress) {
        const auto& pressed = static_cast<QKeyEvent&>(*event);
        if (onKey(pressed.key(), pressed.modifiers().testFlag(Qt::ShiftModifier)))
            return true;
    }
    return QFrame::eventFilter(watched, event);
}

void ParallelPlot::describe() {
    QStringList parts;
    for (size_t axis = 0; axis < m_lines->axes.size(); ++axis) {
        const PlotScale& scale = m_lines->axes[axis];
        const auto& range = m_lines->ranges[axis];
        const QString chosen = m_lines->chosen == axis ? tr("chosen axis ") : QString();
        if (range)
            parts << tr("%1%2 from %3 to %4")
                         .arg(chosen, scale.title, scale.textOf(scale.valueAt(range->first)),
                              scale.textOf(scale.valueAt(range->second)));
        else
            parts << chosen + scale.title;
    }
    m_plot->setAccessibleName(tr("Parallel coordinates"));
    m_plot->setAccessibleDescription(m_lines->runs.empty()
                                         ? m_empty->text()
                                         : tr("%1 of %2 runs are within the ranges; axes: %3")
                                               .arg(kept())
                                               .arg(m_lines->runs.size())
                                               .arg(parts.join(", ")));
}

} // namespace rm
