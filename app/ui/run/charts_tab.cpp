// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/charts_tab.h"

#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/chart_bar.h"
#include "app/ui/plot/heat_map.h"
#include "app/ui/run/timeline_view.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/reflow_grid.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kHeatPullMs = 1000;
constexpr int kPointsPerPixel = 2;
constexpr double kRightRoom = 0.01;
constexpr double kJumpShare = 0.1; ///< of the whole run, around an event
constexpr int kColumns = 3;
constexpr int kTallRow = 6, kMiddleRow = 5, kRow = 4; ///< shares of the height
constexpr size_t kMostMore = 120;                     ///< charts besides the main ones

/// "grad_norm" -> "chartGradNorm"
QByteArray objectNameOf(const QString& panel) {
    QString name = "chart";
    bool begins = true;
    for (const QChar c : panel) {
        if (c.isLetterOrNumber())
            name += begins ? c.toUpper() : c;
        begins = !c.isLetterOrNumber();
    }
    return name.toUtf8();
}

QString explanationOf(const ChartPanel& panel) {
    QStringList lines;
    for (const MetricDef& metric : panel.metrics)
        lines << QString::fromStdString(metric.name + ": " + metric.description);
    return asHtml(lines.join('\n'));
}

QSettings settingsOf(const AppContext& context) {
    return {context.paths.settings(), QSettings::IniFormat};
}

} // namespace

ChartsTab::ChartsTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this)
    , m_heatPuller(kHeatPullMs, this)
    , m_exactPuller(kExactMs, this) {
    buildUi();
    wire();
    restore();
}

void ChartsTab::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    auto* page = new QWidget;
    auto* parts = new QVBoxLayout(page);
    parts->setContentsMargins(0, 0, 0, 0);
    parts->setSpacing(size::kCardGap);
    buildMain();
    buildMore();
    for (QWidget* part : std::initializer_list<QWidget*>{m_main, m_moreTitle, m_more})
        parts->addWidget(part);
    m_scroll = new QScrollArea;
    m_scroll->setObjectName("chartsScroll");
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setFocusPolicy(Qt::NoFocus);
    m_scroll->setWidget(page);
    column->addWidget(m_scroll);
    buildControls();
}

void ChartsTab::buildMain() {
    m_main = new ReflowGrid(kColumns, size::kColumnMin);
    for (const MetricPanel& row : metricPanels()) {
        if (!row.isMain)
            continue;
        LineChart* chart = makeChart(QString::fromStdString(row.key));
        m_main->add(chart, row.isStanding ? 1 : 0, m_charts.size() <= kColumns ? kTallRow : kRow);
    }
    m_heat = new HeatMap;
    m_main->add(m_heat, kColumns - 1, kMiddleRow);
    QWidget* events = buildEvents();
    m_main->add(events, 1, kMiddleRow);
    m_main->setFilling(events); // its lines are long
    m_mainCharts = m_charts.size();
}

void ChartsTab::buildMore() {
    m_moreTitle = makeLabel({}, "secondary");
    m_moreTitle->setObjectName("moreCharts");
    m_moreTitle->hide();
    m_more = new ReflowGrid(kColumns, size::kColumnMin);
    m_more->hide();
}

LineChart* ChartsTab::makeChart(const QString& panel) {
    auto* chart = new LineChart({}, objectNameOf(panel).constData());
    chart->setMinimumHeight(size::kChartMin);
    connect(chart, &LineChart::zoomRequested, this, &ChartsTab::zoomTo);
    connect(chart, &LineChart::resetRequested, this, &ChartsTab::resetZoom);
    chart->setEmptyText(m_missing);
    connect(chart, &LineChart::pointed, this, &ChartsTab::point);
    m_charts.push_back({panel, chart});
    return chart;
}

LineChart* ChartsTab::chartOf(const QString& panel) const {
    const auto found = std::ranges::find(m_charts, panel, &Shown::panel);
    return found != m_charts.end() ? found->chart : nullptr;
}

QWidget* ChartsTab::buildEvents() {
    auto* card = new Card;
    card->setMinimumHeight(size::kChartMin);
    card->body()->setContentsMargins(1, 9, 1, 6);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(13, 0, 7, 0);
    head->addWidget(makeLabel(tr("Events"), "chartTitle"), 1);
    QPushButton* commands = makeButton(tr("Commands"), "quiet", "showCommands");
    commands->setToolTip(tr("What was asked of this run, by whom, and what became of it"));
    connect(commands, &QPushButton::clicked, this, &ChartsTab::commandsRequested);
    head->addWidget(commands);
    card->body()->addLayout(head);
    m_noEvents = makeText(tr("Nothing has happened yet."), "bodySecondary");
    m_noEvents->setContentsMargins(13, 0, 13, 0);
    m_noEvents->setAlignment(Qt::AlignCenter);
    m_events = new TimelineView;
    card->body()->addWidget(m_noEvents, 1);
    card->body()->addWidget(m_events, 1);
    return card;
}

