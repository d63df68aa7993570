// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/compare_page.h"

#include "app/core/engine/engine.h"
#include "app/core/settings/paths.h"
#include "app/core/store/export.h"
#include "app/core/store/read_failures.h"
#include "app/core/store/store_reader.h"
#include "app/ui/compare/comparison_table.h"
#include "app/ui/compare/lineage_table.h"
#include "app/ui/compare/parallel_view.h"
#include "app/ui/compare/run_key.h"
#include "app/ui/compare/scatter_view.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/export_dialog.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/chart_bar.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/reflow_grid.h"
#include "app/ui/widgets/table.h"
#include "app/ui/widgets/toast.h"
#include "shared/metrics/metric_title.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSet>
#include <QSettings>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kTwoColumns = 1000; ///< page width; if narrower, the side stands below the charts
constexpr int kSideLeast = 380, kSideMost = 560;
constexpr int kFirstChartLeast = 320; ///< height
constexpr int kKeyWidth = 300;
constexpr int kPointsPerPixel = 2;
constexpr double kRightRoom = 0.01;
constexpr int kLeastCell = 72, kMostCell = 360; ///< width of the tables' columns
constexpr int kFiguresInSight = 10, kDifferencesInSight = 16;
constexpr int kFilterWidth = 320, kAlignWidth = 150;
constexpr size_t kMostOffered = 40;
enum CurvesShown { kNoRuns, kTheCurves, kNotReadYet };

QSettings settingsOf(const AppContext& context) {
    return {context.paths.settings(), QSettings::IniFormat};
}

QTableView* asComparison(Table& table, ComparisonTable& model, int rowsInSight) {
    table.setModel(&model);
    table.setRowsInSight(rowsInSight);
    return &table;
}

void markInvalid(QLineEdit& edit, const QString& why) {
    setStyleProperty(&edit, "invalid", !why.isEmpty());
    edit.setToolTip(asPlain(why));
}

} // namespace

ComparePage::ComparePage(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this)
    , m_lineagePuller(kLineageMs, this)
    , m_curvePuller(kCurvesMs, this) {
    buildUi();
    wire();
    restore();
}

void ComparePage::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kPageX, size::kPageY, size::kPageX, 0);
    column->setSpacing(size::kCardGap);
    m_header = new PageHeader(tr("Compare"));
    m_add = m_header->addAction(tr("Add a run"), "", "addCompared");
    column->addWidget(m_header);
    column->addWidget(buildViews());
    m_scatter = new ScatterView(m_context, m_values);
    m_parallel = new ParallelView(m_context, m_values);
    m_stack = new QStackedWidget;
    for (QWidget* view : std::initializer_list<QWidget*>{buildCurves(), m_scatter, m_parallel})
        m_stack->addWidget(view);
    column->addWidget(m_stack, 1);
}

QWidget* ComparePage::buildViews() {
    auto* bar = new QWidget;
    auto* row = new QHBoxLayout(bar);
    row->setContentsMargins(0, 0, 0, 0);
    m_views = new QButtonGroup(this);
    const auto add = [&](const QString& text, const char* objectName, View view) {
        QPushButton* button = makeButton(text, "tab", objectName);
        button->setCheckable(true);
        m_views->addButton(button, view);
        row->addWidget(button);
    };
    add(tr("Curves"), "viewCurves", kCurves);
    add(tr("Scatter"), "viewScatter", kScatter);
    add(tr("Parallel coordinates"), "viewParallel", kParallel);
    row->addStretch(1);
    m_filter = new QLineEdit;
    m_filter->setObjectName("compareFilter");
    m_filter->setAccessibleName(tr("Filter of the runs to show"));
    m_filter->setPlaceholderText(tr("All chosen runs, or tag:sweep loss < 3"));
    m_filter->setClearButtonEnabled(true);
    m_filter->setMinimumWidth(kFilterWidth);
    row->addWidget(m_filter);
    return bar;
}

