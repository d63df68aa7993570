// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/alignment.h"
#include "app/core/compare/comparison.h"
#include "app/ui/compare/compared_curves.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/plot/line_chart.h"

#include <QStringList>
#include <QWidget>

#include <optional>
#include <vector>

class QBoxLayout;
class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QVBoxLayout;

namespace rm {

class ChartBar;
class ComparisonTable;
class PageHeader;
class ReflowGrid;
class RunKey;
class Table;

/// Several runs beside each other: their lines in one chart for each metric, what they reached,
/// what differs between them, and which is a branch of which. Live runs go on growing. The runs are
/// kept for the next start.
class ComparePage : public QWidget {
    Q_OBJECT
public:
    static constexpr size_t kMostRuns = 16; ///< that have a colour and dash of their own

    explicit ComparePage(const AppContext& context, QWidget* parent = nullptr);

    /// Ids; those that are not stored are left out.
    void setRuns(const QStringList& runs);
    QStringList runs() const { return m_runs; }

Q_SIGNALS:
    void runChosen(const QString& run);
    void chooseRequested(); ///< of runs to compare

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void buildUi();
    QWidget* buildControls();
    QWidget* buildCharts();
    QWidget* buildSide();
    void wire();
    void restore();
    void wireBar();
    void readAlignment();
    void refresh();
    void pull();
    void pullCurves();
    void apply(const Comparison& comparison);
    void arrangeKeys();
    void arrangeCharts();
    void showTables();
    void showLineage();
    void showCurves(const ComparedCurves& curves);
    void fillAddMenu();
    void fit();
    void zoomTo(double low, double high);
    void resetZoom();
    ChartView view() const;
    std::vector<Mark> marks() const;
    std::vector<MetricDef> metricsToRead() const;
    bool isDrawn(const QString& run) const;

    AppContext m_context;
    QStringList m_runs;
    std::optional<Comparison> m_comparison;
    Alignment m_alignment;
    QString m_problem; ///< why they could not be compared last
    static constexpr int kPullMs = 1000, kCurvesMs = 200;
    Puller m_puller;
    Puller m_curvePuller;
    struct Shown {
        MetricDef metric;
        LineChart* chart;
    };
    std::vector<Shown> m_charts;
    std::vector<RunKey*> m_keys;
    PageHeader* m_header;
    QPushButton* m_add;
    QStackedWidget* m_stack;
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
    QVBoxLayout* m_lineage;
    ChartBar* m_bar;
    QComboBox* m_align;
    QLineEdit* m_alignAt;
    QLabel* m_missing;
    std::optional<std::pair<double, double>> m_zoom;
    double m_dataBegin = 0, m_dataEnd = 1; ///< x of the first and newest points
};

} // namespace rm