void ChartsTab::buildControls() {
    m_bar = new ChartBar(m_context.paths.settings(), "charts");
    m_abandoned = makeButton(tr("set aside"), "quiet", "abandonedLines");
    m_abandoned->setCheckable(true);
    m_abandoned->setToolTip(
        tr("Show the steps that a later attempt has set aside, as it went on from "
           "an earlier one: thin, with their marks"));
    m_follow = makeButton(tr("follow"), "quiet", "follow");
    m_follow->setCheckable(true);
    m_follow->setToolTip(tr("Show everything up to the newest step; drag over a chart to zoom"));
    m_bar->add(m_abandoned);
    m_bar->add(m_follow);
}

QWidget* ChartsTab::controls() const {
    return m_bar;
}

void ChartsTab::wire() {
    connect(&m_puller, &Puller::pull, this, &ChartsTab::pull);
    connect(&m_heatPuller, &Puller::pull, this, &ChartsTab::pullHeat);
    connect(&m_exactPuller, &Puller::pull, this, &ChartsTab::pullExact);
    connect(m_scroll->verticalScrollBar(), &QScrollBar::valueChanged, &m_puller, &Puller::request);
    connect(m_events, &TimelineView::momentChosen, this, &ChartsTab::jumpTo);
    wireControls();
}

void ChartsTab::wireControls() {
    connect(m_bar, &ChartBar::smoothingChanged, &m_puller, &Puller::request);
    connect(m_bar, &ChartBar::axisChanged, this, &ChartsTab::resetZoom);
    connect(m_bar, &ChartBar::logChanged, &m_puller, &Puller::request);
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
    m_abandoned->setChecked(settingsOf(m_context).value("charts/abandoned", true).toBool());
    m_follow->setChecked(true);
}

void ChartsTab::setCompact(bool compact) {
    m_bar->setCompact(compact);
}

void ChartsTab::showSlider(bool shown) {
    m_bar->showSlider(shown);
}

void ChartsTab::setRun(const QString& run) {
    m_run = run;
    m_detail = {};
    m_dataEnd = 0;
    m_map = {};
    m_missing.clear();
    m_pointedStep.reset();
    m_parentBegin.reset();
    m_zoom.reset();
    m_chosen.reset();
    m_follow->setChecked(true);
    m_scroll->verticalScrollBar()->setValue(0);
    showMore({}); // another run may report other metrics
    for (const Shown& each : m_charts) {
        each.chart->selectMark(std::nullopt);
        each.chart->setPointer(std::nullopt);
        each.chart->showExact(0, {});
        each.chart->show({}, view());
    }
    m_heat->show({});
    m_puller.restart();
    m_heatPuller.restart();
    m_exactPuller.restart();
}

void ChartsTab::show(const RunDetail& detail) {
    m_detail = detail;
    if (!detail.run)
        return;
    std::vector<Moment> moments = timelineOf(*detail.run, detail.history);
    m_noEvents->setVisible(moments.empty());
    m_events->setVisible(!moments.empty());
    m_events->setMoments(std::move(moments));
    for (const Shown& each : m_charts)
        each.chart->setMarks(marks());
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
    fitMain();
    m_puller.request();
}

/// The main charts fill the visible height, except for the heading of the charts below.
void ChartsTab::fitMain() {
    const int head = morePanels().empty() ? 0 : m_moreTitle->sizeHint().height() + size::kCardGap;
    m_main->setLeastHeight(std::max(0, m_scroll->viewport()->height() - head));
}

/// The main charts, and the visible ones of the others, which can be many.
std::vector<QString> ChartsTab::panelsToRead() const {
    std::vector<QString> panels;
    for (size_t i = 0; i < m_charts.size(); ++i)
        if (i < m_mainCharts || !m_charts[i].chart->visibleRegion().isEmpty())
            panels.push_back(m_charts[i].panel);
    return panels;
}

ChartQuery ChartsTab::query() const {
    ChartQuery query = queryOf(*m_detail.run);
    query.map = view().map;
    query.range = m_zoom;
    query.maxPoints = kPointsPerPixel * std::max(200, m_charts.front().chart->plotWidth());
    query.smoothing = m_bar->smoothing();
    query.abandoned = m_abandoned->isChecked();
    query.panels = panelsToRead();
    return query;
}