QWidget* ComparePage::buildCurves() {
    auto* empty = new EmptyState(
        tr("No runs to compare yet"),
        tr("Choose two runs or more on the page Runs, with Ctrl or Shift held, and click Compare. "
           "A branch is compared with its parent from the menu More on its page."),
        tr("Choose runs"));
    connect(empty, &EmptyState::acted, this, &ComparePage::chooseRequested);
    auto* content = new QWidget;
    auto* parts = new QVBoxLayout(content);
    parts->setContentsMargins(0, 0, 0, 0);
    parts->setSpacing(size::kCardGap);
    m_keyGrid = new ReflowGrid(static_cast<int>(kMostRuns), kKeyWidth);
    parts->addWidget(m_keyGrid);
    parts->addWidget(buildControls());
    auto* body = new QWidget;
    m_columns = new QBoxLayout(QBoxLayout::LeftToRight, body);
    m_columns->setContentsMargins(0, 0, 0, size::kPageY);
    m_columns->setSpacing(size::kCardGap);
    m_columns->addWidget(buildCharts(), 5);
    m_side = buildSide();
    m_columns->addWidget(m_side, 3);
    m_scroll = new QScrollArea;
    m_scroll->setObjectName("compareScroll");
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setWidget(body);
    parts->addWidget(m_scroll, 1);
    m_curves = new QStackedWidget;
    m_curves->addWidget(empty);
    m_curves->addWidget(content);
    m_curves->addWidget(new QWidget); // kNotReadYet
    return m_curves;
}

QWidget* ComparePage::buildControls() {
    auto* controls = new QWidget;
    auto* column = new QVBoxLayout(controls);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kGrid);
    m_bar = new ChartBar(m_context.paths.settings(), "compare");
    m_align = new QComboBox;
    m_align->setObjectName("compareAlign");
    m_align->setAccessibleName(tr("What the horizontal axis begins with"));
    m_align->setProperty("role", "quiet");
    m_align->addItems({tr("from the start"), tr("from the branch"), tr("from a value")});
    m_alignAt = new QLineEdit;
    m_alignAt->setObjectName("compareAlignAt");
    m_alignAt->setAccessibleName(tr("The value that the horizontal axis begins at"));
    m_alignAt->setPlaceholderText(tr("loss < 3"));
    m_alignAt->setFixedWidth(kAlignWidth);
    m_alignAt->hide();
    m_bar->add(m_align);
    m_bar->add(m_alignAt);
    column->addWidget(m_bar, 0, Qt::AlignRight);
    m_alignProblem = makeText({}, "bad");
    m_alignProblem->setObjectName("compareAlignProblem");
    m_alignProblem->setAlignment(Qt::AlignRight);
    m_missing = makeText({}, "secondary");
    m_missing->setObjectName("compareMissing");
    for (QLabel* text : {m_alignProblem, m_missing}) {
        column->addWidget(text);
        text->hide();
    }
    return controls;
}

QWidget* ComparePage::buildCharts() {
    auto* charts = new QWidget;
    auto* column = new QVBoxLayout(charts);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    m_first = new ReflowGrid(1, size::kColumnMin);
    m_grid = new ReflowGrid(3, size::kColumnMin);
    auto* card = new Card;
    card->body()->setContentsMargins(1, 1, 1, 1);
    m_figures = new Table("comparedFigures", tr("Best and last values"));
    m_figureModel =
        new ComparisonTable(tr("Best · last of (★ best of all)"), false, m_context.styles, this);
    card->body()->addWidget(asComparison(*m_figures, *m_figureModel, kFiguresInSight));
    for (QWidget* part : std::initializer_list<QWidget*>{m_first, card, m_grid})
        column->addWidget(part);
    column->addStretch(1);
    return charts;
}

