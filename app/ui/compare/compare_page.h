// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/alignment.h"
#include "app/core/compare/comparison.h"
#include "app/core/compare/lineage.h"
#include "app/core/runs/run_values.h"
#include "app/ui/compare/compared_curves.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/plot/chart_picture.h"
#include "app/ui/plot/line_chart.h"

#include <QStringList>
#include <QWidget>

#include <memory>
#include <optional>
#include <vector>

class QBoxLayout;
class QButtonGroup;
class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace rm {

class ChartBar;
class ComparisonTable;
class LineageTable;
class PageHeader;
class ParallelView;
class ReflowGrid;
class RunKey;
class ScatterView;
class Table;
class ValuesView;

/// Several runs beside each other, in three views. Curves: their lines in one chart for each
/// metric, what they reached, what differs between them, and which is a branch of which. Scatter
/// and Parallel: settings and metrics of any number of runs. Live runs go on growing. The runs are
/// kept for the next start.
class ComparePage : public QWidget {
    Q_OBJECT
public:
    enum View { kCurves, kScatter, kParallel };
    static constexpr size_t kMostRuns = kRunStyles; ///< that have curves

    explicit ComparePage(const AppContext& context, QWidget* parent = nullptr);

    /// Ids; those that are not stored are left out.
    void setRuns(const QStringList& runs);
    /// The same, with the offer to go back to the runs that were there.
    void replaceRuns(const QStringList& runs);
    QStringList runs() const { return m_runs; }         ///< that have curves
    QStringList chosenRuns() const { return m_chosen; } ///< all
    void showView(View view);
    /// With all runs that hang together with that one by branches, as far as they can have curves.
    void showLineageOf(const QString& run);

Q_SIGNALS:
    void runChosen(const QString& run);
    void chooseRequested(); ///< of runs to compare

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void buildUi();
    QWidget* buildViews();
    QWidget* buildCurves();
    QWidget* buildControls();
    QWidget* buildCharts();
    QWidget* buildSide();
    void wire();
    void wireBar();
    void wireViews();
    void restore();
    void forgetDeleted();
    void readFilter();
    void readAlignment();
    void nameAlignProblem(const QString& why); ///< empty: there is none
    void align(const Alignment& alignment);
    void showFacts();
    void refresh();
    void pull();
    void pullLineage();
    void bringLineage();
    void pullCurves();
    void apply(const Comparison& comparison);
    void arrangeKeys();
    void arrangeCharts();
    void showTables();
    void showCurves(const ComparedCurves& curves);
    void nameWindow(const ComparedCurves& curves);
    void nameMissing(const std::vector<MissingCurve>& missing);
    void fillAddMenu();
    void fillExportMenu(QMenu& menu, const MetricDef& metric);
    void exportPicture(const MetricDef& metric, PictureFormat format);
    void exportSamples(const MetricDef& metric);
    void fit();
    void zoomTo(double low, double high);
    void resetZoom();
    ChartView view() const;
    std::vector<Mark> marks() const;
    std::vector<MetricDef> metricsToRead() const;
    bool isDrawn(const QString& run) const;

    AppContext m_context;
    QStringList m_chosen;
    QStringList m_runs; ///< the first ones of them
    std::optional<Comparison> m_comparison;
    Alignment m_alignment;
    QString m_problem; ///< why they could not be compared last
    static constexpr int kPullMs = 1000, kCurvesMs = 200, kLineageMs = 3000;
    Puller m_puller;
    Puller m_lineagePuller; ///< reads all runs, so not at each step
    Puller m_curvePuller;
    struct Shown {
        MetricDef metric;
        LineChart* chart;
    };
    std::vector<Shown> m_charts;
    std::vector<RunKey*> m_keys;
    std::shared_ptr<RunValues> m_values = std::make_shared<RunValues>(); ///< the store thread's
    PageHeader* m_header;
    QPushButton* m_add;
    QButtonGroup* m_views;
    QLineEdit* m_filter;      ///< of the runs in the views of values
    QStackedWidget* m_stack;  ///< by View
    QStackedWidget* m_curves; ///< why there are none, or they; nothing until they are read
    ScatterView* m_scatter;
    ParallelView* m_parallel;
    size_t m_valueRuns = 0; ///< that the view of values shows
    ReflowGrid* m_keyGrid;
    QScrollArea* m_scroll;
    QBoxLayout* m_columns;
    QWidget* m_side;
    ReflowGrid* m_first; ///< the chart of the first metric
    ReflowGrid* m_grid;  ///< the other charts
    Table* m_figures;
    ComparisonTable* m_figureModel;
    Table* m_differences;
    ComparisonTable* m_differenceModel;
    QLabel* m_differenceCount;
    QPushButton* m_all;
    LineageTable* m_lineage;
    bool m_wantsLineage = false; ///< it is to come into sight
    ChartBar* m_bar;
    QComboBox* m_align;
    QLineEdit* m_alignAt;
    QLabel* m_alignProblem; ///< why what is typed there is no value
    QLabel* m_missing;
    std::optional<std::pair<double, double>> m_zoom;
    double m_dataBegin = 0, m_dataEnd = 1; ///< x of the first and newest points
};

} // namespace rm
