// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/run/run_detail.h"

#include <QPointer>
#include <QWidget>

#include <string>
#include <vector>

class QDialog;
class QLabel;
class QMenu;
class QPushButton;
class QScrollArea;

namespace rm {

class ChartBar;
struct ChartExport;
class HeatMap;
class LayoutButton;
class LayoutKeeper;
class PanelMover;
class ReflowGrid;
class TimelineView;

/// The charts of a run, which share zoom and crosshair: on the first screen the main ones of the
/// metrics registry with the heat map and the events, and below them one for everything else that
/// the run reports. A person moves, sizes, hides and adds charts; the layout is kept for all runs
/// of the kind of model. Of what lies below the first screen only visible charts are read.
class ChartsTab : public QWidget {
    Q_OBJECT
public:
    explicit ChartsTab(const AppContext& context, QWidget* parent = nullptr);

    void setRun(const QString& run);
    void show(const RunDetail& detail);
    using QWidget::show;
    void refresh(); ///< new samples are there
    Smoothing smoothing() const;
    /// Smoothing, axis, scale, follow: stands beside the tabs.
    QWidget* controls() const;
    void setCompact(bool compact); ///< little room for the controls
    void showSlider(bool shown);   ///< hidden where even that leaves none for it
    /// Shows the card with the focus, or under the pointer, on the whole screen, or no longer;
    /// false: there is none.
    bool showAlone();

    /// Moves the charts to that time, as to an event.
    void showTime(int64_t wallNs);
    void showAll(); ///< also what a zoom has left out

Q_SIGNALS:
    void commandsRequested(); ///< for the list of what was asked of the run
    void logRequested(qint64 wallNs);
    /// A person has zoomed to these steps; nullopt: to none, or what is shown is all that there is.
    void spanChanged(const std::optional<rm::TimedSpan>& span);
    void smoothingChanged();
    void branchRequested(const rm::StoredCheckpoint& checkpoint);
    void restoreRequested(const rm::StoredCheckpoint& checkpoint);
    void revertRequested(const std::string& command); ///< the id of a `set`

protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void buildUi();
    LineChart* makeChart(const std::string& key);
    HeatMap* makeHeat(const std::string& key);
    QWidget* buildEvents();
    void fillRevert(QMenu& menu, const std::string& command);
    void buildControls();
    void wire();
    void wireControls();
    void wireLayout();
    void restore();
    void pull();
    void pullHeat();
    void pullExact();
    void pullSpan();
    void setSpan(const std::optional<TimedSpan>& inSight);
    void point(std::optional<double> x, std::optional<double> step);
    /// What was in sight on another axis.
    struct Zoom {
        AxisMap map;
        double low = 0, high = 0;
    };
    struct Answer {
        AxisMap map = {};
        QString missing = {}; ///< why the run does not have what the axis counts
        WorkUnit unit = WorkUnit::kTokens;
        std::optional<std::pair<double, double>> kept = {}; ///< where the steps of m_kept are
        double dataEnd = 0;                                 ///< likewise x of the newest point
        std::vector<PanelCurves> panels = {};
    };
    static Answer read(StoreReader& reader, const RunSummary& run, ChartQuery query,
                       const std::optional<Zoom>& kept);
    void applyAnswer(const Answer& answer);
    void apply(const std::vector<PanelCurves>& panels);
    void showPanels(const std::vector<PanelCurves>& panels);
    void setPanels(std::vector<ChartPanel> panels);
    void arrange();
    std::vector<std::string> keysAsTheyCome() const;
    bool isFirst(const std::string& key) const;
    int columnsOf(const std::string& key) const;
    void place(const std::vector<std::string>& keys);
    void forgetOthers(const std::vector<std::string>& keys);
    void fitMain();
    QString titleOf(const std::string& key) const;
    const ChartPanel* panelOf(const std::string& key) const;
    LineChart* chartOf(const std::string& key) const;
    HeatMap* heatOf(const std::string& key) const;
    QWidget* cardOf(const std::string& key) const;
    std::string keyOf(const QWidget* card) const;
    QWidget* cardAbove(QWidget* widget) const;
    std::vector<QString> panelsToRead() const;
    void moveCard(QWidget* card, ReflowGrid* grid, QWidget* before);
    void sizeCard(QWidget* card, int columns, int rows);
    void shift(const std::string& key, int by);
    void fillMenu(QMenu& menu, const std::string& key);
    void fillStepMenu(QMenu& menu);
    void askLog();
    std::optional<StoredCheckpoint> checkpointAtPointer() const;
    void fillAxisMenu(QMenu& menu, const std::string& key);
    void fillSizeMenu(QMenu& menu, const std::string& key);
    void askRange(const std::string& key);
    void askExportOf(const std::string& key);
    void exportChart(const std::string& key, const ChartExport& chosen);
    void exportNumbers(const ChartPanel& panel, const ChartExport& chosen);
    void exportPicture(const std::string& key, const PanelCurves& read,
                       const std::optional<std::pair<double, double>>& range,
                       const ChartExport& chosen);
    void askOwn(const OwnChart& chart);
    void keepOwn(OwnChart chart);
    bool isHeat(const std::string& key) const;
    void focusCard(const std::string& key);
    void bringIntoSight(const std::string& key);
    void showCardAlone(QWidget& card);
    ChartQuery query() const;
    ChartView view() const;
    std::pair<double, double> wholeRange() const;
    std::vector<Mark> marks() const;
    void changeAxis();
    void jumpTo(Moment moment);
    void zoomTo(double low, double high);
    void showRange(double low, double high);
    std::pair<double, double> widened(double low, double high) const;
    double secondsOfStepAt(double low, double high) const;

    AppContext m_context;
    QString m_run;
    RunDetail m_detail;
    static constexpr int kPullMs = 40;
    Puller m_puller;
    Puller m_heatPuller;
    static constexpr int kExactMs = 60;
    Puller m_exactPuller;
    static constexpr int kSpanMs = 100;
    Puller m_spanPuller;
    bool m_selects = false; ///< a person has zoomed, so that the other tabs show the same steps
    std::optional<TimedSpan> m_inSight; ///< of a zoom; nullopt: not known yet, or all
    std::optional<TimedSpan> m_span;    ///< the same if m_selects
    std::optional<double> m_pointedStep;
    std::optional<double> m_menuStep; ///< that was pointed at last
    template <class Widget>
    struct Shown {
        std::string key;
        Widget* widget;
    };
    std::vector<ChartPanel> m_panels;       ///< all that the run has, as they come
    std::vector<Shown<LineChart>> m_charts; ///< in their order, the ones of the first screen first
    std::vector<Shown<HeatMap>> m_heats;
    LayoutKeeper* m_layout;
    LayoutButton* m_layoutButton;
    PanelMover* m_mover;
    QDialog* m_alone = nullptr; ///< with a card on the whole screen
    QPointer<QWidget> m_aloneCard;
    std::string m_added; ///< key of a chart that is to be brought into sight
    QScrollArea* m_scroll;
    QWidget* m_eventsCard;
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
    std::optional<Zoom> m_kept;          ///< its place on the axis of now is not known yet
    std::optional<Moment> m_chosen;      ///< in the event list
    double m_dataEnd = 0;                ///< x of the newest point
    std::optional<double> m_parentBegin; ///< x of a parent's first point
};

} // namespace rm