QWidget* ComparePage::buildSide() {
    auto* side = new QWidget;
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    auto* card = new Card;
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("What differs"), "cardTitle"), 1);
    m_differenceCount = makeLabel({}, "secondary");
    m_differenceCount->setObjectName("differenceCount");
    head->addWidget(m_differenceCount);
    m_all = makeButton(tr("All"), "quiet", "compareAll");
    m_all->setCheckable(true);
    m_all->setToolTip(tr("Show what is alike as well"));
    head->addWidget(m_all);
    card->body()->addLayout(head);
    m_differences = new Table("comparedSettings", tr("What differs"));
    m_differenceModel = new ComparisonTable(tr("Key"), true, m_context.styles, this);
    card->body()->addWidget(asComparison(*m_differences, *m_differenceModel, kDifferencesInSight),
                            1);
    column->addWidget(card);
    auto* lineage = new Card;
    lineage->body()->addWidget(makeLabel(tr("Lineage"), "cardTitle"));
    m_lineage = new LineageTable(m_context.styles);
    connect(m_lineage, &LineageTable::runChosen, this, &ComparePage::runChosen);
    lineage->body()->addWidget(m_lineage);
    column->addWidget(lineage);
    column->addStretch(1);
    return side;
}

void ComparePage::wire() {
    connect(&m_puller, &Puller::pull, this, &ComparePage::pull);
    connect(&m_lineagePuller, &Puller::pull, this, &ComparePage::pullLineage);
    connect(&m_curvePuller, &Puller::pull, this, &ComparePage::pullCurves);
    connect(m_scroll->verticalScrollBar(), &QScrollBar::valueChanged, &m_curvePuller,
            &Puller::request);
    wireBar();
    wireViews();
    connect(m_all, &QPushButton::toggled, this, &ComparePage::showTables);
    connect(&m_context.styles, &RunStyles::changed, this, [this] {
        for (size_t at = 0; m_comparison && at < m_keys.size(); ++at)
            m_keys[at]->show(m_comparison->runs[at], m_context.styles.of(m_keys[at]->run()));
        m_curvePuller.request();
    });
    auto* menu = new QMenu(m_add);
    menu->setObjectName("addComparedMenu");
    connect(m_add, &QPushButton::clicked, this, [this, menu] {
        fillAddMenu();
        menu->popup(m_add->mapToGlobal(QPoint(0, m_add->height())));
    });
    const auto onGrown = [this](const QString& run) {
        if (m_runs.contains(run))
            refresh();
    };
    connect(&m_context.engine, &Engine::runsChanged, this, [this] {
        if (m_lineage->isVisible())
            m_lineagePuller.request();
    });
    connect(&m_context.engine, &Engine::samplesAppended, this, onGrown);
    connect(&m_context.engine, &Engine::attemptEnded, this, onGrown);
    connect(&m_context.runs, &RunsFeed::changed, this, [this] {
        forgetDeleted();
        for (RunKey* key : m_keys)
            if (const RunSummary* run = m_context.runs.find(key->run()))
                key->show(*run, m_context.styles.of(run->id));
        for (ValuesView* view : std::initializer_list<ValuesView*>{m_scatter, m_parallel})
            view->refresh();
    });
}

void ComparePage::wireBar() {
    connect(m_bar, &ChartBar::smoothingChanged, &m_curvePuller, &Puller::request);
    connect(m_bar, &ChartBar::logChanged, &m_curvePuller, &Puller::request);
    connect(m_bar, &ChartBar::axisChanged, this, [this] {
        const bool isWall = m_bar->axis() == XAxis::kWall;
        m_align->setEnabled(!isWall);
        m_align->setToolTip(isWall ? tr("The wall clock is the same for all runs")
                                   : m_align->accessibleName());
        resetZoom();
    });
    connect(m_align, &QComboBox::currentIndexChanged, this, [this](int at) {
        const bool isValue = at == static_cast<int>(Alignment::At::kValue);
        m_alignAt->setVisible(isValue);
        if (isValue)
            m_alignAt->setFocus();
        readAlignment();
    });
    connect(m_alignAt, &QLineEdit::textChanged, this, &ComparePage::readAlignment);
}

