// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/machines/machines_page.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/findings/text.h"
#include "app/core/machines/machine_words.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/machines/machine_card.h"
#include "app/ui/machines/processes_model.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/widgets/banner.h"
#include "app/ui/widgets/capped_area.h"
#include "app/ui/widgets/fold.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/reflow_grid.h"
#include "app/ui/widgets/table.h"
#include "shared/io/clock.h"
#include "shared/io/random_hex.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace rm {

namespace {

constexpr int kUsualMs = 1000;
constexpr int kFastMs = 200;
constexpr int kUntilSettledMs = 250;
constexpr int kCardLeast = 115 * size::kGrid;
constexpr double kShownS = 300;

} // namespace

MachinesPage::MachinesPage(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_board("window-" + randomHex(16)) {
    buildUi();
    wire();
    rebuildCards();
}

MachinesPage::~MachinesPage() = default;

void MachinesPage::buildUi() {
    setObjectName("machinesPage");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kPageX, size::kPageY, size::kPageX, size::kPageY);
    column->setSpacing(size::kCardGap);
    m_header = new PageHeader(tr("Machines"));
    m_fast = m_header->addAction(tr("Every 0.2 s"), "quiet", "fastMachines");
    m_fast->setCheckable(true);
    m_fast->setToolTip(tr("Look five times as often, as long as this page is open"));
    column->addWidget(m_header);
    m_banner = new Banner("machinesBanner");
    m_banner->hide();
    column->addWidget(m_banner);
    column->addWidget(buildCards());
    auto* scroll = new QScrollArea;
    scroll->setObjectName("machineScroll");
    scroll->setFocusPolicy(Qt::NoFocus); // a stop of Tab that nobody sees
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(buildSelected());
    column->addWidget(scroll, 1);
}

/// The cards scroll by themselves, so that the charts of the selected line stay in sight.
QWidget* MachinesPage::buildCards() {
    m_grid = new ReflowGrid(2, kCardLeast);
    m_cardsArea =
        new CappedArea(m_grid, "machineCards", [this](int width) { return heightOfCards(width); });
    return m_cardsArea;
}

QWidget* MachinesPage::buildSelected() {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    auto* head = new QHBoxLayout;
    head->setSpacing(2 * size::kGrid);
    m_selectedTitle = new ElidedLabel({}, "secondary");
    m_selectedTitle->setObjectName("selectedMachine");
    head->addWidget(m_selectedTitle, 1);
    auto* charts = new ReflowGrid(2, size::kColumnMin);
    for (size_t i = 0; i < m_charts.size(); ++i) {
        Chart& each = m_charts[i];
        each.choice = new QComboBox;
        each.choice->setProperty("role", "quiet");
        each.choice->setObjectName(i == 0 ? "machineFigure1" : "machineFigure2");
        each.choice->setAccessibleName(i == 0 ? tr("Figure of the first chart")
                                              : tr("Figure of the second chart"));
        head->addWidget(each.choice);
        each.chart = new LineChart({}, i == 0 ? "machineChart1" : "machineChart2");
        each.chart->setMinimumHeight(size::kChartMin);
        each.chart->setEmptyText(tr("not known here"));
        charts->add(each.chart, 1, 1);
    }
    column->addLayout(head);
    column->addWidget(charts, 1);
    m_processes = new Fold(tr("Processes"), "machineProcesses");
    m_model = new ProcessesModel(this);
    m_table = new Table("processesTable", tr("Processes"));
    m_table->setModel(m_model);
    m_table->setColumnWidths({76, 96, 76, 92, 60, 100, 150, 0});
    m_table->setNarrowing({ProcessesModel::kGpuMemory, ProcessesModel::kGpu, ProcessesModel::kUser},
                          {ProcessesModel::kPid, ProcessesModel::kCpu, ProcessesModel::kMemory});
    m_table->setRowsInSight(8);
    m_processes->content()->setContentsMargins(1, 0, 1, 1);
    m_processes->content()->addWidget(m_table);
    column->addWidget(m_processes);
    return content;
}

void MachinesPage::wire() {
    connect(&m_context.fleet, &Fleet::nodesChanged, this, &MachinesPage::rebuildCards);
    connect(&m_timer, &QTimer::timeout, this, &MachinesPage::ask);
    connect(m_fast, &QPushButton::toggled, this, [this] {
        m_timer.setInterval(intervalMs());
        ask();
    });
    for (Chart& each : m_charts) {
        connect(each.choice, &QComboBox::activated, this, [this, &each] {
            each.chosen = each.choice->currentData().toString().toStdString();
            refreshSelected();
        });
        connect(each.chart, &LineChart::pointed, each.chart, &LineChart::setPointer);
    }
}