void ChartsTab::pull() {
    if (!m_detail.run)
        return;
    m_puller.await(m_context.store.ask([run = *m_detail.run, query = query()](StoreReader& reader) {
        return read(reader, run, query);
    }),
                   this, [this](const Answer& answer) { applyAnswer(answer); });
}

/// Worker thread.
ChartsTab::Answer ChartsTab::read(StoreReader& reader, const RunSummary& run, ChartQuery query) {
    Answer answer{query.map, {}, workUnit(reader, run.id), {}};
    if (auto map = axisOf(reader, run, query.map.axis, query.map.startNs))
        answer.map = query.map = *map;
    else
        answer.missing = QString::fromStdString(map.error().message);
    answer.panels = readPanels(reader, query);
    if (!answer.missing.isEmpty())
        for (PanelCurves& panel : answer.panels)
            panel.curves.clear();
    return answer;
}

void ChartsTab::applyAnswer(const Answer& answer) {
    m_bar->setWork({answer.unit});
    if (answer.map.axis != m_bar->axis())
        return; // another axis was chosen meanwhile, which is being read
    m_map = answer.map;
    if (std::exchange(m_missing, answer.missing) != answer.missing)
        for (const Shown& each : m_charts)
            each.chart->setEmptyText(m_missing);
    apply(answer.panels);
}

void ChartsTab::pullHeat() {
    if (!m_detail.run)
        return;
    const AxisMap map = view().map;
    HeatQuery query{*m_detail.run, map.startNs, map.axis, m_zoom};
    if (!isTime(map.axis)) {
        query.axis = XAxis::kStep;
        if (m_zoom)
            query.range = {stepOf(map, m_zoom->first), stepOf(map, m_zoom->second)};
    }
    m_heatPuller.await(
        m_context.store.ask([query](StoreReader& reader) { return readHeat(reader, query); }), this,
        [this](const HeatData& heat) { m_heat->show(heat); });
}

/// All charts show the values of that step: at once those of the drawn points near it, and soon
/// what was measured there.
void ChartsTab::point(std::optional<double> x, std::optional<double> step) {
    for (const Shown& each : m_charts)
        each.chart->setPointer(x, step);
    if (std::exchange(m_pointedStep, step) != step && step)
        m_exactPuller.request();
}

void ChartsTab::pullExact() {
    if (!m_detail.run || !m_pointedStep)
        return;
    const double step = *m_pointedStep;
    ChartQuery query = this->query();
    query.map = {};
    query.range = {step, step};
    query.abandoned = false;
    m_exactPuller.await(
        m_context.store.ask([query](StoreReader& reader) { return readPanels(reader, query); }),
        this, [this, step](const std::vector<PanelCurves>& panels) {
            for (const PanelCurves& each : panels)
                if (LineChart* chart = chartOf(each.panel.key); chart && each.isRead)
                    chart->showExact(step, each.curves);
        });
}

ChartView ChartsTab::view() const {
    ChartView view;
    if (m_map.axis == m_bar->axis())
        view.map = m_map;
    view.map.axis = m_bar->axis();
    const auto& attempts = m_detail.history.attempts;
    if (!attempts.empty() && attempts.front().hasStarted)
        view.map.startNs = attempts.front().startedNs;
    else if (m_detail.run)
        view.map.startNs = m_detail.run->createdNs;
    const auto [low, high] = m_zoom.value_or(wholeRange());
    view.low = low;
    view.high = high;
    return view;
}

/// From the start of the run, or of its parent if that is drawn, to the newest point.
std::pair<double, double> ChartsTab::wholeRange() const {
    const AxisMap map = m_map.axis == m_bar->axis() ? m_map : AxisMap{m_bar->axis()};
    double low = 0;
    if (map.axis == XAxis::kWall && m_detail.run)
        low = xOf(map, 0, m_detail.run->createdNs);
    if (!isTime(map.axis) && !m_detail.history.attempts.empty())
        low = xOf(map, std::max<int64_t>(0, m_detail.history.attempts.front().startStep), 0);
    low = std::min(low, m_parentBegin.value_or(low));
    const double least = map.axis == XAxis::kEpoch ? map.scale.perStep : 1;
    const double high = std::max(m_dataEnd, low + least);
    return {low, high + (high - low) * kRightRoom};
}

