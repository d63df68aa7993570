// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/run_detail.h"

#include <QWidget>

#include <vector>

class QLabel;
class QPushButton;
class QScrollArea;

namespace rm {

class ChartBar;
class HeatMap;
class ReflowGrid;
class TimelineView;

/// The charts of a run, which share zoom and crosshair: the main ones of the metrics registry with
/// the heat map and the events, and below them one for everything else that the run reports. Of the
/// latter only visible ones are read.
class ChartsTab : public QWidget {
    Q_OBJECT
public:
    explicit ChartsTab(const AppContext& context, QWidget* parent = nullptr);

    void setRun(const QString& run);
    void show(const RunDetail& detail);
    using QWidget::show;
    void refresh(); ///< new samples are there
    /// Smoothing, axis, scale, follow: stands beside the tabs.
    QWidget* controls() const;
    void setCompact(bool compact); ///< little room for the controls
    void showSlider(bool shown);   ///< hidden where even that leaves none for it

Q_SIGNALS:
    void commandsRequested(); ///< for the list of what was asked of the run

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void buildUi();
    void buildMain();
    void buildMore();
    LineChart* makeChart(const QString& panel);
    QWidget* buildEvents();
    void buildControls();
    void wire();
    void wireControls();
    void restore();
    void pull();
    void pullHeat();
    void pullExact();
    void point(std::optional<double> x, std::optional<double> step);
    struct Answer {
        AxisMap map;
        QString missing; ///< why the run does not have what the axis counts
        WorkUnit unit = WorkUnit::kTokens;
        std::vector<PanelCurves> panels;
    };
    static Answer read(StoreReader& reader, const RunSummary& run, ChartQuery query);
    void applyAnswer(const Answer& answer);
    void apply(const std::vector<PanelCurves>& panels);
    void showAll(const std::vector<PanelCurves>& panels);
    void showMain(const std::vector<PanelCurves>& panels);
    void showMore(const std::vector<PanelCurves>& panels);
    void arrangeMore(const std::vector<QString>& panels);
    std::vector<QString> morePanels() const;
    void fitMain();
    LineChart* chartOf(const QString& panel) const;
    std::vector<QString> panelsToRead() const;
    ChartQuery query() const;
    ChartView view() const;
    std::pair<double, double> wholeRange() const;
    std::vector<Mark> marks() const;
    void jumpTo(Moment moment);
    void zoomTo(double low, double high);
    void resetZoom();

    AppContext m_context;
    QString m_run;
    RunDetail m_detail;
    static constexpr int kPullMs = 40;
    Puller m_puller;
    Puller m_heatPuller;
    static constexpr int kExactMs = 60;
    Puller m_exactPuller;
    std::optional<double> m_pointedStep;
    struct Shown {
        QString panel;
        LineChart* chart;
    };
    std::vector<Shown> m_charts; ///< the main ones first, the loss at the front
    size_t m_mainCharts = 0;     ///< how many these are
    QScrollArea* m_scroll;
    HeatMap* m_heat;
    TimelineView* m_events;
    QLabel* m_noEvents;
    ReflowGrid* m_main;
    ReflowGrid* m_more;
    QLabel* m_moreTitle;
    ChartBar* m_bar;
    QPushButton* m_abandoned;
    QPushButton* m_follow;
    AxisMap m_map;     ///< with the scale of what was read last
    QString m_missing; ///< why nothing can be shown on this axis
    std::optional<std::pair<double, double>> m_zoom;
    std::optional<Moment> m_chosen;      ///< in the event list
    double m_dataEnd = 0;                ///< x of the newest point
    std::optional<double> m_parentBegin; ///< x of a parent's first point
};

} // namespace rm