/// No value yet is no alignment; what is no condition yet changes nothing.
void ComparePage::readAlignment() {
    const auto at = static_cast<Alignment::At>(m_align->currentIndex());
    const std::string typed = m_alignAt->text().trimmed().toStdString();
    if (at != Alignment::At::kValue || typed.empty()) {
        nameAlignProblem({});
        return align(at == Alignment::At::kValue ? Alignment() : Alignment{at});
    }
    const auto alignment = parseAlignment(typed);
    nameAlignProblem(alignment ? QString() : QString::fromStdString(alignment.error().message));
    if (alignment)
        align(*alignment);
}

void ComparePage::nameAlignProblem(const QString& why) {
    markInvalid(*m_alignAt, why);
    m_alignProblem->setText(why);
    m_alignProblem->setVisible(!why.isEmpty());
}

void ComparePage::align(const Alignment& alignment) {
    if (std::exchange(m_alignment, alignment) != alignment)
        resetZoom();
}

void ComparePage::wireViews() {
    connect(m_views, &QButtonGroup::idClicked, this,
            [this](int view) { showView(static_cast<View>(view)); });
    connect(m_filter, &QLineEdit::textChanged, this, &ComparePage::readFilter);
    for (ValuesView* view : std::initializer_list<ValuesView*>{m_scatter, m_parallel}) {
        connect(view, &ValuesView::runChosen, this, &ComparePage::runChosen);
        connect(view, &ValuesView::failed, &m_context.toast, &Toast::say);
        connect(view, &ValuesView::runsCounted, this, [this](size_t runs) {
            m_valueRuns = runs;
            showFacts();
        });
    }
}

void ComparePage::readFilter() {
    const auto filter = filterTyped(m_context.paths, m_filter->text());
    markInvalid(*m_filter, filter ? QString() : QString::fromStdString(filter.error().message));
    if (!filter)
        return;
    for (ValuesView* view : std::initializer_list<ValuesView*>{m_scatter, m_parallel})
        view->setRuns(m_chosen, *filter);
}

void ComparePage::showView(View view) {
    m_views->button(view)->setChecked(true);
    m_stack->setCurrentIndex(view);
    m_filter->setVisible(view != kCurves);
    settingsOf(m_context).setValue("compare/view", static_cast<int>(view));
    showFacts();
    refresh();
    if (view == kCurves && isVisible())
        m_lineagePuller.restart();
}

void ComparePage::restore() {
    const QSettings kept = settingsOf(m_context);
    m_chosen = kept.value("compare/runs").toStringList();
    m_runs = m_chosen.mid(0, static_cast<qsizetype>(kMostRuns));
    m_curves->setCurrentIndex(m_runs.isEmpty() ? kNoRuns : kNotReadYet);
    readFilter();
    showView(static_cast<View>(
        std::clamp<int>(kept.value("compare/view", kCurves).toInt(), kCurves, kParallel)));
    forgetDeleted(); // the list may have been read before this page was made
}

void ComparePage::forgetDeleted() {
    QStringList there = m_chosen;
    there.removeIf([this](const QString& run) { return !m_context.runs.find(run); });
    if (m_context.runs.isLoaded() && !readFailure() && there != m_chosen)
        setRuns(there);
}

void ComparePage::setRuns(const QStringList& runs) {
    m_chosen = runs;
    m_chosen.removeDuplicates();
    m_runs = m_chosen.mid(0, static_cast<qsizetype>(kMostRuns));
    if (m_runs.size() < m_chosen.size() && m_stack->currentIndex() == kCurves)
        m_context.toast.say(tr("The first %1 of %2 runs have curves: more could not be told "
                               "apart. Scatter and Parallel coordinates have all")
                                .arg(kMostRuns)
                                .arg(m_chosen.size()));
    settingsOf(m_context).setValue("compare/runs", m_chosen);
    m_context.styles.tellApart(m_runs);
    m_zoom.reset();
    if (m_runs.isEmpty()) {
        m_comparison.reset();
        m_curves->setCurrentIndex(kNoRuns);
        showFacts();
    }
    readFilter();
    m_puller.restart();
    m_lineagePuller.restart();
}

