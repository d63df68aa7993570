// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"
#include "app/ui/plot/chart_legend.h"

#include <QFrame>
#include <QPen>
#include <QSharedPointer>

#include <optional>

class QCPAxisTicker;
class QCPGraph;
class QCPItemText;
class QCustomPlot;
class QMenu;

namespace rm {

class Crosshair;
class ElidedLabel;
class MarkLines;

/// The view that all charts of a run share.
struct ChartView {
    AxisMap map = {};
    double low = 0, high = 1; ///< visible x
    bool logY = false;
    bool operator==(const ChartView&) const = default;
};

/// A card with one plot. Dragging zooms x, a double click resets it. Both are signals to the owner,
/// who changes all charts together.
class LineChart : public QFrame {
    Q_OBJECT
public:
    LineChart(const QString& title, const char* objectName, QWidget* parent = nullptr);

    /// `explanation` is HTML; see asHtml().
    void setTitle(const QString& title, const QString& explanation = {});
    void setFromZero(bool fromZero) { m_fromZero = fromZero; }
    /// What the vertical axis spans; an end that is not set is what the curves have.
    void setYRange(const AxisRange& range);
    /// The vertical axis spans what all but the most extreme points have.
    void setCutsOutliers(bool cuts);
    std::pair<double, double> shownY() const; ///< what the vertical axis spans
    /// What stands there where no curve that was shown has a point, in place of "no points yet".
    void setEmptyText(const QString& why);

    void show(std::vector<Curve> curves, const ChartView& view);
    using QWidget::show;
    /// Empties it until the next show(): whether there are points is not known, so nothing is said.
    void setUnread(const ChartView& view);
    /// Retired marks are drawn on their attempt's curve, and only if that is shown.
    void setMarks(const std::vector<Mark>& marks);
    void selectMark(std::optional<int64_t> step);
    /// Shows the values at x until told otherwise, also while new curves come in. `step`: which one
    /// that is; nullopt: that of the nearest point here.
    void setPointer(std::optional<double> x, std::optional<double> step = std::nullopt);
    /// What was measured at the step of the pointer, in place of points nearby that stand for
    /// several steps: curves of the same names. Smoothed values stay. They count for that step
    /// alone.
    void showExact(double step, std::vector<Curve> exact);
    std::optional<double> pointedStep() const;
    /// Whether the values at the pointer are of showExact().
    bool isExact() const { return m_exactStep && pointedStep() == m_exactStep; }
    /// The value that the legend has for a curve.
    double shownValue(const Curve& curve) const;
    /// The legend's texts: one named value each.
    QStringList values() const { return m_valueTexts; }
    int plotWidth() const;
    /// The pixel of a value, in the child "plot".
    QPoint pixelOf(double x, double y) const;
    /// What the lines are called, and how they are drawn, for a picture without values.
    std::vector<std::pair<QString, QPen>> namedLines() const;
    const std::vector<Curve>& curves() const { return m_curves; }
    const ChartView& view() const { return m_view; }
    const std::vector<Mark>& lineMarks() const { return m_lineMarks; }
    const std::vector<std::pair<QPointF, Mark>>& curveMarks() const { return m_curveMarks; }

Q_SIGNALS:
    void zoomRequested(double low, double high);
    void resetRequested();
    void pointed(std::optional<double> x, std::optional<double> step);
    void markClicked(qint64 step);
    void menuRequested(QMenu* menu); ///< a context menu opens, to which the owner adds

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;

private:
    void buildUi();
    void wire();
    void applyTheme();
    void rebuildGraphs();
    void addGraphs(const Curve& curve);
    void fillGraphs();
    struct Extent;
    Extent wholeExtent() const;
    Extent commonExtent() const;
    size_t ownCurves() const;
    void scaleY();
    void scaleYByCurves();
    void placeMarks();
    std::optional<QPointF> placeOf(const Mark& mark) const;
    void showPointer();
    void showValues();
    qsizetype pointAt(const Curve& curve) const;
    /// A curve and a point of it.
    using Place = std::pair<const Curve*, qsizetype>;
    std::optional<Place> exactOf(const Curve& curve) const;
    Place valuesOf(const Curve& curve, qsizetype at) const;
    QString placeText(const Curve& curve, qsizetype at, std::optional<double> step) const;
    bool isBehind(const Curve& curve) const;
    QString extremeText(const Curve& curve) const;
    QString bandText(const Curve& curve, qsizetype at) const;
    std::vector<ChartLegend::Part> partsOf(const Curve& curve, qsizetype at) const;
    std::vector<const Curve*> namedCurves() const;
    void describe();
    QSharedPointer<QCPAxisTicker> yTicker() const;
    void showEmptiness();
    void onMouseMove(const QPointF& position);
    void point(double x);

    ElidedLabel* m_title;
    ChartLegend* m_values;
    QCustomPlot* m_plot;
    MarkLines* m_marks;
    Crosshair* m_crosshair;
    QCPItemText* m_empty; ///< instead of axes where there is nothing to measure
    std::vector<Curve> m_curves;
    ChartView m_view;
    std::vector<Mark> m_allMarks;
    std::vector<Mark> m_lineMarks;                      ///< of the living line
    std::vector<std::pair<QPointF, Mark>> m_curveMarks; ///< on abandoned curves, in plot units
    std::optional<double> m_pointer;                    ///< x
    std::optional<double> m_pointerStep;                ///< as it was told
    std::vector<Curve> m_exact;                         ///< at m_exactStep
    std::optional<double> m_exactStep;
    QStringList m_valueTexts;
    MetricFormat m_format = MetricFormat::kNumber;
    bool m_fromZero = false;
    bool m_cutsOutliers = false;
    AxisRange m_yRange;
    bool m_overMark = false;
    bool m_isRead = false; ///< what there is was shown
};

} // namespace rm
