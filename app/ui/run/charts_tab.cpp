// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/charts_tab.h"

#include "app/core/settings/paths.h"
#include "app/core/store/export.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/chart_export_dialog.h"
#include "app/ui/dialogs/export_dialog.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/chart_bar.h"
#include "app/ui/plot/heat_map.h"
#include "app/ui/run/layout_button.h"
#include "app/ui/run/layout_keeper.h"
#include "app/ui/run/own_chart_dialog.h"
#include "app/ui/run/panel_mover.h"
#include "app/ui/run/range_dialog.h"
#include "app/ui/run/timeline_view.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/reflow_grid.h"
#include "app/ui/widgets/toast.h"

#include <QApplication>
#include <QDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QShortcut>
#include <QTimer>
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
constexpr const char* kHeat = ":heat";                ///< key of the heat map of how busy ranks are
constexpr const char* kEvents = ":events";

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

/// The main panels of the registry, in their order.
std::vector<std::string> mainKeys() {
    std::vector<std::string> keys;
    for (const MetricPanel& row : metricPanels())
        if (row.isMain)
            keys.push_back(row.key);
    return keys;
}

/// "own:1".
bool isOwn(const std::string& key) {
    return key.starts_with(kOwnChart);
}

/// The id of the newest command up to that step that changed a setting; empty: there is none.
std::string changeBefore(const RunHistory& history, double step) {
    std::string command;
    for (const StoredCommand& each : history.commands)
        if (each.applied.ok && each.applied.kind == "set" &&
            static_cast<double>(each.applied.step) <= step)
            command = each.applied.id;
    return command;
}

/// One card on the whole screen.
class AloneDialog : public QDialog {
public:
    AloneDialog(const QString& title, QWidget* parent)
        : QDialog(parent) {
        setObjectName("aloneChart");
        setAttribute(Qt::WA_DeleteOnClose);
        setWindowTitle(title);
    }

protected:
    void keyPressEvent(QKeyEvent* event) override {
        if (event->key() == Qt::Key_F11)
            reject();
        else
            QDialog::keyPressEvent(event);
    }
};

QSettings settingsOf(const AppContext& context) {
    return {context.paths.settings(), QSettings::IniFormat};
}

} // namespace

