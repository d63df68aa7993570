// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/plot/chart_data.h"

#include <QFrame>

#include <optional>

class QCPGraph;
class QCPItemText;
class QCustomPlot;
class QLabel;

namespace rm {

class Crosshair;
class ChartLegend;
class MarkLines;

/// How all charts of a run are looked at.
struct ChartView {
    XAxis axis = XAxis::kStep;
    int64_t startNs = 0;
    double low = 0, high = 1; ///< visible x
    bool logY = false;
    bool operator==(const ChartView&) const = default;
};

/// A card with one plot. Drag zooms x, double click resets; both are asked of the owner, who
/// moves all charts together.
class LineChart : public QFrame {
    Q_OBJECT
public:
    LineChart(const QString& title, const char* objectName, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setFromZero(bool fromZero) { m_fromZero = fromZero; }

    void show(std::vector<Curve> curves, const ChartView& view);
    using QWidget::show;
    void setMarks(const std::vector<Mark>& marks, const ChartView& view);
    void selectMark(std::optional<int64_t> step);
    void setPointer(std::optional<double> x);
    int plotWidth() const;
    const std::vector<Curve>& curves() const { return m_curves; }
    const ChartView& view() const { return m_view; }

Q_SIGNALS:
    void zoomAsked(double low, double high);
    void resetAsked();
    void pointed(std::optional<double> x);
    void markClicked(qint64 step);

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
    void scaleY();
    void showValues(std::optional<double> x);
    QString valueText(const Curve& curve, qsizetype at) const;
    void describe();
    void showEmptiness();
    void onMouseMove(const QPointF& position);

    QLabel* m_title;
    ChartLegend* m_values;
    QCustomPlot* m_plot;
    MarkLines* m_marks;
    Crosshair* m_crosshair;
    QCPItemText* m_empty; ///< instead of axes where there is nothing to measure
    std::vector<Curve> m_curves;
    ChartView m_view;
    bool m_fromZero = false;
    bool m_overMark = false;
};

} // namespace rm
