// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"

#include <qcustomplot.h>

#include <optional>

namespace rm {

/// Vertical dashed lines with a triangle at the top, of which what was removed has only a hollow
/// triangle; rings where a mark stands on a curve.
class MarkLines : public QCPLayerable {
    Q_OBJECT
public:
    explicit MarkLines(QCustomPlot* plot);

    void setMarks(std::vector<Mark> marks, const AxisMap& map);
    /// Marks that stand at a point of a curve, in plot coordinates.
    void setRings(std::vector<std::pair<QPointF, Mark>> rings) { m_rings = std::move(rings); }
    void setSelectedStep(std::optional<int64_t> step) { m_selected = step; }
    /// The mark within a few pixels: a ring first, then the nearest line, then what was removed.
    const Mark* nearest(const QPointF& pixel) const;

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

private:
    double pixelOf(const Mark& mark) const;
    QPointF pixelOf(const QPointF& point) const;
    void drawMark(QCPPainter* painter, const Mark& mark, double x) const;
    void drawRings(QCPPainter* painter) const;

    std::vector<Mark> m_marks;
    std::vector<std::pair<QPointF, Mark>> m_rings;
    AxisMap m_map;
    std::optional<int64_t> m_selected;
};

/// The vertical line under the pointer, shared by all charts, with its step written at its foot. It
/// has its own layer, so that moving it redraws nothing else.
class Crosshair : public QCPLayerable {
    Q_OBJECT
public:
    explicit Crosshair(QCustomPlot* plot);
    void setX(std::optional<double> x, const QString& words) {
        m_x = x;
        m_words = words;
    }
    void setDots(std::vector<std::pair<QPointF, QColor>> dots) { m_dots = std::move(dots); }

protected:
    void applyDefaultAntialiasingHint(QCPPainter* painter) const override;
    void draw(QCPPainter* painter) override;
    QRect clipRect() const override;

private:
    void drawWords(QCPPainter* painter, double x) const;

    std::optional<double> m_x;
    QString m_words;
    std::vector<std::pair<QPointF, QColor>> m_dots; ///< in plot coordinates
};

/// A zoom selection that spans the whole height.
class ColumnSelection : public QCPSelectionRect {
    Q_OBJECT
public:
    explicit ColumnSelection(QCustomPlot* plot);
    void startSelection(QMouseEvent* event) override; ///< by the left button alone

protected:
    void draw(QCPPainter* painter) override;
};

} // namespace rm