ChartsTab::ChartsTab(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_puller(kPullMs, this)
    , m_heatPuller(kHeatPullMs, this)
    , m_exactPuller(kExactMs, this)
    , m_spanPuller(kSpanMs, this) {
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
    m_main = new ReflowGrid(kColumns, size::kColumnMin);
    m_more = new ReflowGrid(kColumns, size::kColumnMin);
    m_moreTitle = makeLabel({}, "secondary");
    m_moreTitle->setObjectName("moreCharts");
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
    m_layout = new LayoutKeeper(m_context.paths, this);
    m_mover = new PanelMover(*m_scroll, {m_main, m_more}, this);
    m_eventsCard = buildEvents();
    m_mover->watch(*m_eventsCard);
    buildControls();
    setPanels(panelsOf({}));
}

LineChart* ChartsTab::makeChart(const std::string& key) {
    auto* chart = new LineChart({}, objectNameOf(QString::fromStdString(key)).constData());
    connect(chart, &LineChart::zoomRequested, this, &ChartsTab::zoomTo);
    connect(chart, &LineChart::resetRequested, this, &ChartsTab::showAll);
    chart->setEmptyText(m_missing);
    chart->setMarks(marks());
    connect(chart, &LineChart::pointed, this, &ChartsTab::point);
    connect(chart, &LineChart::menuRequested, this, [this, key](QMenu* menu) {
        fillStepMenu(*menu);
        fillMenu(*menu, key);
    });
    connect(chart, &LineChart::markClicked, this, [this](qint64 step) {
        m_events->select(step);
        for (const auto& each : m_charts)
            each.widget->selectMark(step);
    });
    m_mover->watch(*chart);
    m_charts.push_back({key, chart});
    chart->setUnread(view());
    return chart;
}

HeatMap* ChartsTab::makeHeat(const std::string& key) {
    auto* heat =
        new HeatMap(isOwn(key) ? objectNameOf(QString::fromStdString(key)).constData() : "heatMap");
    connect(heat, &HeatMap::menuRequested, this,
            [this, key](QMenu* menu) { fillMenu(*menu, key); });
    m_mover->watch(*heat);
    m_heats.push_back({key, heat});
    return heat;
}

LineChart* ChartsTab::chartOf(const std::string& key) const {
    const auto found = std::ranges::find(m_charts, key, &Shown<LineChart>::key);
    return found != m_charts.end() ? found->widget : nullptr;
}

HeatMap* ChartsTab::heatOf(const std::string& key) const {
    const auto found = std::ranges::find(m_heats, key, &Shown<HeatMap>::key);
    return found != m_heats.end() ? found->widget : nullptr;
}

QWidget* ChartsTab::cardOf(const std::string& key) const {
    if (key == kEvents)
        return m_eventsCard;
    if (LineChart* chart = chartOf(key))
        return chart;
    return heatOf(key);
}

/// Empty: it is none of them.
std::string ChartsTab::keyOf(const QWidget* card) const {
    for (const std::string& key : arranged(m_layout->layout(), keysAsTheyCome()))
        if (card && cardOf(key) == card)
            return key;
    return {};
}

const ChartPanel* ChartsTab::panelOf(const std::string& key) const {
    const auto found = std::ranges::find(m_panels, QString::fromStdString(key), &ChartPanel::key);
    return found != m_panels.end() ? &*found : nullptr;
}

QString ChartsTab::titleOf(const std::string& key) const {
    if (key == kEvents)
        return tr("Events");
    if (key == kHeat)
        return tr("Utilization by rank");
    const ChartPanel* panel = panelOf(key);
    return panel ? panel->title : QString();
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
    card->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(card, &QWidget::customContextMenuRequested, this, [this, card](const QPoint& at) {
        auto* menu = new QMenu(card);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        if (const Moment* moment = m_events->momentAt(m_events->viewport()->mapFrom(card, at)))
            fillRevert(*menu, moment->command);
        fillMenu(*menu, kEvents);
        menu->popup(card->mapToGlobal(at));
    });
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
    m_layoutButton = new LayoutButton(m_context, *m_layout);
    m_bar->add(m_abandoned);
    m_bar->add(m_layoutButton);
    m_bar->add(m_follow);
}

QWidget* ChartsTab::controls() const {
    return m_bar;
}

void ChartsTab::wire() {
    connect(&m_puller, &Puller::pull, this, &ChartsTab::pull);
    connect(&m_heatPuller, &Puller::pull, this, &ChartsTab::pullHeat);
    connect(&m_exactPuller, &Puller::pull, this, &ChartsTab::pullExact);
    connect(&m_spanPuller, &Puller::pull, this, &ChartsTab::pullSpan);
    connect(m_scroll->verticalScrollBar(), &QScrollBar::valueChanged, &m_puller, &Puller::request);
    connect(m_events, &TimelineView::momentChosen, this, &ChartsTab::jumpTo);
    connect(m_mover, &PanelMover::moved, this, &ChartsTab::moveCard);
    connect(m_mover, &PanelMover::sized, this, &ChartsTab::sizeCard);
    wireControls();
    wireLayout();
}

void ChartsTab::wireLayout() {
    const auto bindShift = [this](Qt::Key arrow, int by) {
        auto* keys = new QShortcut(Qt::ALT | arrow, this);
        keys->setContext(Qt::WidgetWithChildrenShortcut);
        connect(keys, &QShortcut::activated, this, [this, by] {
            if (const QWidget* card = cardAbove(QApplication::focusWidget()))
                shift(keyOf(card), by);
        });
    };
    bindShift(Qt::Key_Left, -1);
    bindShift(Qt::Key_Right, 1);
    connect(m_layoutButton, &LayoutButton::addRequested, this, [this] { askOwn({}); });
    connect(m_layout, &LayoutKeeper::failed, this,
            [this](const QString& why) { m_context.toast.say(why); });
    connect(m_layout, &LayoutKeeper::changed, this, [this] {
        const std::string focused = keyOf(cardAbove(QApplication::focusWidget()));
        const int scrolled = m_scroll->verticalScrollBar()->value();
        arrange();
        m_puller.request(); // what is own, or has come into sight, has not been read
        m_heatPuller.restart();
        focusCard(focused);
        m_scroll->verticalScrollBar()->setValue(scrolled); // wherever the focus went meanwhile
    });
}

void ChartsTab::wireControls() {
    connect(m_bar, &ChartBar::smoothingChanged, &m_puller, &Puller::request);
    connect(m_bar, &ChartBar::smoothingChanged, this, &ChartsTab::smoothingChanged);
    connect(m_bar, &ChartBar::axisChanged, this, &ChartsTab::changeAxis);
    connect(m_bar, &ChartBar::logChanged, &m_puller, &Puller::request);
    connect(m_abandoned, &QPushButton::toggled, this, [this](bool shown) {
        settingsOf(m_context).setValue("charts/abandoned", shown);
        m_puller.request();
    });
    connect(m_follow, &QPushButton::clicked, this, [this](bool follow) {
        if (follow)
            showAll();
        else
            zoomTo(wholeRange().first, wholeRange().second);
    });
}

void ChartsTab::restore() {
    m_abandoned->setChecked(settingsOf(m_context).value("charts/abandoned", true).toBool());
    m_follow->setChecked(true);
}

Smoothing ChartsTab::smoothing() const {
    return m_bar->smoothing();
}

void ChartsTab::setCompact(bool compact) {
    m_bar->setCompact(compact);
    m_layoutButton->setCompact(compact);
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
    m_menuStep.reset();
    m_parentBegin.reset();
    m_zoom.reset();
    m_kept.reset();
    m_chosen.reset();
    m_follow->setChecked(true);
    m_scroll->verticalScrollBar()->setValue(0);
    setPanels(panelsOf({})); // another run may report other metrics
    for (const auto& each : m_charts) {
        each.widget->selectMark(std::nullopt);
        each.widget->setPointer(std::nullopt);
        each.widget->showExact(0, {});
        each.widget->setUnread(view());
    }
    for (const auto& each : m_heats)
        each.widget->setUnread();
    m_puller.restart();
    m_heatPuller.restart();
    m_exactPuller.restart();
    m_selects = false;
    m_spanPuller.restart();
    setSpan(std::nullopt);
}

void ChartsTab::show(const RunDetail& detail) {
    m_detail = detail;
    if (!detail.run)
        return;
    m_layout->setKind(detail.modelType());
    std::vector<Moment> moments = timelineOf(*detail.run, detail.history);
    m_noEvents->setVisible(moments.empty());
    m_events->setVisible(!moments.empty());
    m_events->setMoments(std::move(moments));
    for (const auto& each : m_charts)
        each.widget->setMarks(marks());
    m_abandoned->setVisible(std::ranges::any_of(
        detail.history.lines, [](const StoredLine& line) { return line.retiredBy != 0; }));
    const bool first =
        std::ranges::any_of(m_heats, [](const auto& each) { return !each.widget->isFilled(); });
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

/// What is on the first screen fills the visible height, except for the heading of what is below.
void ChartsTab::fitMain() {
    const int head =
        m_more->items().empty() ? 0 : m_moreTitle->sizeHint().height() + size::kCardGap;
    m_main->setLeastHeight(std::max(0, m_scroll->viewport()->height() - head));
}

/// Those of the first screen, and the visible ones of the others, which can be many.
std::vector<QString> ChartsTab::panelsToRead() const {
    std::vector<QString> panels;
    for (const auto& each : m_charts)
        if (isFirst(each.key) || !each.widget->visibleRegion().isEmpty())
            panels.push_back(QString::fromStdString(each.key));
    return panels;
}

ChartQuery ChartsTab::query() const {
    ChartQuery query = queryOf(*m_detail.run);
    query.map = view().map;
    query.range = m_zoom;
    int width = 200;
    for (const auto& each : m_charts)
        width = std::max(width, each.widget->plotWidth());
    query.maxPoints = kPointsPerPixel * width;
    query.own = m_layout->layout().own;
    query.smoothing = m_bar->smoothing();
    query.abandoned = m_abandoned->isChecked();
    query.panels = panelsToRead();
    return query;
}

void ChartsTab::pull() {
    if (!m_detail.run)
        return;
    m_puller.await(
        m_context.store.ask([run = *m_detail.run, query = query(), kept = m_kept](
                                StoreReader& reader) { return read(reader, run, query, kept); }),
        this, [this](const Answer& answer) { applyAnswer(answer); });
}

/// Worker thread.
ChartsTab::Answer ChartsTab::read(StoreReader& reader, const RunSummary& run, ChartQuery query,
                                  const std::optional<Zoom>& kept) {
    Answer answer{.map = query.map, .unit = workUnit(reader, run.id)};
    if (auto map = axisOf(reader, run, query.map.axis, query.map.startNs))
        answer.map = query.map = *map;
    else
        answer.missing = QString::fromStdString(map.error().message);
    const auto span = kept && answer.missing.isEmpty()
                          ? spanBetween(reader, run.id, kept->map, kept->low, kept->high)
                          : std::nullopt;
    if (span) {
        query.range = answer.kept = rangeOf(reader, run.id, answer.map, *span);
        answer.dataEnd = rangeOf(reader, run.id, answer.map, {}).second;
    }
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
    if (m_kept && answer.kept) {
        m_zoom = answer.kept;
        m_dataEnd = answer.dataEnd;
        m_kept.reset();
        m_heatPuller.restart();
    } else if (m_kept && answer.missing.isEmpty()) {
        return showAll(); // it has no steps, or all
    }
    m_spanPuller.request(); // the run may have gone past its end
    if (std::exchange(m_missing, answer.missing) != answer.missing)
        for (const auto& each : m_charts)
            each.widget->setEmptyText(m_missing);
    apply(answer.panels);
}

void ChartsTab::pullHeat() {
    if (!m_detail.run)
        return;
    const AxisMap map = view().map;
    HeatQuery query{*m_detail.run, map.startNs, map.axis, m_zoom, {}};
    if (!isTime(map.axis)) {
        query.axis = XAxis::kStep;
        if (m_zoom)
            query.range = {stepOf(map, m_zoom->first), stepOf(map, m_zoom->second)};
    }
    std::vector<std::pair<std::string, HeatQuery>> queries; // by key
    for (const auto& each : m_heats) {
        const ChartPanel* panel = panelOf(each.key);
        query.metric = panel ? panel->metrics.front().name : std::string();
        if (!each.widget->isFilled() || !each.widget->visibleRegion().isEmpty())
            queries.emplace_back(each.key, query);
    }
    using Heats = std::vector<std::pair<std::string, HeatData>>;
    m_heatPuller.await(m_context.store.ask([queries](StoreReader& reader) {
        Heats heats;
        for (const auto& [key, each] : queries)
            heats.emplace_back(key, readHeat(reader, each));
        return heats;
    }),
                       this, [this](const Heats& heats) {
                           for (const auto& [key, heat] : heats)
                               if (HeatMap* shown = heatOf(key))
                                   shown->show(heat);
                       });
}

/// All charts show the values of that step: at once those of the drawn points near it, and soon
/// what was measured there.
void ChartsTab::point(std::optional<double> x, std::optional<double> step) {
    for (const auto& each : m_charts)
        each.widget->setPointer(x, step);
    m_menuStep = step ? step : m_menuStep;
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
                if (LineChart* chart = chartOf(each.panel.key.toStdString()); chart && each.isRead)
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
            if (curve.past == Past::kParent &&
                !m_zoom) // its first sample is of the step after its begin
                m_parentBegin =
                    std::max(0.0, std::min(m_parentBegin.value_or(qInf()), curve.x.front() - 1));
        }
    for (const PanelCurves& panel : panels) // the first that is smoothed stands for all
        if (!panel.curves.empty() && panel.curves.front().window > 0) {
            m_bar->setWindow(panel.curves.front().window);
            break;
        }
    std::vector<ChartPanel> all;
    for (const PanelCurves& each : panels)
        all.push_back(each.panel);
    setPanels(std::move(all));
    showPanels(panels);
}

void ChartsTab::showPanels(const std::vector<PanelCurves>& panels) {
    const ChartView common = view();
    bool missing = false;
    for (const PanelCurves& each : panels) {
        const std::string key = each.panel.key.toStdString();
        LineChart* chart = chartOf(key);
        if (!chart)
            continue;
        chart->setTitle(each.panel.title, explanationOf(each.panel));
        chart->setFromZero(each.panel.fromZero);
        missing = missing || (!each.isRead && !chart->visibleRegion().isEmpty());
        if (!each.isRead)
            continue;
        const ChartStyle style = m_layout->layout().styleOf(key);
        chart->setCutsOutliers(style.cutsOutliers);
        chart->setYRange(style.yRange);
        ChartView view = common;
        view.logY = style.isLog.value_or(m_bar->isLog() && each.panel.canBeLog);
        chart->show(each.curves, view);
        chart->setMarks(marks());
    }
    if (missing) // charts that have come into sight meanwhile
        m_puller.request();
}

void ChartsTab::setPanels(std::vector<ChartPanel> panels) {
    if (std::exchange(m_panels, std::move(panels)) == m_panels)
        return;
    arrange();
    m_puller.request(); // charts that are now visible have not been read
    m_heatPuller.request();
    if (cardOf(m_added))
        bringIntoSight(std::exchange(m_added, {}));
}

/// Those of the registry's main part, the heat map, the events, then all others.
std::vector<std::string> ChartsTab::keysAsTheyCome() const {
    std::vector<std::string> keys, others;
    for (const ChartPanel& panel : m_panels)
        (panel.isMain ? keys : others).push_back(panel.key.toStdString());
    keys.insert(keys.end(), {kHeat, kEvents});
    keys.insert(keys.end(), others.begin(), others.end());
    return keys;
}

bool ChartsTab::isFirst(const std::string& key) const {
    const ChartPanel* panel = panelOf(key);
    return m_layout->layout().styleOf(key).isFirst.value_or(!panel || panel->isMain);
}

/// The loss takes the room of charts in its row that have no data.
int ChartsTab::columnsOf(const std::string& key) const {
    const std::optional<int> wanted = m_layout->layout().styleOf(key).columns;
    if (wanted || key == kEvents)
        return wanted.value_or(1);
    if (key == kHeat)
        return kColumns - 1;
    const std::vector<std::string> main = mainKeys();
    if (key != main.front())
        return 1;
    return kColumns - static_cast<int>(std::count_if(
                          main.begin() + 1, main.begin() + kColumns, [this](const auto& other) {
                              return panelOf(other) && !m_layout->layout().styleOf(other).isHidden;
                          }));
}

/// Puts the cards where they belong. Charts of what the run reports are made, others deleted.
void ChartsTab::arrange() {
    std::vector<std::string> keys;
    std::vector<std::pair<std::string, QString>> hidden;
    size_t more = 0, left = 0;
    for (const std::string& key : arranged(m_layout->layout(), keysAsTheyCome()))
        if (m_layout->layout().styleOf(key).isHidden)
            hidden.emplace_back(key, titleOf(key));
        else if (isFirst(key) || isOwn(key) || ++more <= kMostMore)
            keys.push_back(key);
        else
            ++left;
    m_layoutButton->setHidden(std::move(hidden));
    forgetOthers(keys);
    place(keys);
    m_moreTitle->setText(
        left == 0 ? tr("Everything else that the run reports")
                  : tr("Everything else that the run reports; %1 more: layout, Add a chart")
                        .arg(counted(static_cast<int64_t>(left), tr("1 chart"), tr("%1 charts"))));
    m_moreTitle->setVisible(!m_more->items().empty());
    m_more->setVisible(!m_more->items().empty());
    fitMain();
}

void ChartsTab::forgetOthers(const std::vector<std::string>& keys) {
    const auto isGone = [&](const std::string& key, bool asHeat) {
        return std::ranges::find(keys, key) == keys.end() || isHeat(key) != asHeat;
    };
    const auto isAloneGone = [&](const auto& shown, bool areHeat) {
        return std::ranges::any_of(shown, [&](const auto& each) {
            return each.widget == m_aloneCard && isGone(each.key, areHeat);
        });
    };
    if (isAloneGone(m_charts, false) || isAloneGone(m_heats, true))
        return m_alone->reject(); // which brings the card back, and arranges all
    const auto forget = [&](auto& shown, bool areHeat) {
        std::erase_if(shown, [&](const auto& each) {
            const bool isForgotten = isGone(each.key, areHeat);
            if (isForgotten) {
                each.widget->hide();
                each.widget->deleteLater();
            }
            return isForgotten;
        });
    };
    forget(m_charts, false);
    forget(m_heats, true);
}

bool ChartsTab::isHeat(const std::string& key) const {
    const ChartPanel* panel = panelOf(key);
    return key == kHeat || (panel && panel->shape == ChartShape::kHeat);
}

void ChartsTab::place(const std::vector<std::string>& keys) {
    const std::vector<std::string> main = mainKeys();
    std::vector<ReflowGrid::Item> first, others;
    for (const std::string& key : keys) {
        const ChartPanel* panel = panelOf(key);
        QWidget* card = cardOf(key);
        if (!card && isHeat(key))
            card = makeHeat(key);
        else if (!card)
            card = makeChart(key);
        if (HeatMap* heat = heatOf(key); heat && panel)
            heat->setTitle(isOwn(key) ? panel->title : QString());
        if (card == m_aloneCard)
            continue;
        const ChartStyle style = m_layout->layout().styleOf(key);
        const bool isTall =
            std::find(main.begin(), main.begin() + kColumns, key) != main.begin() + kColumns;
        const int usual = isTall ? kTallRow : key == kHeat || key == kEvents ? kMiddleRow : kRow;
        const int rows = style.rows.value_or(1);
        const int height = rows * size::kChartMin + (rows - 1) * size::kCardGap;
        if (HeatMap* heat = heatOf(key))
            heat->setLeastHeight(height);
        else
            card->setMinimumHeight(height);
        (isFirst(key) ? first : others)
            .push_back({card, columnsOf(key), style.rows ? kRow * rows : usual,
                        key == kEvents && !style.columns}); // its lines are long
    }
    m_main->setItems(std::move(first));
    m_more->setItems(std::move(others));
    std::ranges::stable_sort(m_charts, {}, [&](const auto& each) {
        return std::pair(!isFirst(each.key), std::ranges::find(keys, each.key) - keys.begin());
    });
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
    for (const auto& each : m_charts)
        each.widget->selectMark(moment.step);
    const auto [first, last] = wholeRange();
    const double width = m_zoom ? m_zoom->second - m_zoom->first : (last - first) * kJumpShare;
    const double x = xOf(view().map, moment.step, moment.wallNs);
    const double low = std::clamp(x - width / 2, first, std::max(first, last - width));
    showRange(low, low + width);
    setSpan(std::nullopt); // until the steps are known, which nobody has chosen
}

/// What a step took there, by the points that are drawn; 0: it is not known.
double ChartsTab::secondsOfStepAt(double low, double high) const {
    for (const auto& each : m_charts)
        for (const Curve& curve : each.widget->curves()) {
            if (curve.past != Past::kNone || curve.x.size() < 2)
                continue;
            const qsizetype last = curve.x.size() - 1;
            const auto after = [&](double x) {
                return std::upper_bound(curve.x.begin(), curve.x.end(), x) - curve.x.begin();
            };
            const qsizetype from = std::clamp<qsizetype>(after(low) - 1, 0, last - 1);
            const qsizetype to = std::clamp<qsizetype>(after(high), from + 1, last);
            if (const double steps = curve.steps[to] - curve.steps[from]; steps > 0)
                return (curve.x[to] - curve.x[from]) / steps;
        }
    return 0;
}

/// By as much as some steps take, if it is narrower: else there may be no point in it.
std::pair<double, double> ChartsTab::widened(double low, double high) const {
    constexpr int64_t kLeastSteps = 4;
    const AxisMap map = view().map;
    const double least = isTime(map.axis) ? kLeastSteps * secondsOfStepAt(low, high)
                                          : xOf(map, kLeastSteps, 0) - xOf(map, 0, 0);
    const double lacks = std::max(0.0, least - (high - low));
    return {low - lacks / 2, high + lacks / 2};
}

void ChartsTab::zoomTo(double low, double high) {
    std::tie(low, high) = widened(low, high);
    showRange(low, high);
    m_selects = true;
    m_spanPuller.request();
}

void ChartsTab::showRange(double low, double high) {
    m_zoom = {low, high};
    m_kept.reset();
    m_selects = false;
    m_spanPuller.restart(); // an answer that is under way is of another zoom
    m_follow->setChecked(false);
    m_puller.request();
    m_heatPuller.restart();
}

/// The steps in sight stay.
void ChartsTab::changeAxis() {
    if (m_zoom)
        m_kept = Zoom{m_map, m_zoom->first, m_zoom->second};
    if (!m_kept)
        return showAll();
    m_zoom.reset(); // which is in units of the other axis
    m_parentBegin.reset();
    m_spanPuller.restart();
    m_puller.request();
}

void ChartsTab::showAll() {
    m_zoom.reset();
    m_kept.reset();
    m_selects = false;
    m_follow->setChecked(true);
    m_puller.request();
    m_heatPuller.restart();
    m_spanPuller.restart(); // an answer that is under way is of the zoom
    setSpan(std::nullopt);
}

void ChartsTab::pullSpan() {
    if (!m_zoom || !m_detail.run)
        return;
    m_spanPuller.await(
        m_context.store.ask([run = m_run, map = view().map, zoom = *m_zoom](StoreReader& reader) {
            return spanBetween(reader, run, map, zoom.first, zoom.second);
        }),
        this, [this](const std::optional<TimedSpan>& span) { setSpan(span); });
}

void ChartsTab::setSpan(const std::optional<TimedSpan>& inSight) {
    m_inSight = inSight;
    const auto span = m_selects ? inSight : std::nullopt;
    if (std::exchange(m_span, span) == m_span)
        return;
    m_events->setSpan(span);
    Q_EMIT spanChanged(span);
}

void ChartsTab::moveCard(QWidget* card, ReflowGrid* grid, QWidget* before) {
    const std::string key = keyOf(card), beforeKey = keyOf(before);
    if (key.empty())
        return;
    const bool toFirst = grid == m_main, wasFirst = isFirst(key);
    m_layout->change([&](ChartLayout& layout) {
        const std::vector<std::string> keys = arranged(layout, keysAsTheyCome());
        std::string target = beforeKey;
        if (target.empty() && toFirst) { // behind the last one there, but before all below
            const auto below = std::ranges::find_if(
                keys, [&](const auto& each) { return each != key && !isFirst(each); });
            target = below != keys.end() ? *below : std::string();
        }
        moveChart(layout, keys, key, target);
        ChartStyle style = layout.styleOf(key);
        if (wasFirst != toFirst)
            style.isFirst = toFirst;
        layout.setStyle(key, style);
    });
}

void ChartsTab::sizeCard(QWidget* card, int columns, int rows) {
    if (const std::string key = keyOf(card); !key.empty())
        m_layout->changeStyle(key, [=](ChartStyle& style) {
            if (columns > 0)
                style.columns = columns;
            if (rows > 0)
                style.rows = rows;
        });
}

/// Past the neighbour that is shown in the same part of the page.
void ChartsTab::shift(const std::string& key, int by) {
    ReflowGrid* grid = isFirst(key) ? m_main : m_more;
    const auto& items = grid->items();
    const auto at =
        std::ranges::find(items, cardOf(key), &ReflowGrid::Item::widget) - items.begin();
    const auto to = at + (by < 0 ? -1 : 2);
    if (at == static_cast<std::ptrdiff_t>(items.size())) // it fills the screen
        return;
    if (to >= 0 && to <= static_cast<std::ptrdiff_t>(items.size()))
        moveCard(cardOf(key), grid,
                 to < static_cast<std::ptrdiff_t>(items.size())
                     ? items[static_cast<size_t>(to)].widget
                     : nullptr);
    bringIntoSight(key);
}

/// The newest checkpoint at the step under the pointer, or before it.
std::optional<StoredCheckpoint> ChartsTab::checkpointAtPointer() const {
    std::optional<StoredCheckpoint> found;
    for (const StoredCheckpoint& each : m_detail.history.checkpoints) {
        const bool isThere = !each.removed && each.retiredBy == 0;
        const bool isBefore = m_menuStep && static_cast<double>(each.saved.step) <= *m_menuStep;
        if (isThere && isBefore && (!found || each.saved.step > found->saved.step))
            found = each;
    }
    return found;
}

/// `command` empty: it changed no setting.
void ChartsTab::fillRevert(QMenu& menu, const std::string& command) {
    if (command.empty() || m_alone) // it leads to another window
        return;
    menu.addAction(tr("Take the change of a setting back…"), this,
                   [this, command] { Q_EMIT revertRequested(command); })
        ->setObjectName("revertChange");
}

/// What a person does with the step under the pointer.
void ChartsTab::fillStepMenu(QMenu& menu) {
    if (!m_menuStep || !m_detail.run || m_alone) // it leads to another page
        return;
    menu.addSeparator();
    const QString step = formatCount(static_cast<int64_t>(*m_menuStep));
    menu.addAction(tr("Log at step %1").arg(step), this, &ChartsTab::askLog)
        ->setObjectName("logAtStep");
    fillRevert(menu, changeBefore(m_detail.history, *m_menuStep));
    const auto checkpoint = checkpointAtPointer();
    if (!checkpoint)
        return;
    const QString saved = formatCount(checkpoint->saved.step);
    menu.addAction(tr("Branch from step %1…").arg(saved), this,
                   [this, checkpoint] { Q_EMIT branchRequested(*checkpoint); })
        ->setObjectName("branchAtStep");
    QAction* restore = menu.addAction(tr("Go on from step %1…").arg(saved), this,
                                      [this, checkpoint] { Q_EMIT restoreRequested(*checkpoint); });
    restore->setObjectName("restoreAtStep");
    restore->setEnabled(canResume(m_detail.run->state));
}

void ChartsTab::askLog() {
    const auto step = static_cast<int64_t>(*m_menuStep);
    const auto time = m_context.store.ask(
        [run = m_run, step](StoreReader& reader) { return timeUpTo(reader, run, step); });
    whenAnswered(time, this, [this, run = m_run](const std::optional<int64_t>& wallNs) {
        if (wallNs && run == m_run)
            Q_EMIT logRequested(*wallNs);
    });
}

void ChartsTab::showTime(int64_t wallNs) {
    Moment moment;
    moment.step = -1;
    moment.wallNs = wallNs;
    jumpTo(moment);
}

/// What a person does with one card, then what concerns all.
void ChartsTab::fillMenu(QMenu& menu, const std::string& key) {
    if (!menu.isEmpty())
        menu.addSeparator();
    if (m_alone) { // what else there is concerns the page behind it
        menu.addAction(tr("Leave full screen"), m_alone, &QDialog::reject)
            ->setShortcut(Qt::Key_F11);
        if (chartOf(key))
            fillAxisMenu(menu, key);
        return;
    }
    const auto add = [this, &menu](const QString& text, const char* name, auto act) {
        QAction* action = menu.addAction(text, this, act);
        action->setObjectName(name);
        return action;
    };
    add(tr("Full screen"), "showAlone", [this, key] {
        if (QWidget* card = cardOf(key))
            showCardAlone(*card);
    })->setShortcut(Qt::Key_F11);
    if (chartOf(key)) {
        add(tr("Export…"), "exportChart", [this, key] { askExportOf(key); });
        fillAxisMenu(menu, key);
    }
    fillSizeMenu(menu, key);
    add(tr("Move left"), "moveLeft", [this, key] {
        shift(key, -1);
    })->setShortcut(Qt::ALT | Qt::Key_Left);
    add(tr("Move right"), "moveRight", [this, key] {
        shift(key, 1);
    })->setShortcut(Qt::ALT | Qt::Key_Right);
    const bool isOnFirst = isFirst(key);
    add(isOnFirst ? tr("Move below the first screen") : tr("Move to the first screen"),
        "moveScreen",
        [this, key, isOnFirst] { moveCard(cardOf(key), isOnFirst ? m_more : m_main, nullptr); });
    add(tr("Hide"), "hideChart", [this, key] {
        m_layout->changeStyle(key, [](ChartStyle& style) { style.isHidden = true; });
    });
    const auto& own = m_layout->layout().own;
    if (const auto chart = std::ranges::find(own, key, &OwnChart::key); chart != own.end()) {
        add(tr("Edit…"), "editChart", [this, edited = *chart] { askOwn(edited); });
        add(tr("Remove"), "removeChart",
            [this, key] { m_layout->change([&](ChartLayout& layout) { layout.removeOwn(key); }); });
    }
    menu.addSeparator();
    m_layoutButton->fill(menu);
}

void ChartsTab::fillAxisMenu(QMenu& menu, const std::string& key) {
    const ChartStyle style = m_layout->layout().styleOf(key);
    QMenu* axis = menu.addMenu(tr("Vertical axis"));
    const auto addScale = [&](const QString& text, const char* name, std::optional<bool> isLog) {
        QAction* action = axis->addAction(text, this, [this, key, isLog] {
            m_layout->changeStyle(key, [isLog](ChartStyle& changed) { changed.isLog = isLog; });
        });
        action->setObjectName(name);
        action->setCheckable(true);
        action->setChecked(style.isLog == isLog);
    };
    addScale(tr("As all charts"), "scaleAsAll", std::nullopt);
    addScale(tr("Linear"), "scaleLinear", false);
    addScale(tr("Logarithmic"), "scaleLog", true);
    axis->addSeparator();
    QAction* outliers = axis->addAction(tr("Without outliers"), this, [this, key](bool cuts) {
        m_layout->changeStyle(key, [cuts](ChartStyle& changed) { changed.cutsOutliers = cuts; });
    });
    outliers->setObjectName("cutOutliers");
    outliers->setCheckable(true);
    outliers->setChecked(style.cutsOutliers);
    QAction* range = axis->addAction(tr("Range…"), this, [this, key] { askRange(key); });
    range->setObjectName("axisRange");
    range->setCheckable(true);
    range->setChecked(style.yRange != AxisRange());
}

void ChartsTab::fillSizeMenu(QMenu& menu, const std::string& key) {
    const ChartStyle style = m_layout->layout().styleOf(key);
    QMenu* sizes = menu.addMenu(tr("Size"));
    QAction* usual = sizes->addAction(tr("As it comes"), this, [this, key] {
        m_layout->changeStyle(key, [](ChartStyle& changed) {
            changed.columns.reset();
            changed.rows.reset();
        });
    });
    usual->setObjectName("usualSize");
    usual->setCheckable(true);
    usual->setChecked(!style.columns && !style.rows);
    sizes->addSeparator();
    for (int columns = 1; columns <= ChartStyle::kMostColumns; ++columns) {
        QAction* action =
            sizes->addAction(counted(columns, tr("1 column wide"), tr("%1 columns wide")), this,
                             [this, key, columns] {
                                 m_layout->changeStyle(key, [columns](ChartStyle& changed) {
                                     changed.columns = columns;
                                 });
                             });
        action->setObjectName("columns" + QString::number(columns));
        action->setCheckable(true);
        action->setChecked(style.columns == columns);
    }
    sizes->addSeparator();
    for (int rows = 1; rows <= ChartStyle::kMostRows; ++rows) {
        QAction* action = sizes->addAction(
            counted(rows, tr("1 row high"), tr("%1 rows high")), this, [this, key, rows] {
                m_layout->changeStyle(key, [rows](ChartStyle& changed) { changed.rows = rows; });
            });
        action->setObjectName("rows" + QString::number(rows));
        action->setCheckable(true);
        action->setChecked(style.rows == rows);
    }
}

void ChartsTab::askRange(const std::string& key) {
    const LineChart* chart = chartOf(key);
    if (!chart)
        return;
    auto* dialog = new RangeDialog(titleOf(key), m_layout->layout().styleOf(key).yRange,
                                   chart->shownY(), window());
    connect(dialog, &RangeDialog::confirmed, this, [this, key](const auto& range) {
        m_layout->changeStyle(key, [&range](ChartStyle& style) { style.yRange = range; });
    });
    dialog->open();
}

void ChartsTab::askExportOf(const std::string& key) {
    const ChartPanel* panel = panelOf(key);
    if (!chartOf(key) || !panel)
        return;
    auto* dialog =
        new ChartExportDialog(*panel, m_inSight ? m_inSight->steps : StepSpan(), window());
    connect(dialog, &ChartExportDialog::confirmed, this,
            [this, key](const ChartExport& chosen) { exportChart(key, chosen); });
    dialog->open();
}

/// A picture is drawn of what is read for it, so that it has all of the range.
void ChartsTab::exportChart(const std::string& key, const ChartExport& chosen) {
    const ChartPanel* panel = panelOf(key);
    if (!panel || !m_detail.run)
        return;
    if (!chosen.picture)
        return exportNumbers(*panel, chosen);
    ChartQuery query = this->query();
    query.panels = {panel->key};
    query.range.reset();
    const auto read = m_context.store.ask([query, chosen](StoreReader& reader) {
        ChartQuery asked = query;
        const auto placeOf = [&](int64_t step) {
            return xOf(asked.map, step, timeUpTo(reader, asked.run, step).value_or(0));
        };
        if (chosen.first || chosen.last)
            asked.range = {placeOf(chosen.first.value_or(0)),
                           placeOf(chosen.last.value_or(asked.lastStep))};
        for (PanelCurves& each : readPanels(reader, asked))
            if (each.isRead)
                return std::pair(asked.range, std::move(each));
        return std::pair(asked.range, PanelCurves());
    });
    whenAnswered(read, this, [this, key, chosen](const auto& answer) {
        exportPicture(key, answer.second, answer.first, chosen);
    });
}

void ChartsTab::exportNumbers(const ChartPanel& panel, const ChartExport& chosen) {
    SampleChoice choice{{chosen.metrics.begin(), chosen.metrics.end()}, panel.ranks};
    choice.first = chosen.first.value_or(choice.first);
    choice.last = chosen.last.value_or(choice.last);
    askExport(m_context, window(),
              {tr("Export %1").arg(panel.title), "chartExportFileDialog",
               exportFileName(m_run, panel.key, "csv"),
               [run = m_run, choice](StoreReader& reader, const QString& path) {
                   return exportCsv(reader, {run}, path, choice);
               },
               [](int64_t rows) { return counted(rows, tr("1 sample"), tr("%1 samples")); }});
}

/// As the chart on the page is drawn, but for its size and what was chosen.
void ChartsTab::exportPicture(const std::string& key, const PanelCurves& read,
                              const std::optional<std::pair<double, double>>& range,
                              const ChartExport& chosen) {
    const LineChart* shown = chartOf(key);
    if (!shown || read.panel.key.isEmpty())
        return;
    std::vector<Curve> curves;
    std::ranges::copy_if(read.curves, std::back_inserter(curves), [&](const Curve& curve) {
        return chosen.metrics.contains(curve.name.toStdString());
    });
    ChartView view = shown->view();
    std::tie(view.low, view.high) = range.value_or(wholeRange());
    LineChart picture(read.panel.title, "exportedChart");
    const ChartStyle style = m_layout->layout().styleOf(key);
    picture.setFromZero(read.panel.fromZero);
    picture.setCutsOutliers(style.cutsOutliers);
    picture.setYRange(style.yRange);
    picture.show(std::move(curves), view);
    picture.setMarks(marks());
    askExport(m_context, window(),
              pictureExport(tr("Export %1").arg(read.panel.title), "chartExportFileDialog",
                            exportFileName(m_run, read.panel.key, endingOf(*chosen.picture)),
                            pictureOf(picture, *chosen.picture)));
}

void ChartsTab::askOwn(const OwnChart& chart) {
    if (!m_detail.run)
        return;
    const auto metrics =
        m_context.store.ask([run = m_run](StoreReader& reader) { return reader.metrics(run); });
    whenAnswered(metrics, this,
                 [this, chart, run = m_run,
                  ranks = m_detail.run->ranks](const std::vector<MetricDef>& found) {
                     if (run != m_run)
                         return;
                     auto* dialog = new OwnChartDialog(found, ranks, chart, window());
                     connect(dialog, &OwnChartDialog::confirmed, this, &ChartsTab::keepOwn);
                     dialog->open();
                 });
}

/// In place of the one with its key; a new one comes onto the first screen, where it is seen.
void ChartsTab::keepOwn(OwnChart chart) {
    std::string added;
    m_layout->change([&](ChartLayout& layout) {
        const auto known = std::ranges::find(layout.own, chart.key, &OwnChart::key);
        if (known != layout.own.end()) {
            *known = std::move(chart);
            return;
        }
        chart.key = layout.nextOwnKey();
        ChartStyle style;
        style.isFirst = true;
        layout.setStyle(chart.key, style);
        added = chart.key;
        layout.own.push_back(std::move(chart));
    });
    m_added = added; // once what it shows is read
}

/// If it is still there.
void ChartsTab::focusCard(const std::string& key) {
    const QWidget* card = key.empty() ? nullptr : cardOf(key);
    if (auto* plot = card ? card->findChild<QWidget*>("plot") : nullptr)
        plot->setFocus();
}

/// Once it has its place.
void ChartsTab::bringIntoSight(const std::string& key) {
    QTimer::singleShot(0, this, [this, key] {
        m_scroll->widget()->layout()->activate();
        if (QWidget* card = cardOf(key))
            m_scroll->ensureWidgetVisible(card, 0, size::kCardGap);
    });
}

/// The card that a widget is, or is in; nullptr: it is in none.
QWidget* ChartsTab::cardAbove(QWidget* widget) const {
    while (widget && keyOf(widget).empty())
        widget = widget->parentWidget();
    return widget;
}

bool ChartsTab::showAlone() {
    if (m_alone) {
        m_alone->reject();
        return true;
    }
    if (!isVisible() || window()->isFullScreen()) // F11 leaves that
        return false;
    QWidget* card = cardAbove(QApplication::focusWidget());
    if (!card)
        card = cardAbove(QApplication::widgetAt(QCursor::pos()));
    if (card)
        showCardAlone(*card);
    return card != nullptr;
}

/// Until Esc or F11.
void ChartsTab::showCardAlone(QWidget& card) {
    if (m_alone)
        return;
    m_aloneCard = &card;
    m_alone = new AloneDialog(titleOf(keyOf(&card)), window());
    arrange(); // without the card
    auto* column = new QVBoxLayout(m_alone);
    column->addWidget(&card);
    card.show();
    connect(m_alone, &QDialog::finished, this, [this] {
        QWidget* shown = std::exchange(m_aloneCard, QPointer<QWidget>());
        m_alone = nullptr;
        if (shown)
            shown->setParent(this); // until it is placed, or it would go with the dialog
        arrange();
        focusCard(keyOf(shown));
        m_puller.request();
    });
    m_alone->showFullScreen();
    focusCard(keyOf(&card));
    m_puller.request();
}

/// Not shortcuts, so that a message that offers to undo something else comes first.
void ChartsTab::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Undo) && m_layout->canUndo())
        return m_layout->undo();
    if (event->matches(QKeySequence::Redo) && m_layout->canRedo())
        return m_layout->redo();
    QWidget::keyPressEvent(event);
}

} // namespace rm
