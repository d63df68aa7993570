// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/plot_scale.h"

#include <QFrame>

#include <optional>
#include <utility>

class QCPItemText;
class QCustomPlot;

namespace rm {

class ParallelLines;

/// A card with an axis for each key and a line for each run. A drag along an axis keeps the runs
/// within; several combine, a click on the axis takes its range away. A click on a line opens its
/// run. With the keyboard: left and right choose an axis, up and down raise the lower end of its
/// range, with Shift they lower the upper one, Delete takes it away, Escape all of them.
class ParallelPlot : public QFrame {
    Q_OBJECT
public:
    /// Shares of an axis, the lower one first.
    using Range = std::pair<double, double>;

    explicit ParallelPlot(QWidget* parent = nullptr);

    /// `colours`: by run, what its line is drawn with. Ranges stay where the axis keeps its title.
    void show(std::vector<PlottedRun> runs, std::vector<PlotScale> axes,
              std::vector<QColor> colours);
    using QWidget::show;
    /// The colours of the ends of the last axis, if lines are coloured by it.
    void setLastAxisColours(std::optional<std::pair<QColor, QColor>> lowAndHigh);
    void setEmptyText(const QString& why);
    void setRange(size_t axis, std::optional<Range> range);
    void clearRanges();
    std::optional<Range> range(size_t axis) const;
    /// Whether the run is within all ranges. One without a value is in none.
    bool isKept(size_t run) const;
    size_t kept() const;
    /// Of an axis, and of a share of it, in the child "plot".
    QPoint pixelOf(size_t axis, double share) const;
    const std::vector<PlotScale>& axes() const;

Q_SIGNALS:
    void rangesChanged();
    void opened(const QString& run);
    void axesPlaced(); ///< pixelOf() has changed

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildUi();
    void applyTheme();
    void onPress(const QPointF& pixel);
    void onMove(const QPointF& pixel);
    void onRelease(const QPointF& pixel);
    bool onKey(int key, bool isShifted);
    void moveEnd(bool isUpper, double by);
    void point(std::optional<size_t> run, const QPointF& pixel);
    QString textOf(size_t run) const;
    void changed();
    void describe();

    QCustomPlot* m_plot;
    ParallelLines* m_lines;
    QCPItemText* m_empty;
    std::optional<size_t> m_dragged; ///< axis
    double m_dragBegin = 0;          ///< share
    QPointF m_pressed;
};

} // namespace rm
