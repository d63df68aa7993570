// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/main_window.h"

#include "app/core/engine/engine.h"
#include "app/core/engine/queue_driver.h"
#include "app/core/settings/paths.h"
#include "app/core/store/read_failures.h"
#include "app/core/store/run_summary.h"
#include "app/ui/compare/compare_page.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/run_styles.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/dialogs/manual_window.h"
#include "app/ui/dialogs/node_connector.h"
#include "app/ui/dialogs/queue_dialog.h"
#include "app/ui/dialogs/sheet.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/machines/machines_page.h"
#include "app/ui/new_run/new_run_page.h"
#include "app/ui/nodes/nodes_page.h"
#include "app/ui/palette_dialog.h"
#include "app/ui/rail.h"
#include "app/ui/run/run_actions.h"
#include "app/ui/run/run_page.h"
#include "app/ui/runs/runs_page.h"
#include "app/ui/runs/welcome_page.h"
#include "app/ui/widgets/banner.h"
#include "app/ui/widgets/escape_clears.h"
#include "app/ui/widgets/toast.h"
#include "app/ui/widgets/wheel_guard.h"

#include <QApplication>
#include <QCloseEvent>
#include <QHBoxLayout>
#include <QIcon>
#include <QKeyEvent>
#include <QPointer>
#include <QPushButton>
#include <QScreen>
#include <QSettings>
#include <QShortcut>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr QSize kFirstSize(1440, 900);
constexpr QSize kSmallest(640, 400); ///< fits a 1440 x 900 screen at scale factor 2
constexpr int kRanksHere = 2;
const QString kFirstRecipe = "gpt-tiny";

QSettings settingsIn(const Paths& paths) {
    return {paths.settings(), QSettings::IniFormat};
}

/// The oldest first.
QStringList byAge(const std::vector<RunSummary>& runs) {
    std::vector<const RunSummary*> order;
    for (const RunSummary& run : runs)
        order.push_back(&run);
    std::ranges::sort(order, {},
                      [](const RunSummary* run) { return std::pair(run->createdNs, run->id); });
    QStringList ids;
    for (const RunSummary* run : order)
        ids << run->id;
    return ids;
}

} // namespace

MainWindow::MainWindow(Engine& engine, Fleet& fleet, const Paths& paths)
    : m_engine(engine)
    , m_fleet(fleet)
    , m_paths(paths)
    , m_store(new StoreThread(engine.databasePath(), this))
    , m_runsFeed(new RunsFeed(engine, *m_store, this))
    , m_toast(new Toast(this))
    , m_connector(new NodeConnector(fleet, this))
    , m_context(new AppContext{engine, fleet, paths, *m_store, *m_runsFeed, *m_connector, *m_toast,
                               *new RunStyles(paths.settings(), this)}) {
    buildUi();
    wire();
    restore();
}

MainWindow::~MainWindow() {
    whenReadFails({});
}

void MainWindow::buildUi() {
    Theme::instance().install(*qApp);
    WheelGuard::install(*qApp);
    EscapeClears::install(*qApp);
    setObjectName("mainWindow");
    setWindowTitle(tr("Ringmaster"));
    setWindowIcon(QIcon(":/icons/ringmaster.svg"));
    setMinimumSize(kSmallest);
    // Each has its parent from the start: with a style sheet, Qt styles all of what it gets another
    // parent anew.
    auto* central = new QWidget(this);
    auto* row = new QHBoxLayout(central);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(0);
    m_rail = new Rail(*m_runsFeed, central);
    m_unread = new Banner("unreadBanner", central);
    m_unread->hide();
    m_stack = new QStackedWidget(central);
    m_welcome = new WelcomePage(*m_context, m_stack);
    m_runs = new RunsPage(*m_context, m_stack);
    m_nodes = new NodesPage(*m_context, m_stack);
    for (QWidget* page : std::initializer_list<QWidget*>{m_welcome, m_runs, m_nodes})
        m_stack->addWidget(page);
    auto* pages = new QVBoxLayout;
    pages->setSpacing(0);
    pages->addWidget(m_unread);
    pages->addWidget(m_stack, 1);
    row->addWidget(m_rail);
    row->addLayout(pages, 1);
    setCentralWidget(central);
    m_toast->raise();
}