void ComparePage::showLineageOf(const QString& run) {
    const auto read =
        m_context.store.ask([run](StoreReader& reader) { return readLineage(reader, {run}); });
    whenAnswered(read, this, [this, run](const std::vector<LineageRun>& family) {
        QStringList runs{run}; // it has a curve in any case
        for (const LineageRun& each : family)
            runs << each.run.id;
        runs.removeDuplicates();
        m_wantsLineage = true;
        m_lineage->show({}); // that of others is not brought
        showView(kCurves);
        replaceRuns(runs.mid(0, static_cast<qsizetype>(kMostRuns)));
    });
}

void ComparePage::replaceRuns(const QStringList& runs) {
    const QStringList before = m_chosen;
    setRuns(runs);
    const bool areTooMany = m_runs.size() < m_chosen.size(); // which is said in its place
    if (!before.isEmpty() && before != m_chosen && !areTooMany)
        m_context.toast.offer(counted(before.size(), tr("1 other run was compared here"),
                                      tr("%1 other runs were compared here")),
                              tr("Back to them"), [this, before] { setRuns(before); });
}

void ComparePage::showFacts() {
    const auto counted = [](size_t runs) {
        return rm::counted(static_cast<int64_t>(runs), tr("1 run"), tr("%1 runs"));
    };
    if (m_stack->currentIndex() != kCurves) {
        m_header->setFacts(counted(m_valueRuns));
        return;
    }
    if (!m_comparison) {
        m_header->setFacts({});
        return;
    }
    const auto& runs = m_comparison->runs;
    const auto branches = std::ranges::count_if(
        runs, [&](const RunSummary& run) { return m_runs.contains(run.parentRun); });
    QString facts = counted(runs.size());
    if (branches > 0 && branches + 1 == static_cast<int64_t>(runs.size()))
        facts += kSeparator +
                 (branches == 1 ? tr("a run and its branch") : tr("a run and its branches"));
    m_header->setFacts(facts);
}

void ComparePage::refresh() {
    if (!isVisible())
        return;
    m_puller.request();
    m_curvePuller.request();
}

void ComparePage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_puller.request();
    m_lineagePuller.restart();
}

void ComparePage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fit();
    m_curvePuller.request();
}

