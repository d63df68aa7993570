// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/charts_tab.h"

#include "app/core/settings/paths.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/format.h"
#include "app/ui/models/timeline_view.h"
#include "app/ui/plot/heat_map.h"
#include "app/ui/theme.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/reflow_grid.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QSettings>
#include <QSlider>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr int kPullMs = 40;
constexpr int kHeatPullMs = 1000;
constexpr int kSliderTop = 99;
constexpr int kSliderWidth = 110;
constexpr int kPointsPerPixel = 2;
constexpr double kRightRoom = 0.01;
constexpr int64_t kWidestWindow = 88'888; ///< steps, in words
constexpr double kJumpShare = 0.1;        ///< of the whole run, around an event

QSettings settingsOf(const AppContext& context) {
    return {context.paths.config + "/settings.ini", QSettings::IniFormat};
}

} // namespace

ChartsTab::ChartsTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this)
    , m_heatPuller(kHeatPullMs, this) {
    buildUi();
    wire();
    restore();
}

void ChartsTab::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    m_grid = new ReflowGrid(3, size::kColumnMin);
    buildCharts();
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(m_grid);
    column->addWidget(scroll);
    buildControls();
}

void ChartsTab::buildCharts() {
    const auto add = [this](Panel panel, const QString& title, const char* name, int span,
                            int stretch) {
        auto* chart = new LineChart(title, name);
        chart->setMinimumHeight(size::kChartMin);
        m_charts[static_cast<size_t>(panel)] = chart;
        m_grid->add(chart, span, stretch);
        return chart;
    };
    add(Panel::kLoss, "loss", "chartLoss", 2, 6);
    add(Panel::kQuality, {}, "chartQuality", 0, 6);
    add(Panel::kLr, "train/lr", "chartLr", 1, 6)->setFromZero(true);
    add(Panel::kGradNorm, "train/grad_norm", "chartGradNorm", 1, 4);
    add(Panel::kThroughput, {}, "chartThroughput", 1, 4)->setFromZero(true);
    add(Panel::kPhases, tr("phases (ms)"), "chartPhases", 1, 4)->setFromZero(true);
    m_heat = new HeatMap;
    m_grid->add(m_heat, 2, 5);
    m_grid->add(buildEvents(), 1, 5);
}

QWidget* ChartsTab::buildEvents() {
    auto* card = new Card;
    card->setMinimumHeight(size::kChartMin);
    card->body()->setContentsMargins(1, 9, 1, 6);
    QLabel* title = makeLabel(tr("Events"), "chartTitle");
    title->setContentsMargins(13, 0, 13, 0);
    card->body()->addWidget(title);
    m_noEvents = makeText(tr("Nothing has happened yet."), "bodySecondary");
    m_noEvents->setContentsMargins(13, 0, 13, 0);
    m_noEvents->setAlignment(Qt::AlignCenter);
    m_events = new TimelineView;
    card->body()->addWidget(m_noEvents, 1);
    card->body()->addWidget(m_events, 1);
    return card;
}

void ChartsTab::buildControls() {
    m_controls = new QWidget;
    auto* row = new QHBoxLayout(m_controls);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2 * size::kGrid);
    m_smoothingText = makeLabel({}, "secondary");
    m_smoothing = new QSlider(Qt::Horizontal);
    m_smoothing->setObjectName("smoothing");
    m_smoothing->setAccessibleName(tr("Smoothing"));
    m_smoothing->setRange(0, kSliderTop);
    m_smoothing->setFixedWidth(kSliderWidth);
    m_axis = new QComboBox;
    m_axis->setObjectName("xAxis");
    m_axis->setAccessibleName(tr("Horizontal axis"));
    m_axis->setProperty("role", "quiet");
    m_axis->addItems({tr("x: step"), tr("x: relative time"), tr("x: wall clock")});
    m_log = makeButton(tr("log"), "quiet", "logScale");
    m_log->setAccessibleName(tr("Logarithmic vertical axis"));
    m_log->setToolTip(m_log->accessibleName());
    m_log->setCheckable(true);
    m_abandoned = makeButton(tr("abandoned"), "quiet", "abandonedLines");
    m_abandoned->setCheckable(true);
    m_abandoned->setToolTip(tr("Show what attempts made behind the step that a later one went on "
                               "from: thin, with its marks on it"));
    m_follow = makeButton(tr("follow"), "quiet", "follow");
    m_follow->setCheckable(true);
    m_follow->setToolTip(tr("Show everything up to the newest step; drag over a chart to zoom"));
    for (QWidget* widget : std::initializer_list<QWidget*>{m_smoothingText, m_smoothing, m_axis,
                                                           m_abandoned, m_log, m_follow})
        row->addWidget(widget);
}