void MainWindow::wire() {
    connect(&m_engine, &Engine::failed, this, [this](const QString& run, const QString& message) {
        const RunSummary* known = m_runsFeed->find(run);
        m_toast->say(known ? known->name + ": " + message : message);
    });
    whenReadFails([this](const Error& error) {
        QMetaObject::invokeMethod(this, [this, why = QString::fromStdString(error.message)] {
            m_unread->show(Tone::kBad,
                           tr("Not all that is stored can be read: what is missing here may be "
                              "there"),
                           why);
            m_runs->refresh();
        });
    });
    connect(m_store, &StoreThread::broken, m_toast, &Toast::say);
    connect(m_connector, &NodeConnector::problem, m_toast, &Toast::say);
    connect(&m_context->engine, &Engine::loginRefused, m_connector, &NodeConnector::check);
    connect(m_runsFeed, &RunsFeed::changed, this, &MainWindow::chooseFirstPage);
    connect(m_runsFeed, &RunsFeed::changed, this,
            [this] { m_context->styles.see(byAge(m_runsFeed->runs())); });
    connect(&Theme::instance(), &Theme::changed, this,
            [this] { settingsIn(m_paths).setValue("theme", modeName(Theme::instance().mode())); });
    wirePages();
    wireKeys();
    driveQueue();
}

/// While this window is open, what waits starts as nodes become free.
void MainWindow::driveQueue() {
    auto* driver = new QueueDriver(m_engine, this);
    connect(driver, &QueueDriver::looked, this, [this](const QueueProgress& progress) {
        for (const auto& [run, why] : progress.problems) {
            const RunSummary* known = m_runsFeed->find(run);
            if (m_queueProblems.insert(run + why).second)
                m_toast->say((known ? known->name : run) + ": " + why);
        }
    });
}

void MainWindow::showQueue() {
    (new QueueDialog(*m_context, this))->open();
}

void MainWindow::onEnqueued(const QStringList& runs) {
    m_toast->say(
        counted(runs.size(), tr("1 run waits in the queue"), tr("%1 runs wait in the queue")));
    if (runs.size() == 1)
        showRun(runs.front());
    else
        showRuns();
}

void MainWindow::wirePages() {
    connect(m_rail, &Rail::placeChosen, this, [this](Rail::Place place) {
        if (place == Rail::Place::kRuns)
            showRuns();
        else if (place == Rail::Place::kNewRun)
            showNewRun();
        else if (place == Rail::Place::kNodes)
            showNodes();
        else if (place == Rail::Place::kMachines)
            showMachines();
        else
            showCompare();
    });
    connect(m_rail, &Rail::runChosen, this, &MainWindow::showRun);
    connect(m_rail, &Rail::paletteRequested, this, &MainWindow::showPalette);
    connect(m_rail, &Rail::manualRequested, this, [this] { showManual(); });
    connect(m_welcome, &WelcomePage::trainHereRequested, this, &MainWindow::trainHere);
    connect(m_welcome, &WelcomePage::formRequested, this, &MainWindow::prepareHere);
    connect(m_welcome, &WelcomePage::runChosen, this, &MainWindow::showRun);
    connect(m_welcome, &WelcomePage::addNodeRequested, this, [this] {
        showNodes();
        m_nodes->addNode();
    });
    connect(m_runs, &RunsPage::runChosen, this, &MainWindow::showRun);
    connect(m_runs, &RunsPage::newRunRequested, this, &MainWindow::showNewRun);
    connect(m_runs, &RunsPage::compareRequested, this, &MainWindow::compare);
}