bool MachinesPage::eventFilter(QObject* watched, QEvent* event) {
    if (watched == window() && event->type() == QEvent::WindowStateChange && isVisible()) {
        if (window()->isMinimized())
            end();
        else
            begin();
    }
    return QWidget::eventFilter(watched, event);
}

void MachinesPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    m_cardsArea->fit();
}

/// As high as all cards are, and no more than half of the page, so that charts have room.
int MachinesPage::heightOfCards(int width) const {
    return m_cards.empty() ? 0 : std::min(CappedArea::wholeHeight(*m_grid, width), height() / 2);
}

void MachinesPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    window()->installEventFilter(this);
    begin();
}

void MachinesPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    end();
}

void MachinesPage::begin() {
    if (std::exchange(m_isLooking, true))
        return;
    m_timer.start(kUntilSettledMs);
    ask();
}

/// The nodes are left alone at once.
void MachinesPage::end() {
    if (!std::exchange(m_isLooking, false))
        return;
    m_timer.stop();
    m_context.engine.ask(LeaveMachinesRequest{m_board.by()});
}

int MachinesPage::intervalMs() const {
    const int wanted = m_fast->isChecked() ? kFastMs : kUsualMs;
    return m_board.isSettled() ? wanted : std::min(wanted, kUntilSettledMs);
}

void MachinesPage::ask() {
    if (!m_isLooking || std::exchange(m_isAsking, true))
        return;
    const int everyMs = m_fast->isChecked() ? kFastMs : kUsualMs;
    std::vector<std::string> all;
    if (m_processes->isOpen())
        all.push_back(m_selected.node);
    using Answer = LookAtMachinesRequest::Answer;
    whenFinished(m_context.engine.ask(LookAtMachinesRequest{m_board.next(everyMs, all)}), this,
                 [this](const QFuture<Answer>& finished) {
                     m_isAsking = false;
                     if (finished.resultCount() == 0)
                         return;
                     const Answer& news = finished.result();
                     m_banner->show(Tone::kBad, news ? QString() : tr("Nothing can be looked at"),
                                    news ? QString() : capitalized(news.error().message));
                     if (!news)
                         return;
                     m_board.take(*news);
                     if (m_isLooking)
                         refresh();
                 });
}

void MachinesPage::rebuildCards() {
    std::vector<std::string> names;
    for (const Node& node : m_context.fleet.nodes())
        names.push_back(node.name);
    m_board.setNodes(names);
    m_grid->clear();
    m_cards.clear();
    for (const std::string& name : names) {
        auto* card = new MachineCard(name);
        connect(card, &MachineCard::lineSelected, this,
                [this, name](int gpu) { select(name, gpu); });
        connect(card, &MachineCard::moveRequested, this,
                [this, name](int gpu, int key) { moveSelection(name, gpu, key); });
        m_cards.push_back(card);
        m_grid->add(card);
    }
    refresh();
}

void MachinesPage::refresh() {
    const auto same = sameMachines(m_board.machines());
    for (size_t i = 0; i < m_cards.size(); ++i) {
        const ShownMachine& machine = m_board.machines()[i];
        const auto found = same.find(machine.node);
        m_cards[i]->show(machine,
                         found == same.end() ? QString() : QString::fromStdString(found->second));
    }
    markSelected();
    refreshHeader();
    refreshSelected();
    if (m_timer.isActive() && m_timer.interval() != intervalMs())
        m_timer.setInterval(intervalMs());
}

void MachinesPage::refreshHeader() {
    const MachineTotals totals = totalsOf(m_board.machines());
    QStringList facts{counted(totals.machines, tr("1 machine"), tr("%1 machines"))};
    if (totals.gpus > 0)
        facts << counted(totals.gpus, tr("1 GPU"), tr("%1 GPUs"))
              << tr("%1 busy").arg(totals.busyGpus);
    if (totals.powerW)
        facts << tr("%1 kW").arg(*totals.powerW / 1000, 0, 'f', 1);
    m_header->setFacts(facts.join(kSeparator));
}

/// Every line that is shown, from the top.
std::vector<MachinesPage::Line> MachinesPage::lines() const {
    std::vector<Line> all;
    for (const MachineCard* card : m_cards)
        for (const DeviceLine* line : card->lines())
            all.push_back({card->node(), line->figures().gpu});
    return all;
}

