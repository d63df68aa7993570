// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/plot_scale.h"

#include <QFrame>

#include <optional>

class QCPItemText;
class QCustomPlot;

namespace rm {

class ScatterDots;

/// A card with a dot for each run that has a value on both axes. The pointer, or the arrow keys,
/// name a dot; a click or Enter opens its run.
class ScatterPlot : public QFrame {
    Q_OBJECT
public:
    explicit ScatterPlot(QWidget* parent = nullptr);

    void show(std::vector<PlottedRun> runs, const PlotScale& x, const PlotScale& y);
    using QWidget::show;
    /// What stands there while no run has both values.
    void setEmptyText(const QString& why);
    /// Of the runs that have a dot.
    size_t dots() const;
    /// The pixel of a run's dot, in the child "plot"; nullopt: it has none.
    std::optional<QPoint> pixelOf(const QString& run) const;
    QString pointedRun() const; ///< id; empty: none

Q_SIGNALS:
    void opened(const QString& run);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildUi();
    void applyTheme();
    void place();
    void point(std::optional<size_t> run, bool isByMouse);
    void pointBeside(int direction);
    std::optional<size_t> nearestTo(const QPointF& pixel) const;
    QString textOf(size_t run) const;
    void describe();

    std::vector<PlottedRun> m_runs;
    PlotScale m_x, m_y;
    std::optional<size_t> m_pointed;
    QCustomPlot* m_plot;
    ScatterDots* m_dots;
    QCPItemText* m_empty;
};

} // namespace rm