/// False: it was there.
template <class Page>
bool MainWindow::makePage(Page*& page) {
    if (page)
        return false;
    page = new Page(*m_context, m_stack);
    m_stack->addWidget(page);
    return true;
}

RunPage& MainWindow::runPage() {
    if (makePage(m_run))
        wireRun();
    return *m_run;
}

NewRunPage& MainWindow::newRunPage() {
    if (makePage(m_newRun))
        wireNewRun();
    return *m_newRun;
}

ComparePage& MainWindow::comparePage() {
    if (makePage(m_compare))
        wireCompare();
    return *m_compare;
}

MachinesPage& MainWindow::machinesPage() {
    makePage(m_machines);
    return *m_machines;
}

void MainWindow::wireRun() {
    const auto* actions = m_run->findChild<RunActions*>();
    connect(actions, &RunActions::compareRequested, this, &MainWindow::compare);
    connect(actions, &RunActions::lineageRequested, this, [this](const QString& run) {
        comparePage().showLineageOf(run);
        showCompare();
    });
    connect(actions, &RunActions::reproduced, this, &MainWindow::showRun);
    const auto editAgain = [this](const QString& run, const QString& toml,
                                  const std::vector<Placement>& nodes) {
        newRunPage().prepareAgain(run, toml, nodes);
        showNewRun();
    };
    connect(m_run, &RunPage::editRequested, this, editAgain);
    connect(actions, &RunActions::editRequested, this, editAgain);
    connect(
        m_run, &RunPage::branchRequested, this,
        [this](const BranchPoint& from, const QString& toml, const std::vector<Placement>& nodes) {
            newRunPage().prepareBranch(from, toml, nodes);
            showNewRun();
        });
}

void MainWindow::wireNewRun() {
    connect(m_newRun, &NewRunPage::launched, this, [this](const QString& run) {
        showRun(run);
        m_run->setFocus(Qt::OtherFocusReason); // its button is gone
        m_run->showTab(RunPage::kCharts);
    });
    connect(m_newRun, &NewRunPage::enqueued, this, &MainWindow::onEnqueued);
    connect(m_newRun, &NewRunPage::notLaunched, this, [this](const QString& run) {
        if (m_stack->currentWidget() == m_run && m_run->run() == run && !m_runsFeed->find(run))
            showNewRun();
    });
}

void MainWindow::wireCompare() {
    connect(m_compare, &ComparePage::runChosen, this, &MainWindow::showRun);
    connect(m_compare, &ComparePage::chooseRequested, this, [this] {
        showRuns();
        m_runs->focusTable();
    });
}

void MainWindow::wireKeys() {
    const auto bind = [this](QKeySequence keys, auto action) {
        connect(new QShortcut(keys, this), &QShortcut::activated, this, action);
    };
    bind(Qt::CTRL | Qt::Key_K, [this] { showPalette(); });
    for (const Qt::Key key : {Qt::Key_F1, Qt::Key_Question})
        bind(QKeySequence(key), [this] { showManual(); });
    bind(QKeySequence(Qt::Key_F11), [this] {
        if (m_stack->currentWidget() != m_run || !m_run->showAlone())
            setWindowState(windowState() ^ Qt::WindowFullScreen);
    });
    const auto bindPage = [&](QKeySequence keys, void (MainWindow::*showPage)()) {
        bind(std::move(keys), [this, showPage] {
            (this->*showPage)();
            focusPage();
        });
    };
    bindPage(Qt::CTRL | Qt::Key_N, &MainWindow::showNewRun);
    bindPage(Qt::CTRL | Qt::Key_1, &MainWindow::showRuns);
    bindPage(Qt::CTRL | Qt::Key_2, &MainWindow::showNewRun);
    bindPage(Qt::CTRL | Qt::Key_3, &MainWindow::showNodes);
    bindPage(Qt::CTRL | Qt::Key_4, &MainWindow::showCompare);
    bindPage(Qt::CTRL | Qt::Key_5, &MainWindow::showMachines);
    bind(Qt::CTRL | Qt::Key_F, [this] {
        if (m_stack->currentWidget() == m_run) {
            m_run->focusFilter();
            return;
        }
        showRuns();
        m_runs->focusFilter();
    });
}