void ChartsTab::wire() {
    connect(&m_puller, &Puller::pull, this, &ChartsTab::pull);
    connect(&m_heatPuller, &Puller::pull, this, &ChartsTab::pullHeat);
    for (LineChart* chart : m_charts) {
        connect(chart, &LineChart::zoomAsked, this, &ChartsTab::zoomTo);
        connect(chart, &LineChart::resetAsked, this, &ChartsTab::resetZoom);
        connect(chart, &LineChart::pointed, this, [this](std::optional<double> x) {
            for (LineChart* each : m_charts)
                each->setPointer(x);
        });
    }
    connect(m_events, &TimelineView::momentChosen, this, &ChartsTab::jumpTo);
    wireControls();
}

void ChartsTab::wireControls() {
    connect(m_smoothing, &QSlider::valueChanged, this, [this](int value) {
        settingsOf(m_context).setValue("charts/smoothing", value);
        nameSmoothing();
        m_puller.request();
    });
    connect(m_axis, &QComboBox::currentIndexChanged, this, &ChartsTab::resetZoom);
    connect(m_log, &QPushButton::toggled, &m_puller, &Puller::request);
    connect(m_abandoned, &QPushButton::toggled, this, [this](bool shown) {
        settingsOf(m_context).setValue("charts/abandoned", shown);
        m_puller.request();
    });
    connect(m_follow, &QPushButton::clicked, this, [this](bool follow) {
        if (follow)
            resetZoom();
        else
            zoomTo(wholeRange().first, wholeRange().second);
    });
}

void ChartsTab::restore() {
    m_smoothing->setValue(settingsOf(m_context).value("charts/smoothing", 93).toInt());
    m_abandoned->setChecked(settingsOf(m_context).value("charts/abandoned", true).toBool());
    m_follow->setChecked(true);
    nameSmoothing();
}

/// How strong it is, and how many steps that makes.
void ChartsTab::nameSmoothing() {
    const auto words = [](double weight, int64_t window) {
        return window > 0
                   ? tr("smoothing %1 · %2 steps").arg(weight, 0, 'f', 2).arg(formatCount(window))
                   : tr("smoothing %1").arg(weight, 0, 'f', 2);
    };
    const QFontMetrics metrics(Theme::instance().font(FontRole::kSecondary));
    m_smoothingText->setMinimumWidth(metrics.horizontalAdvance(words(0.88, kWidestWindow)));
    m_smoothingText->setText(words(m_smoothing->value() / 100.0, std::llround(m_window)));
    m_smoothing->setToolTip(
        tr("%1: the average reaches back about that far").arg(m_smoothingText->text()));
}

void ChartsTab::setCompact(bool compact) {
    m_smoothingText->setVisible(!compact);
}

void ChartsTab::setRun(const QString& run) {
    m_run = run;
    m_detail = {};
    m_dataEnd = 0;
    m_parentBegin.reset();
    m_zoom.reset();
    m_chosen.reset();
    m_follow->setChecked(true);
    for (LineChart* chart : m_charts) {
        chart->selectMark(std::nullopt);
        chart->show({}, view());
    }
    m_heat->show({});
    m_puller.restart();
    m_heatPuller.restart();
}

void ChartsTab::show(const RunDetail& detail) {
    m_detail = detail;
    if (!detail.run)
        return;
    std::vector<Moment> moments = timelineOf(*detail.run, detail.history);
    m_noEvents->setVisible(moments.empty());
    m_events->setVisible(!moments.empty());
    m_events->setMoments(std::move(moments));
    for (LineChart* chart : m_charts)
        chart->setMarks(marks());
    m_abandoned->setVisible(std::ranges::any_of(
        detail.history.lines, [](const StoredLine& line) { return line.retiredBy != 0; }));
    const bool first = !m_heat->isFilled();
    m_puller.request();
    if (first)
        m_heatPuller.restart();
    else
        m_heatPuller.request();
}

void ChartsTab::refresh() {
    if (!isVisible())
        return;
    m_puller.request();
    m_heatPuller.request();
}

void ChartsTab::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_puller.request();
}

void ChartsTab::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_puller.request();
}

ChartQuery ChartsTab::query() const {
    const RunSummary& run = *m_detail.run;
    ChartQuery query{.run = m_run, .ranks = run.ranks, .lastStep = run.step};
    query.startNs = view().startNs;
    query.axis = static_cast<XAxis>(m_axis->currentIndex());
    query.range = m_zoom;
    query.maxPoints = kPointsPerPixel * std::max(200, m_charts.front()->plotWidth());
    query.smoothing = m_smoothing->value() / 100.0;
    query.abandoned = m_abandoned->isChecked();
    query.panels = {Panel::kLoss,     Panel::kQuality,    Panel::kLr,
                    Panel::kGradNorm, Panel::kThroughput, Panel::kPhases};
    return query;
}

void ChartsTab::pull() {
    if (!m_detail.run)
        return;
    m_puller.await(m_context.store.ask([query = query()](StoreReader& reader) {
        return readPanels(reader, query);
    }),
                   this, [this](const std::vector<PanelCurves>& panels) { apply(panels); });
}