void ChartsTab::apply(const std::vector<PanelCurves>& panels) {
    if (!m_zoom) { // when zoomed, only a part was read
        m_dataEnd = 0;
        m_parentBegin.reset();
    }
    for (const PanelCurves& panel : panels)
        for (const Curve& curve : panel.curves) {
            if (curve.x.isEmpty())
                continue;
            m_dataEnd = std::max(m_dataEnd, curve.x.back());
            if (curve.past == Past::kParent) // its first sample is of the step after its begin
                m_parentBegin =
                    std::max(0.0, std::min(m_parentBegin.value_or(qInf()), curve.x.front() - 1));
        }
    if (!panels.empty() && !panels.front().curves.empty())
        m_bar->setWindow(panels.front().curves.front().window);
    showMain(panels);
    showMore(panels);
    showAll(panels);
}

void ChartsTab::showAll(const std::vector<PanelCurves>& panels) {
    const ChartView common = view();
    bool missing = false;
    for (const PanelCurves& each : panels) {
        LineChart* chart = chartOf(each.panel.key);
        if (!chart)
            continue;
        chart->setTitle(each.panel.title, explanationOf(each.panel));
        chart->setFromZero(each.panel.fromZero);
        missing = missing || (!each.isRead && !chart->visibleRegion().isEmpty());
        if (!each.isRead)
            continue;
        ChartView view = common;
        view.logY = m_bar->isLog() && each.panel.canBeLog;
        chart->show(each.curves, view);
        chart->setMarks(marks());
    }
    if (missing) // charts that have come into sight meanwhile
        m_puller.request();
}

/// The first chart takes the room of charts in its row that have no data.
void ChartsTab::showMain(const std::vector<PanelCurves>& panels) {
    int room = kColumns;
    for (size_t i = m_mainCharts; i-- > 1;) {
        const bool isThere = std::ranges::any_of(
            panels, [&](const PanelCurves& each) { return each.panel.key == m_charts[i].panel; });
        m_main->setSpan(m_charts[i].chart, isThere ? 1 : 0);
        if (!isThere) {
            m_charts[i].chart->setTitle({});
            m_charts[i].chart->show({}, view());
        }
        room -= isThere && i < kColumns ? 1 : 0;
    }
    m_main->setSpan(m_charts.front().chart, room);
}

/// Adds charts for reported metrics outside the main part, and removes those without any.
void ChartsTab::showMore(const std::vector<PanelCurves>& panels) {
    std::vector<QString> keys;
    for (const PanelCurves& each : panels)
        if (!each.panel.isMain)
            keys.push_back(each.panel.key);
    const size_t left = keys.size() - std::min(keys.size(), kMostMore);
    keys.resize(keys.size() - left);
    if (keys != morePanels()) {
        arrangeMore(keys);
        m_puller.request(); // charts that are now visible have not been read
    }
    m_moreTitle->setText(
        left == 0 ? tr("Everything else that the run reports")
                  : tr("Everything else that the run reports; %1 more: ringmaster export")
                        .arg(counted(static_cast<int64_t>(left), tr("1 chart"), tr("%1 charts"))));
    m_moreTitle->setVisible(!keys.empty());
    m_more->setVisible(!keys.empty());
    fitMain();
}

/// The charts that are not main ones, in their order.
std::vector<QString> ChartsTab::morePanels() const {
    std::vector<QString> panels;
    for (size_t i = m_mainCharts; i < m_charts.size(); ++i)
        panels.push_back(m_charts[i].panel);
    return panels;
}

void ChartsTab::arrangeMore(const std::vector<QString>& panels) {
    std::vector<Shown> before(m_charts.begin() + static_cast<std::ptrdiff_t>(m_mainCharts),
                              m_charts.end());
    m_charts.resize(m_mainCharts);
    for (const Shown& each : before)
        m_more->take(each.chart);
    for (const QString& panel : panels) {
        const auto known = std::ranges::find(before, panel, &Shown::panel);
        LineChart* chart = nullptr;
        if (known != before.end()) {
            chart = known->chart;
            m_charts.push_back(*known);
            before.erase(known);
        } else {
            chart = makeChart(panel);
        }
        m_more->add(chart, 1, kRow);
    }
    for (const Shown& gone : before)
        gone.chart->deleteLater();
}

std::vector<Mark> ChartsTab::marks() const {
    std::vector<Mark> marks = chartMarks(m_detail.history);
    if (m_chosen && std::ranges::find(marks, *m_chosen) == marks.end())
        marks.push_back(*m_chosen);
    return marks;
}

/// Moves all charts to the event, with their zoom or, without one, showing a tenth of the run.
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
    for (const Shown& each : m_charts)
        each.chart->selectMark(moment.step);
    const auto [first, last] = wholeRange();
    const double width = m_zoom ? m_zoom->second - m_zoom->first : (last - first) * kJumpShare;
    const double x = xOf(view().map, moment.step, moment.wallNs);
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