void MainWindow::restore() {
    QSettings settings = settingsIn(m_paths);
    resize(kFirstSize.boundedTo(screen()->availableSize() - QSize(0, size::kTitleBar)));
    restoreGeometry(settings.value("window/geometry").toByteArray());
    if (settings.contains("theme"))
        Theme::instance().setMode(modeFromName(settings.value("theme").toString()));
    showWelcome();
    chooseFirstPage();
}

void MainWindow::keyPressEvent(QKeyEvent* event) {
    auto* button = qobject_cast<QPushButton*>(focusWidget());
    const bool isReturn = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (isReturn && event->modifiers() == (event->modifiers() & Qt::KeypadModifier) && button)
        button->click();
    else
        QMainWindow::keyPressEvent(event);
}

void MainWindow::closeEvent(QCloseEvent* event) {
    const qsizetype launches = m_engine.ownLaunches().size();
    const bool isRequested = event->spontaneous() && !qApp->isSavingSession();
    if (isRequested && launches > 0) {
        event->ignore();
        askToClose(launches);
        return;
    }
    QSettings settings = settingsIn(m_paths);
    const auto live = std::ranges::count_if(
        m_runsFeed->runs(), [](const RunSummary& run) { return isLive(run.state); });
    const auto waiting = std::ranges::count_if(
        m_runsFeed->runs(), [](const RunSummary& run) { return run.queuePlace > 0; });
    const bool isNews = live > 0 && !settings.value("window/hasToldOfLiveRuns").toBool();
    if (isRequested && (isNews || waiting > 0)) {
        if (isNews)
            settings.setValue("window/hasToldOfLiveRuns", true);
        event->ignore();
        tellWhatGoesOn(isNews ? live : 0, waiting);
        return;
    }
    settings.setValue("window/geometry", saveGeometry());
    QMainWindow::closeEvent(event);
}

void MainWindow::askToClose(qsizetype launches) {
    askToClose(counted(launches, tr("1 launch is still under way; closing cancels it."),
                       tr("%1 launches are still under way; closing cancels them.")),
               tr("Close anyway"), "danger");
}

/// What waits is told each time, as nothing starts it while no window is open.
void MainWindow::tellWhatGoesOn(qsizetype live, qsizetype waiting) {
    QStringList words;
    if (live > 0)
        words << counted(live, tr("1 run goes on without this window, and nothing of it is lost."),
                         tr("%1 runs go on without this window, and nothing of them is lost.")) +
                     ' ' + tr("Ringmaster says so only once.");
    if (waiting > 0)
        words << counted(waiting,
                         tr("1 run waits in the queue and starts only while Ringmaster is "
                            "open, or `ringmaster queue work` runs in a terminal."),
                         tr("%1 runs wait in the queue and start only while Ringmaster is open, or "
                            "`ringmaster queue work` runs in a terminal."));
    askToClose(words.join(' '), tr("Close"), "primary");
}

/// Closing by the program is not asked about again.
void MainWindow::askToClose(const QString& words, const QString& closing, const char* role) {
    auto* sheet = new Sheet(tr("Close Ringmaster?"), words, "closeDialog", this);
    QPushButton* close = sheet->addButton(closing, role, "closeAnyway");
    const bool isLoss = role == std::string_view("danger");
    QPushButton* back = sheet->addButton(tr("Keep open"), isLoss ? "primary" : "", "keepOpen");
    QPushButton* usual = isLoss ? back : close;
    usual->setDefault(true);
    usual->setFocus();
    connect(close, &QPushButton::clicked, sheet, &QDialog::accept);
    connect(back, &QPushButton::clicked, sheet, &QDialog::reject);
    connect(sheet, &QDialog::accepted, this, &QWidget::close);
    sheet->open();
}