void ChartsTab::pullHeat() {
    if (!m_detail.run)
        return;
    const HeatQuery query{*m_detail.run, view().startNs, view().axis, m_zoom};
    m_heatPuller.await(
        m_context.store.ask([query](StoreReader& reader) { return readHeat(reader, query); }), this,
        [this](const HeatData& heat) { m_heat->show(heat); });
}

ChartView ChartsTab::view() const {
    ChartView view;
    view.axis = static_cast<XAxis>(m_axis->currentIndex());
    const auto& attempts = m_detail.history.attempts;
    if (!attempts.empty() && attempts.front().hasStarted)
        view.startNs = attempts.front().startedNs;
    else if (m_detail.run)
        view.startNs = m_detail.run->createdNs;
    const auto [low, high] = m_zoom.value_or(wholeRange());
    view.low = low;
    view.high = high;
    return view;
}

/// From where the run began, or what it was branched from where that is drawn.
std::pair<double, double> ChartsTab::wholeRange() const {
    const auto axis = static_cast<XAxis>(m_axis->currentIndex());
    double low = 0;
    if (axis == XAxis::kWall && m_detail.run)
        low = xOf(axis, 0, 0, m_detail.run->createdNs);
    if (axis == XAxis::kStep && !m_detail.history.attempts.empty())
        low =
            static_cast<double>(std::max<int64_t>(0, m_detail.history.attempts.front().startStep));
    low = std::min(low, m_parentBegin.value_or(low));
    const double high = std::max(m_dataEnd, low + 1);
    return {low, high + (high - low) * kRightRoom};
}

void ChartsTab::apply(const std::vector<PanelCurves>& panels) {
    if (!m_zoom) { // else only a part of it is here
        m_dataEnd = 0;
        m_parentBegin.reset();
    }
    for (const PanelCurves& panel : panels)
        for (const Curve& curve : panel.curves) {
            if (curve.x.isEmpty())
                continue;
            m_dataEnd = std::max(m_dataEnd, curve.x.back());
            if (curve.past == Past::kParent) // its first sample is one step behind its begin
                m_parentBegin =
                    std::max(0.0, std::min(m_parentBegin.value_or(qInf()), curve.x.front() - 1));
        }
    ChartView common = view();
    for (const PanelCurves& panel : panels) {
        LineChart* chart = m_charts[static_cast<size_t>(panel.panel)];
        if (panel.panel == Panel::kThroughput && !panel.curves.empty())
            chart->setTitle(tr("%1 per rank").arg(panel.curves.front().name.section('/', 1)));
        if (panel.panel == Panel::kLoss)
            m_window = panel.curves.front().window;
        if (panel.panel == Panel::kQuality)
            showQuality(panel.curves);
        common.logY = m_log->isChecked() && panel.panel != Panel::kLr;
        chart->show(panel.curves, common);
        chart->setMarks(marks());
    }
    nameSmoothing();
}

/// Beside the loss, where validation has more to say.
void ChartsTab::showQuality(const std::vector<Curve>& curves) {
    QStringList names;
    for (const Curve& curve : curves)
        names << (names.isEmpty() ? curve.name : curve.name.section('/', 1));
    LineChart* quality = m_charts[static_cast<size_t>(Panel::kQuality)];
    quality->setTitle(names.join(kSeparator));
    m_grid->setSpan(m_charts[static_cast<size_t>(Panel::kLoss)], curves.empty() ? 2 : 1);
    m_grid->setSpan(quality, curves.empty() ? 0 : 1);
}

std::vector<Mark> ChartsTab::marks() const {
    std::vector<Mark> marks = chartMarks(m_detail.history);
    if (m_chosen && std::ranges::find(marks, *m_chosen) == marks.end())
        marks.push_back(*m_chosen);
    return marks;
}

/// Moves all charts to where it happened, no closer than they are.
void ChartsTab::jumpTo(Moment moment) {
    if (moment.step < 0) {
        const auto step = m_context.store.ask([run = m_run, ns = moment.wallNs](StoreReader& r) {
            return stepAt(r, run, ns).value_or(0);
        });
        whenAnswered(step, this, [this, run = m_run, moment](int64_t found) mutable {
            moment.step = found;
            if (run == m_run)
                jumpTo(moment);
        });
        return;
    }
    m_chosen = moment;
    for (LineChart* chart : m_charts)
        chart->selectMark(moment.step);
    const auto [first, last] = wholeRange();
    const double width = m_zoom ? m_zoom->second - m_zoom->first : (last - first) * kJumpShare;
    const double x = xOf(view().axis, view().startNs, moment.step, moment.wallNs);
    const double low = std::clamp(x - width / 2, first, std::max(first, last - width));
    zoomTo(low, low + width);
}

void ChartsTab::zoomTo(double low, double high) {
    m_zoom = {low, high};
    m_follow->setChecked(false);
    m_puller.request();
    m_heatPuller.restart();
}

void ChartsTab::resetZoom() {
    m_zoom.reset();
    m_follow->setChecked(true);
    m_puller.request();
    m_heatPuller.restart();
}

} // namespace rm