/// Chooses the first line where the one that was chosen is not there.
void MachinesPage::markSelected() {
    const std::vector<Line> all = lines();
    if (std::ranges::find(all, m_selected) == all.end())
        m_selected = all.empty() ? Line() : all.front();
    QWidget* before = m_fast;
    for (const MachineCard* card : m_cards)
        for (DeviceLine* line : card->lines()) {
            line->setSelected(card->node() == m_selected.node &&
                              line->figures().gpu == m_selected.gpu);
            if (before->nextInFocusChain() != line)
                setTabOrder(before, line);
            before = line;
        }
}

void MachinesPage::select(const std::string& node, int gpu) {
    m_selected = {node, gpu};
    markSelected();
    refreshSelected();
    if (m_processes->isOpen())
        ask();
    if (DeviceLine* line = selectedLine())
        m_cardsArea->ensureWidgetVisible(line, 0, size::kCardGap);
}

/// Null: no line is shown.
DeviceLine* MachinesPage::selectedLine() const {
    for (const MachineCard* card : m_cards)
        for (DeviceLine* line : card->lines())
            if (m_selected == Line{card->node(), line->figures().gpu})
                return line;
    return nullptr;
}

void MachinesPage::focusSelected() {
    QWidget* line = selectedLine();
    (line ? line : m_fast)->setFocus(Qt::OtherFocusReason);
}

/// Up and down to the next line, left and right to the next machine.
void MachinesPage::moveSelection(const std::string& node, int gpu, int key) {
    const std::vector<Line> all = lines();
    const auto at = std::ranges::find(all, Line{node, gpu}) - all.begin();
    auto to = at;
    const auto size = std::ssize(all);
    if (key == Qt::Key_Home || key == Qt::Key_End)
        to = key == Qt::Key_Home ? 0 : size - 1;
    else if (key == Qt::Key_Up || key == Qt::Key_Down)
        to = at + (key == Qt::Key_Down ? 1 : -1);
    else
        while (to >= 0 && to < size && all[static_cast<size_t>(to)].node == node)
            to += key == Qt::Key_Right ? 1 : -1;
    if (to < 0 || to >= size)
        return;
    select(all[static_cast<size_t>(to)].node, all[static_cast<size_t>(to)].gpu);
    focusSelected();
}

/// Fills the choices. Each chart shows what a person chose for it where that is offered.
void MachinesPage::offerFigures(bool ofGpu) {
    if (!m_figures.empty() && m_figures.front().isOfGpu == ofGpu)
        return;
    m_figures = figuresFor(ofGpu);
    for (size_t i = 0; i < m_charts.size(); ++i) {
        Chart& each = m_charts[i];
        each.choice->clear();
        for (const MachineFigure& figure : m_figures)
            each.choice->addItem(figure.name, QString(figure.id));
        const int chosen = each.choice->findData(QString::fromStdString(each.chosen));
        each.choice->setCurrentIndex(chosen < 0 ? static_cast<int>(i) : chosen);
    }
}

void MachinesPage::refreshSelected() {
    const ShownMachine* machine = m_board.find(m_selected.node);
    const MachineSample* now = machine ? machine->now() : nullptr;
    const bool ofGpu = m_selected.gpu >= 0;
    offerFigures(ofGpu);
    QString title = tr("No machine tells of itself yet");
    if (now) {
        const QString node = nodeTitle(m_selected.node);
        title =
            ofGpu ? tr("GPU %1 of %2").arg(m_selected.gpu).arg(node) : tr("CPU of %1").arg(node);
        const auto at = static_cast<size_t>(m_selected.gpu);
        if (ofGpu && at < now->gpus.size())
            for (const std::string& detail : detailsOf(now->gpus[at]))
                title += kSeparator + QString::fromStdString(detail);
    }
    m_selectedTitle->setFullText(title);
    const ChartView view{{.axis = XAxis::kRelative}, -kShownS, 0};
    const int64_t nowNs = wallNowNs();
    for (Chart& each : m_charts) {
        const auto& figure = m_figures[static_cast<size_t>(each.choice->currentIndex())];
        each.chart->setTitle(figure.name);
        each.chart->setFromZero(figure.isFromZero);
        std::vector<Curve> curves;
        if (machine)
            curves = curvesOf(figure, *machine, m_selected.gpu, nowNs);
        std::erase_if(curves, [](const Curve& curve) { return curve.x.isEmpty(); });
        each.chart->show(std::move(curves), view);
    }
    const std::vector<ProcessFigures> processes =
        machine ? machine->processes : std::vector<ProcessFigures>();
    m_model->show(processes);
    m_processes->setSummary(processes.empty()
                                ? tr("what runs on the machine")
                                : QString::fromStdString(processes.front().rank < 0
                                                             ? processes.front().name
                                                             : ownerOf(processes.front())));
}

} // namespace rm