void MainWindow::chooseFirstPage() {
    if (m_firstPageChosen || !m_runsFeed->isLoaded())
        return;
    m_firstPageChosen = true;
    if (!m_runsFeed->runs().empty() && m_stack->currentWidget() == m_welcome)
        showRuns();
}

void MainWindow::showWelcome() {
    m_rail->setPlace(Rail::Place::kNone);
    m_stack->setCurrentWidget(m_welcome);
    m_welcome->setFocus();
}

void MainWindow::showRuns() {
    m_rail->setPlace(Rail::Place::kRuns);
    m_stack->setCurrentWidget(m_runs);
}

void MainWindow::showRun(const QString& run) {
    runPage().setRun(run);
    m_rail->setPlace(Rail::Place::kRuns);
    m_stack->setCurrentWidget(m_run);
}

void MainWindow::showNewRun() {
    m_rail->setPlace(Rail::Place::kNewRun);
    m_stack->setCurrentWidget(&newRunPage());
}

void MainWindow::showNodes() {
    m_rail->setPlace(Rail::Place::kNodes);
    m_stack->setCurrentWidget(m_nodes);
    if (m_stack->isAncestorOf(focusWidget())) // a person who walks along the rail stays there
        m_nodes->focusSelected();
}

void MainWindow::showCompare() {
    m_rail->setPlace(Rail::Place::kCompare);
    m_stack->setCurrentWidget(&comparePage());
}

void MainWindow::showMachines() {
    m_rail->setPlace(Rail::Place::kMachines);
    m_stack->setCurrentWidget(&machinesPage());
}

void MainWindow::compare(const QStringList& runs) {
    comparePage().replaceRuns(runs);
    showCompare();
}

/// On Nodes and Machines what is chosen, on Runs the table; else the first widget in the page's tab
/// order.
void MainWindow::focusPage() {
    const QWidget* page = m_stack->currentWidget();
    if (page == m_nodes)
        return m_nodes->focusSelected();
    if (page == m_machines)
        return m_machines->focusSelected();
    if (page == m_runs && m_runs->focusTable())
        return;
    QWidget* widget = page->nextInFocusChain();
    for (; widget != page; widget = widget->nextInFocusChain())
        if (page->isAncestorOf(widget) && widget->isVisible() && widget->isEnabled() &&
            (widget->focusPolicy() & Qt::TabFocus) == Qt::TabFocus) {
            widget->setFocus(Qt::ShortcutFocusReason);
            return;
        }
}

void MainWindow::prepareHere() {
    newRunPage().prepare(kFirstRecipe, {{kLocalNodeName, kRanksHere}});
    showNewRun();
}

/// Launches with one click. The run's page is shown at once and reports how the launch goes.
void MainWindow::trainHere() {
    newRunPage().prepare(kFirstRecipe, {{kLocalNodeName, kRanksHere}});
    const QString run = m_newRun->launchNow();
    if (run.isEmpty()) {
        showNewRun();
        return;
    }
    runPage().expect(run, kFirstRecipe);
    showRun(run);
}

/// What can be done with the run that is on the screen.
std::vector<PaletteEntry> MainWindow::runEntries() const {
    std::vector<PaletteEntry> entries;
    if (m_stack->currentWidget() != m_run)
        return entries;
    for (QPushButton* button : m_run->buttons())
        entries.push_back(
            {button->text(), tr("of %1").arg(m_run->name()), [button = QPointer(button)] {
                 // The button may have been hidden while the palette was open.
                 if (button && button->isVisible())
                     button->click();
             }});
    for (QAction* action : m_run->menuActions())
        entries.push_back(
            {action->text(), tr("of %1").arg(m_run->name()), [action = QPointer(action)] {
                 if (action)
                     action->trigger(); // nothing, if its state does not allow it any more
             }});
    return entries;
}

