// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"

#include <qcustomplot.h>

#include <optional>

namespace rm {

/// Vertical dashed lines with a triangle at the top.
class MarkLines : public QCPLayerable {
    Q_OBJECT
public:
    explicit MarkLines(QCustomPlot* plot);

    void setMarks(std::vector<Mark> marks, XAxis axis, int64_t startNs);
    void setSelectedStep(std::optional<int64_t> step) { m_selected = step; }
    /// The mark within a few pixels of `pixel`, nearest first.
    const Mark* nearest(double pixel) const;

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

private:
    double pixelOf(const Mark& mark) const;

    std::vector<Mark> m_marks;
    XAxis m_axis = XAxis::kStep;
    int64_t m_startNs = 0;
    std::optional<int64_t> m_selected;
};

/// The vertical line under the pointer, shared by all charts, on a layer of its own so that moving
/// it redraws nothing else.
class Crosshair : public QCPLayerable {
    Q_OBJECT
public:
    explicit Crosshair(QCustomPlot* plot);
    void setX(std::optional<double> x) { m_x = x; }
    void setDots(std::vector<std::pair<QPointF, QColor>> dots) { m_dots = std::move(dots); }

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

private:
    std::optional<double> m_x;
    std::vector<std::pair<QPointF, QColor>> m_dots; ///< in plot coordinates
};

/// A zoom selection that spans the whole height.
class ColumnSelection : public QCPSelectionRect {
    Q_OBJECT
public:
    explicit ColumnSelection(QCustomPlot* plot);

protected:
    void draw(QCPPainter* painter) override;
};

} // namespace rm
