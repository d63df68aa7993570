// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/plot_scale.h"

#include <qcustomplot.h>

#include <optional>
#include <utility>
#include <vector>

namespace rm {

/// Parallel coordinates, drawn over the whole of a plot's axis rectangle.
class ParallelLines : public QCPLayerable {
    Q_OBJECT
public:
    using Range = std::pair<double, double>;

    explicit ParallelLines(QCustomPlot* plot);

    std::vector<PlottedRun> runs;
    std::vector<PlotScale> axes;
    std::vector<QColor> colours; ///< by run
    /// Of the last axis, if it has the colours: those of its ends.
    std::optional<std::pair<QColor, QColor>> lowAndHigh;
    std::vector<std::optional<Range>> ranges; ///< by axis, in shares
    std::optional<size_t> pointed;            ///< run
    std::optional<size_t> chosen;             ///< axis, with the keyboard

    bool isKept(size_t run) const;
    double xOf(size_t axis) const;
    QPointF pixelOf(size_t axis, double share) const;
    QPointF noneOf(size_t axis) const; ///< for a run without a value
    double shareAt(double y) const;
    std::optional<size_t> axisAt(const QPointF& pixel) const; ///< within a few pixels
    std::optional<size_t> runAt(const QPointF& pixel) const;  ///< of those that are kept

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

private:
    QPolygonF lineOf(size_t run) const;
    void drawRuns(QCPPainter& painter) const;
    void drawAxis(QCPPainter& painter, size_t axis) const;
    void drawColours(QCPPainter& painter, size_t axis) const;
    void drawRange(QCPPainter& painter, size_t axis) const;
    void drawTicks(QCPPainter& painter, size_t axis) const;
};

} // namespace rm