void ComparePage::fit() {
    const bool isNarrow = width() < kTwoColumns;
    m_columns->setDirection(isNarrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    m_side->setMinimumWidth(isNarrow ? 0 : kSideLeast);
    m_side->setMaximumWidth(isNarrow ? QWIDGETSIZE_MAX : kSideMost);
    m_first->setLeastHeight(std::max(kFirstChartLeast, m_scroll->viewport()->height() / 2));
}

void ComparePage::pull() {
    if (m_runs.isEmpty())
        return;
    QStringList stored = m_runs; // another Ringmaster may have forgotten one
    if (m_context.runs.isLoaded())
        stored.removeIf([this](const QString& run) { return !m_context.runs.find(run); });
    if (stored.isEmpty())
        return;
    m_puller.await(
        m_context.store.ask([ids = stored, nodes = m_context.fleet.nodes()](StoreReader& reader) {
            return compareRuns(reader, {ids.begin(), ids.end()}, nodes);
        }),
        this, [this](const Result<Comparison>& comparison) {
            if (comparison)
                return apply(*comparison);
            const QString why = QString::fromStdString(comparison.error().message);
            if (std::exchange(m_problem, why) != why) // it is asked again
                m_context.toast.say(why);
        });
}

void ComparePage::pullLineage() {
    m_lineagePuller.await(m_context.store.ask([ids = m_runs](StoreReader& reader) {
        return readLineage(reader, {ids.begin(), ids.end()});
    }),
                          this, [this](const std::vector<LineageRun>& lineage) {
                              m_lineage->show(lineage);
                              bringLineage();
                          });
}

/// Once it is there and is wanted.
void ComparePage::bringLineage() {
    if (!m_wantsLineage || !m_comparison || m_lineage->model()->rowCount() == 0)
        return;
    m_wantsLineage = false;
    m_scroll->ensureWidgetVisible(m_lineage);
    m_lineage->setFocus();
}

void ComparePage::apply(const Comparison& comparison) {
    const bool isOther = !m_comparison || !std::ranges::equal(m_comparison->runs, comparison.runs,
                                                              {}, &RunSummary::id, &RunSummary::id);
    m_comparison = comparison;
    m_curves->setCurrentIndex(kTheCurves);
    showFacts();
    if (isOther)
        arrangeKeys();
    arrangeCharts();
    showTables();
    fit();
    bringLineage();
    m_curvePuller.request();
}

void ComparePage::arrangeKeys() {
    QStringList hidden;
    for (const RunKey* key : m_keys)
        if (!key->isDrawn())
            hidden << key->run();
    m_keyGrid->clear();
    m_keys.clear();
    for (size_t at = 0; at < m_comparison->runs.size(); ++at) {
        const RunSummary& run = m_comparison->runs[at];
        auto* key = new RunKey(run, m_context.styles.of(run.id));
        key->setDrawn(!hidden.contains(run.id));
        connect(key, &RunKey::toggled, &m_curvePuller, &Puller::request);
        connect(key, &RunKey::opened, this, [this, id = run.id] { Q_EMIT runChosen(id); });
        connect(
            key, &RunKey::removed, this,
            [this, id = run.id] {
                QStringList others = m_chosen;
                others.removeAll(id);
                setRuns(others);
            },
            Qt::QueuedConnection); // it goes with it
        m_keyGrid->add(key);
        m_keys.push_back(key);
    }
}

/// A chart for each metric that two runs have, or one if there is one run alone.
void ComparePage::arrangeCharts() {
    std::vector<MetricDef> metrics;
    for (const ComparedMetric& metric : m_comparison->metrics) {
        const auto has = [](const auto& extent) { return extent.has_value(); };
        if (std::ranges::count_if(metric.extents, has) >= std::min<long>(2, m_runs.size()))
            metrics.push_back(metric.def);
    }
    if (std::ranges::equal(metrics, m_charts, {}, &MetricDef::name,
                           [](const Shown& shown) { return shown.metric.name; }))
        return;
    m_first->clear();
    m_grid->clear();
    m_charts.clear();
    for (const MetricDef& metric : metrics) {
        const QByteArray name = "compared." + QByteArray::fromStdString(metric.name);
        auto* chart = new LineChart({}, name.constData());
        chart->setTitle(QString::fromStdString(titleOf(metric)),
                        asHtml(QString::fromStdString(metric.name + ": " + metric.description)));
        chart->setMinimumHeight(size::kChartMin);
        connect(chart, &LineChart::zoomRequested, this, &ComparePage::zoomTo);
        connect(chart, &LineChart::resetRequested, this, &ComparePage::resetZoom);
        connect(chart, &LineChart::pointed, this, [this](std::optional<double> x) {
            for (const Shown& each : m_charts)
                each.chart->setPointer(x); // each run has a step of its own there
        });
        connect(chart, &LineChart::menuRequested, this,
                [this, metric](QMenu* menu) { fillExportMenu(*menu, metric); });
        (m_charts.empty() ? m_first : m_grid)->add(chart, 1, m_charts.empty() ? 1 : 0);
        m_charts.push_back({metric, chart});
    }
}

void ComparePage::showTables() {
    if (!m_comparison)
        return;
    const auto fill = [this](ComparisonTable& model, Table& table, auto rows) {
        model.show(m_comparison->runs, std::move(rows));
        table.showWhole(kLeastCell, kMostCell);
        table.setFixedHeight(table.sizeHint().height() +
                             table.horizontalScrollBar()->sizeHint().height());
    };
    const auto differing = differenceRows(*m_comparison, false);
    const auto every = differenceRows(*m_comparison, true);
    m_differenceCount->setText(tr("%1 of %2").arg(differing.size()).arg(every.size()));
    fill(*m_differenceModel, *m_differences, m_all->isChecked() ? every : differing);
    fill(*m_figureModel, *m_figures, figureRows(*m_comparison));
}

bool ComparePage::isDrawn(const QString& run) const {
    return std::ranges::none_of(
        m_keys, [&](const RunKey* key) { return key->run() == run && !key->isDrawn(); });
}

/// The first one and those in sight, as there can be many.
std::vector<MetricDef> ComparePage::metricsToRead() const {
    std::vector<MetricDef> metrics;
    for (const Shown& each : m_charts)
        if (metrics.empty() || !each.chart->visibleRegion().isEmpty())
            metrics.push_back(each.metric);
    return metrics;
}

void ComparePage::pullCurves() {
    if (!m_comparison || m_charts.empty())
        return;
    CurvesQuery query;
    query.metrics = metricsToRead();
    query.all = m_comparison->runs;
    query.axis = m_bar->axis();
    query.alignment = m_alignment;
    query.range = m_zoom;
    query.maxPoints = kPointsPerPixel * std::max(200, m_charts.front().chart->plotWidth());
    query.smoothing = m_bar->smoothing();
    for (const RunSummary& run : m_comparison->runs)
        if (isDrawn(run.id))
            query.runs.push_back({run, m_context.styles.of(run.id)});
    m_curvePuller.await(m_context.store.ask([query = std::move(query)](StoreReader& reader) {
        return readCurves(reader, query);
    }),
                        this, [this](const ComparedCurves& curves) { showCurves(curves); });
}

ChartView ComparePage::view() const {
    ChartView view;
    view.map.axis = m_bar->axis();
    view.logY = m_bar->isLog();
    const double room = (m_dataEnd - m_dataBegin) * kRightRoom;
    std::tie(view.low, view.high) = m_zoom.value_or(std::pair(m_dataBegin, m_dataEnd + room));
    return view;
}

/// Where runs lie over each other.
std::vector<Mark> ComparePage::marks() const {
    switch (m_bar->axis() == XAxis::kWall ? Alignment::At::kStart : m_alignment.at) {
    case Alignment::At::kStart:
        return {};
    case Alignment::At::kBranch:
        return {{.text = tr("where the branches left")}};
    case Alignment::At::kValue:
        return {{.text = tr("where %1 passes %2")
                             .arg(QString::fromStdString(m_alignment.metric),
                                  formatFigure(m_alignment.value))}};
    }
    Q_UNREACHABLE();
}

void ComparePage::showCurves(const ComparedCurves& answer) {
    double begin = qInf(), end = -qInf();
    for (const auto& [metric, curves] : answer.charts)
        for (const Curve& curve : curves)
            if (!curve.x.isEmpty()) {
                begin = std::min(begin, curve.x.front());
                end = std::max(end, curve.x.back());
            }
    if (!m_zoom && begin < end) { // when zoomed, only a part was read
        const bool isFromStart =
            m_bar->axis() == XAxis::kStep && m_alignment.at == Alignment::At::kStart;
        m_dataBegin = isFromStart ? std::max(0.0, begin - 1) : begin;
        m_dataEnd = end;
    }
    m_bar->setWork(answer.units);
    nameWindow(answer);
    nameMissing(answer.missing);
    const ChartView common = view();
    for (const auto& [metric, curves] : answer.charts)
        for (const Shown& each : m_charts)
            if (each.metric.name == metric) {
                each.chart->setEmptyText(curves.empty() && !answer.missing.empty()
                                             ? tr("None of the runs has a line on this axis")
                                             : QString());
                each.chart->show(curves, common);
                each.chart->setMarks(marks());
            }
}

/// What the smoothing spans in each of the runs: it grows with their lengths.
void ComparePage::nameWindow(const ComparedCurves& answer) {
    double least = qInf(), most = 0;
    if (!answer.charts.empty())
        for (const Curve& curve : answer.charts.front().curves) {
            least = std::min(least, curve.window);
            most = std::max(most, curve.window);
        }
    m_bar->setWindow(std::min(least, most), most);
}

/// Each reason once; the tooltip has it for each run.
void ComparePage::nameMissing(const std::vector<MissingCurve>& missing) {
    QStringList reasons, all;
    for (const auto& [text, others] : reasonsOf(missing))
        reasons << (others == 0
                        ? text
                        : tr("%1; likewise %2")
                              .arg(text, counted(others, tr("1 other run"), tr("%1 other runs"))));
    for (const MissingCurve& each : missing)
        all << each.why;
    m_missing->setText(reasons.empty() ? QString() : tr("Not drawn: %1").arg(reasons.join("; ")));
    m_missing->setToolTip(asPlain(all.join('\n')));
    m_missing->setVisible(!reasons.empty());
}

void ComparePage::fillAddMenu() {
    auto* menu = m_add->findChild<QMenu*>("addComparedMenu");
    menu->clear();
    size_t offered = 0;
    const QSet<QString> chosen(m_chosen.begin(), m_chosen.end());
    for (const RunSummary& run : m_context.runs.runs())
        if (!isPutAway(run) && !chosen.contains(run.id) && offered++ < kMostOffered)
            menu->addAction(tr("%1 (%2)").arg(inMenu(run.name), run.id), this,
                            [this, id = run.id] { setRuns(QStringList(m_chosen) << id); });
    if (menu->isEmpty())
        menu->addAction(tr("There is no other run"))->setEnabled(false);
    else if (offered > kMostOffered)
        menu->addAction(tr("All runs"), this, &ComparePage::chooseRequested);
}

/// A picture is of what the chart shows, numbers are of all that the drawn runs have.
void ComparePage::fillExportMenu(QMenu& menu, const MetricDef& metric) {
    QMenu* formats = menu.addMenu(tr("Export"));
    for (const PictureFormat format : kPictureFormats)
        formats
            ->addAction(pictureFormatWords(format), this,
                        [this, format, metric] { exportPicture(metric, format); })
            ->setObjectName(QString("export.") + endingOf(format));
    QAction* samples = formats->addAction(tr("CSV, every sample of these runs"), this,
                                          [this, metric] { exportSamples(metric); });
    samples->setObjectName("export.csv");
    samples->setEnabled(std::ranges::any_of(m_keys, &RunKey::isDrawn));
}

void ComparePage::exportPicture(const MetricDef& metric, PictureFormat format) {
    const auto shown = std::ranges::find(m_charts, metric.name,
                                         [](const Shown& each) { return each.metric.name; });
    if (shown == m_charts.end())
        return;
    const QString title = QString::fromStdString(titleOf(metric));
    LineChart picture(title, "exportedChart");
    picture.show(shown->chart->curves(), shown->chart->view());
    picture.setMarks(marks());
    askExport(m_context, window(),
              pictureExport(
                  tr("Export %1").arg(title), "compareExportDialog",
                  exportFileName("compared", QString::fromStdString(metric.name), endingOf(format)),
                  pictureOf(picture, format)));
}

void ComparePage::exportSamples(const MetricDef& metric) {
    QStringList drawn = m_runs;
    drawn.removeIf([this](const QString& run) { return !isDrawn(run); });
    askExport(m_context, window(),
              {tr("Export %1").arg(QString::fromStdString(titleOf(metric))), "compareExportDialog",
               exportFileName("compared", QString::fromStdString(metric.name), "csv"),
               [drawn, name = metric.name](StoreReader& reader, const QString& path) {
                   return exportCsv(reader, drawn, path, {.metrics = {name}, .namesRuns = true});
               },
               [](int64_t rows) { return counted(rows, tr("1 sample"), tr("%1 samples")); }});
}

void ComparePage::zoomTo(double low, double high) {
    m_zoom = {low, high};
    m_curvePuller.request();
}

void ComparePage::resetZoom() {
    m_zoom.reset();
    m_curvePuller.request();
}

} // namespace rm