std::vector<PaletteEntry> MainWindow::actionEntries() {
    return {
        {tr("Train on this computer"), tr("action"), [this] { trainHere(); }},
        {tr("Add a node"), tr("action"),
         [this] {
             showNodes();
             m_nodes->addNode();
         }},
        {tr("Check all nodes"), tr("action"),
         [this] {
             showNodes();
             m_connector->checkAll();
         }},
        {tr("Queue"), tr("action"), [this] { showQueue(); }},
        {tr("Light colours"), tr("action"), [] { Theme::instance().setMode(Theme::Mode::kLight); }},
        {tr("Dark colours"), tr("action"), [] { Theme::instance().setMode(Theme::Mode::kDark); }},
        {tr("Colours as the desktop has them"), tr("action"),
         [] { Theme::instance().setMode(Theme::Mode::kSystem); }}};
}

std::vector<PaletteEntry> MainWindow::paletteEntries() {
    std::vector<PaletteEntry> entries{{tr("Runs"), tr("page"), [this] { showRuns(); }},
                                      {tr("New run"), tr("page"), [this] { showNewRun(); }},
                                      {tr("Nodes"), tr("page"), [this] { showNodes(); }},
                                      {tr("Compare"), tr("page"), [this] { showCompare(); }},
                                      {tr("Machines"), tr("page"), [this] { showMachines(); }},
                                      {tr("Welcome"), tr("page"), [this] { showWelcome(); }},
                                      {tr("Manual"), tr("page"), [this] { showManual("index"); }}};
    std::ranges::move(runEntries(), std::back_inserter(entries));
    std::ranges::move(actionEntries(), std::back_inserter(entries));
    for (const auto& [title, button] : m_nodes->actions())
        entries.push_back({title, tr("action"), [this, button = button] {
                               showNodes();
                               if (button->isVisible()) // as while the palette was open
                                   button->click();
                           }});
    // With its id: others may be called the same, and warnings name runs by their ids.
    for (const RunSummary& run : m_runsFeed->runs())
        entries.push_back({run.name + " (" + run.id + "), " + stateWords(run).text, tr("run"),
                           [this, id = run.id] { showRun(id); }});
    for (const Node& node : m_fleet.nodes())
        entries.push_back(
            {nodeTitle(node.name), tr("node"), [this, name = QString::fromStdString(node.name)] {
                 showNodes();
                 m_nodes->select(name);
             }});
    return entries;
}

QString MainWindow::topicOfPage() const {
    const QWidget* page = m_stack->currentWidget();
    if (page == m_nodes)
        return "nodes";
    if (page == m_newRun)
        return "launch";
    if (page == m_run)
        return m_run->manualTopic();
    if (page == m_compare)
        return "compare";
    if (page == m_machines)
        return "machines";
    return page == m_welcome ? "first-run" : "runs";
}

void MainWindow::showManual(const QString& topic) {
    auto* manual = findChild<ManualWindow*>();
    if (!manual) {
        auto read = Manual::read();
        if (!read)
            return m_toast->say(QString::fromStdString(read.error().message));
        manual = new ManualWindow(std::move(*read), this);
    }
    manual->showTopic(topic.isEmpty() ? topicOfPage() : topic);
    manual->show();
    manual->raise();
    manual->activateWindow();
}

void MainWindow::showPalette() {
    (new PaletteDialog(paletteEntries(), this))->show();
}

void MainWindow::comeToFront(const QByteArray& activationToken) {
    if (!activationToken.isEmpty())
        qputenv("XDG_ACTIVATION_TOKEN", activationToken);
    setWindowState(windowState() & ~Qt::WindowMinimized);
    show();
    raise();
    activateWindow();
}

} // namespace rm
