// SPDX-License-Identifier: GPL-3.0-or-later
// Renders every page at three sizes, light and dark, into build/screenshots, at the scale of
// QT_SCALE_FACTOR, and fails on a page that is empty, cuts a widget or a text, or scrolls sideways.
#include "app/core/fleet/check_rows.h"
#include "app/core/launch/job_script.h"
#include "app/core/launch/link_test.h"
#include "app/core/network/network_file.h"
#include "app/core/store/read_failures.h"
#include "app/core/store/store_writer.h"
#include "app/ui/compare/compare_page.h"
#include "app/ui/data/run_words.h"
#include "app/ui/dialogs/connect_dialogs.h"
#include "app/ui/dialogs/job_script_dialog.h"
#include "app/ui/dialogs/node_dialog.h"
#include "app/ui/dialogs/too_large_dialog.h"
#include "app/ui/look/theme.h"
#include "app/ui/machines/machine_card.h"
#include "app/ui/machines/machines_page.h"
#include "app/ui/new_run/new_run_page.h"
#include "app/ui/new_run/spec_form.h"
#include "app/ui/nodes/nodes_page.h"
#include "app/ui/plot/heat_map.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/plot/parallel_plot.h"
#include "app/ui/plot/scatter_plot.h"
#include "app/ui/run/own_chart_dialog.h"
#include "app/ui/run/range_dialog.h"
#include "app/ui/run/run_page.h"
#include "app/ui/widgets/fold.h"
#include "shared/board/board.h"
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "tests/gui/support/demo_machines.h"
#include "tests/gui/support/demo_nodes.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/widget_audit.h"
#include "tests/gui/support/window_fixture.h"
#include "tests/unit/core/engine/fake_engine.h"
#include "tests/unit/core/network/network_examples.h"

#include <QAbstractItemModel>
#include <QAbstractItemView>
#include <QAction>
#include <QDialog>
#include <QDir>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScopeGuard>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <QTextDocument>
#include <QTextEdit>
#include <QTranslator>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <utility>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kSettleMs = 5000;
constexpr QSize kUsualSize(1440, 900);

/// A language whose texts are as much longer as those of German or French are at most.
class LongerTexts : public QTranslator {
public:
    QString translate(const char*, const char* source, const char*, int) const override {
        constexpr double kLonger = 0.4;
        const QString text = QString::fromUtf8(source), word = QStringLiteral(" etwas");
        const auto more =
            static_cast<qsizetype>(std::ceil(kLonger * static_cast<double>(text.size())));
        return text + word.repeated(1 + more / word.size()).left(more);
    }
    bool isEmpty() const override { return false; }
};

/// The widget as it looks once nothing of it changes any more.
QImage settledPicture(QWidget& widget) {
    QImage last;
    const auto isSame = [&] {
        const QImage now = widget.grab().toImage();
        return std::exchange(last, now) == now;
    };
    if (!QTest::qWaitFor(isSame, kSettleMs))
        qWarning("%s never settles", qPrintable(widget.objectName()));
    return last;
}

} // namespace

class TestScreenshots : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanupTestCase();

    void welcome();
    void welcomeWithRuns();
    void runs();
    void compare();
    void runsGrouped();
    void runsEmpty();
    void runsUnread();
    void runCharts();
    void runMoreCharts();
    void runPictures();
    void runRanks();
    void runLogs();
    void runCheckpoints();
    void runSamples();
    void tryCheckpoint();
    void runSpec();
    void runFailed();
    void runPausing();
    void runWaiting();
    void runHangs();
    void runPreparing();
    void nodes();
    void fleets_data();
    void fleets();
    void machines();
    void waiting();
    void newRun();
    void newRunUnfolded();
    void newRunWithErrors();
    void dialogs();
    void keeping();
    void palette();
    void manual();

private:
    /// A window at every size, a dialog at its own.
    void shoot(QWidget& widget, const QString& name);
    void shootAt(QWidget& window, QSize size, const QString& name);
    void shootNow(QWidget& widget, Theme::Mode mode, const QString& name);
    void openRun(const QString& run, RunPage::Tab tab);
    void waitForChart(const char* chart);
    void waitForCharts();
    void waitForRows(const char* view);

    /// A window of the demo's runs, which is there from the first call to the next dropDemo().
    WindowFixture& demo();
    /// Each window costs a change of theme as much again.
    void dropDemo() { m_demo.reset(); }

    std::unique_ptr<WindowFixture> m_demo;
    QString m_folder;
    std::unique_ptr<LongerTexts> m_longer; ///< by which texts are tried that are longer
};

void TestScreenshots::initTestCase() {
    m_folder = QDir::cleanPath(qEnvironmentVariable("RINGMASTER_BUILD") + "/../screenshots");
    if (qEnvironmentVariableIsSet("RINGMASTER_LONGER_TEXTS")) {
        m_folder += "/longer";
        m_longer = std::make_unique<LongerTexts>();
        QVERIFY(QCoreApplication::installTranslator(m_longer.get()));
    }
    QVERIFY(QDir().mkpath(m_folder));
}

void TestScreenshots::init() {
    if (m_demo)
        m_demo->window().resize(kUsualSize);
}

void TestScreenshots::cleanupTestCase() {
    dropDemo();
}

WindowFixture& TestScreenshots::demo() {
    if (m_demo)
        return *m_demo;
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    if (!m_demo->isGood())
        qFatal("%s", qPrintable(m_demo->problem()));
    const auto showsRuns = [this] {
        return !m_demo->window().findChildren<QPushButton*>("welcomeRun").isEmpty();
    };
    if (!QTest::qWaitFor(showsRuns, kSettleMs))
        qFatal("the demo's window shows no runs");
    m_demo->window().resize(kUsualSize);
    return *m_demo;
}

void TestScreenshots::shootNow(QWidget& widget, Theme::Mode mode, const QString& name) {
    constexpr int kFast = 80; // PNG's quality is how little time goes into making it small
    Theme::instance().setMode(mode);
    const QImage image = settledPicture(widget);
    const QString file = QString("%1/%2-%3@%4x.png")
                             .arg(m_folder, name, modeName(mode))
                             .arg(image.devicePixelRatio());
    QVERIFY2(image.save(file, "PNG", kFast), qPrintable(file));
    QVERIFY2(colourCount(image) > 24 && inkOf(image) > 0.01, qPrintable(name + " is empty"));
    // What is read meanwhile changes texts and adds charts: what lasts must not be cut.
    QStringList clipped;
    const auto isWhole = [&] {
        QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
        clipped = clippedTexts(widget);
        return clipped.isEmpty();
    };
    QVERIFY2(QTest::qWaitFor(isWhole, kSettleMs), qPrintable(name + ":\n" + clipped.join('\n')));
}

void TestScreenshots::shootAt(QWidget& window, QSize size, const QString& name) {
    window.resize(size);
    QTRY_COMPARE(window.size(), size);
    shootNow(window, Theme::Mode::kLight, name);
}

void TestScreenshots::shoot(QWidget& widget, const QString& name) {
    if (!qobject_cast<MainWindow*>(&widget)) {
        shootNow(widget, Theme::Mode::kDark, name);
        shootNow(widget, Theme::Mode::kLight, name);
        return;
    }
    const bool isUnscaled = qFuzzyCompare(widget.devicePixelRatio(), 1.0);
    shootAt(widget, QSize(1000, 700), name + "-1000");
    if (isUnscaled) // what has room for all has it at any scale
        shootAt(widget, QSize(1600, 1000), name + "-1600");
    shootAt(widget, kUsualSize, name);
    if (isUnscaled) // likewise the colours
        shootNow(widget, Theme::Mode::kDark, name);
}

void TestScreenshots::openRun(const QString& run, RunPage::Tab tab) {
    demo().window().showRun(run);
    demo().window().runPage().showTab(tab);
    QTRY_VERIFY_WITH_TIMEOUT(
        demo().window().findChild<QWidget*>("figureStep")->accessibleName().contains("of"), 20'000);
}

void TestScreenshots::waitForChart(const char* name) {
    const auto* chart = demo().window().findChild<LineChart*>(name);
    QVERIFY(chart);
    QTRY_VERIFY(!chart->curves().empty() && !chart->curves().front().x.isEmpty());
}

/// All of the charts' page shows its data, to the end.
void TestScreenshots::waitForCharts() {
    for (const char* name :
         {"chartLoss", "chartLr", "chartGradNorm", "chartThroughput", "chartPhases"}) {
        waitForChart(name);
        const auto* chart = demo().window().findChild<LineChart*>(name);
        QTRY_VERIFY(chart->curves().front().x.back() > 0.9 * chart->view().high);
    }
    QTRY_VERIFY(demo().window().findChild<HeatMap*>("heatMap")->isFilled());
    waitForRows("events");
}

void TestScreenshots::waitForRows(const char* name) {
    const auto* view = demo().window().findChild<QAbstractItemView*>(name);
    QVERIFY(view);
    QTRY_VERIFY(view->model()->rowCount() > 0);
}

void TestScreenshots::welcome() {
    dropDemo();
    WindowFixture empty(WindowFixture::Content::kEmpty);
    shoot(empty.window(), "welcome");
}

void TestScreenshots::welcomeWithRuns() {
    demo().window().showWelcome();
    shoot(demo().window(), "welcome-runs");
}

void TestScreenshots::runs() {
    demo().window().showRuns();
    waitForRows("runsTable");
    demo()
        .window()
        .findChild<QAbstractItemView*>("runsTable")
        ->setCurrentIndex(
            demo().window().findChild<QAbstractItemView*>("runsTable")->model()->index(1, 0));
    shoot(demo().window(), "runs");
}

void TestScreenshots::compare() {
    demo().window().show(); // charts out of sight are not read
    demo().window().compare({kFinishedRun, kPausedRun, kFailedRun});
    QTRY_VERIFY(demo().window().findChild<LineChart*>("compared.train/loss"));
    waitForChart("compared.train/loss");
    waitForRows("comparedSettings");
    shoot(demo().window(), "compare");
    demo().window().comparePage().setRuns({}); // the other views have all runs then
    demo().window().comparePage().showView(ComparePage::kScatter);
    QTRY_VERIFY(demo().window().findChild<ScatterPlot*>("scatterPlot")->dots() > 0);
    shoot(demo().window(), "compare-scatter");
    demo().window().comparePage().showView(ComparePage::kParallel);
    QTRY_VERIFY(demo().window().findChild<ParallelPlot*>("parallelPlot")->kept() > 0);
    shoot(demo().window(), "compare-parallel");
    demo().window().comparePage().showView(ComparePage::kCurves);
    shoot(demo().window(), "compare-empty");
}

/// As a person has arranged them: stars, columns of their own, groups of which one is folded away.
void TestScreenshots::runsGrouped() {
    dropDemo();
    WindowFixture own(WindowFixture::Content::kDemo, WindowFixture::Access::kWrite);
    const auto starred = own.engine().ask(StarRequest{kPicturesRun, true});
    const auto archived = own.engine().ask(ArchiveRequest{kFailedRun, true});
    const auto named = own.engine().ask(
        RenameRequest{kFinishedRun, "gpt-tiny with a name that says all there is to say of it"});
    QTRY_VERIFY(starred.isFinished() && archived.isFinished() && named.isFinished());
    QSettings settings(own.paths().settings(), QSettings::IniFormat);
    settings.setValue("runs/group", "state");
    settings.setValue("runs/folded", QStringList("paused"));
    settings.setValue("runs/columns", QStringList({"optimizer.lr", "best:validation/loss"}));
    settings.sync();
    MainWindow window(own.engine(), own.fleet(), own.paths());
    window.showRuns();
    const auto* rows = window.findChild<QAbstractItemView*>("runsTable")->model();
    QTRY_COMPARE(rows->rowCount(), 4 + 4); // headers and runs
    QTRY_VERIFY(
        rows->match(rows->index(0, rows->columnCount() - 2), Qt::DisplayRole, "0.001").size() > 0);
    shoot(window, "runs-grouped");
    window.findChild<QAbstractItemView*>("runsTable")->selectAll();
    for (const auto& [action, dialog] :
         {std::pair("tagRuns", "tagsDialog"), {"stopRuns", "stopRunsDialog"}}) {
        window.findChild<QAction*>(action)->trigger();
        QTRY_VERIFY(window.findChild<QDialog*>(dialog));
        shoot(*window.findChild<QDialog*>(dialog), dialog);
        window.findChild<QDialog*>(dialog)->reject();
        QTRY_VERIFY(!window.findChild<QDialog*>(dialog));
    }
}

void TestScreenshots::runsEmpty() {
    WindowFixture empty(WindowFixture::Content::kEmpty);
    empty.window().showRuns();
    shoot(empty.window(), "runs-empty");
}

/// What is stored cannot be read, which is no empty list.
void TestScreenshots::runsUnread() {
    dropDemo();
    WindowFixture empty(WindowFixture::Content::kEmpty);
    empty.window().showRuns();
    auto* banner = empty.window().findChild<QWidget*>("unreadBanner");
    QVERIFY(banner && !banner->isVisibleTo(&empty.window()));
    noteReadFailure({ErrorCode::kUnavailable,
                     "list the runs: /home/kc/.local/share/ringmaster/runs.sqlite: database disk "
                     "image is malformed; close Ringmaster and run `ringmaster recover`, which "
                     "keeps that file and puts what can be read of it in its place"});
    const auto forget = qScopeGuard(&forgetPassingReadFailure);
    QTRY_VERIFY(banner->isVisibleTo(&empty.window()));
    const auto says = [&empty](const QString& text) {
        return std::ranges::any_of(empty.window().findChildren<QLabel*>(), [&](const QLabel* each) {
            return each->isVisible() && each->text() == text;
        });
    };
    QVERIFY(says("The runs cannot be read") && !says("No runs yet"));
    shoot(empty.window(), "runs-unread");
}

void TestScreenshots::runCharts() {
    openRun(kRunningRun, RunPage::kCharts);
    waitForCharts();
    shoot(demo().window(), "run");
}

/// What the run reports besides, below the main charts.
void TestScreenshots::runMoreCharts() {
    openRun(kRunningRun, RunPage::kCharts);
    waitForCharts();
    demo().window().resize(kUsualSize);
    auto* bar = demo().window().findChild<QScrollArea*>("chartsScroll")->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 0);
    bar->setValue(bar->maximum());
    waitForChart("chartNodeMemory");
    waitForChart("chartNetwork");
    shootNow(demo().window(), Theme::Mode::kDark, "run-more");
    shootNow(demo().window(), Theme::Mode::kLight, "run-more");
    bar->setValue(0);
}

void TestScreenshots::runPictures() {
    openRun(kPicturesRun, RunPage::kCharts);
    waitForCharts();
    shoot(demo().window(), "run-pictures");
}

void TestScreenshots::runRanks() {
    openRun(kRunningRun, RunPage::kRanks);
    waitForRows("ranksTable");
    shoot(demo().window(), "run-ranks");
}

void TestScreenshots::runLogs() {
    openRun(kRunningRun, RunPage::kLogs);
    QTRY_VERIFY(demo().window().findChild<QPlainTextEdit*>("logText")->blockCount() > 10);
    shoot(demo().window(), "run-logs");
}

void TestScreenshots::runCheckpoints() {
    openRun(kPausedRun, RunPage::kCheckpoints);
    waitForRows("checkpointsTable");
    waitForChart("chartCheckpoints");
    shoot(demo().window(), "checkpoints");
    // What the demo tells of is on no disk.
    openRun(kFinishedRun, RunPage::kCheckpoints);
    waitForRows("checkpointsTable");
    auto* verify = demo().window().findChild<QPushButton*>("verifyCheckpoints");
    verify->click();
    QTRY_VERIFY_WITH_TIMEOUT(verify->isEnabled(), 20'000);
    waitForChart("chartCheckpoints");
    shoot(demo().window(), "checkpoints-verified");
}

void TestScreenshots::runSamples() {
    openRun(kFinishedRun, RunPage::kSamples);
    waitForRows("samplesList");
    shoot(demo().window(), "run-samples");
    auto* steps = demo().window().findChild<QListWidget*>("samplesList");
    steps->selectAll();
    const auto* beside = demo().window().findChild<QTextEdit*>("samplesBeside");
    QTRY_VERIFY(beside->isVisible() && !beside->document()->isEmpty());
    shoot(demo().window(), "run-samples-beside");
    openRun(kPicturesRun, RunPage::kSamples);
    waitForRows("samplePictures");
    shoot(demo().window(), "run-samples-pictures");
}

void TestScreenshots::tryCheckpoint() {
    openRun(kPausedRun, RunPage::kCheckpoints);
    waitForRows("checkpointsTable");
    demo().window().findChild<QPushButton*>("tryCheckpointNow")->click();
    auto* dialog = demo().window().findChild<QDialog*>("tryDialog");
    QVERIFY(dialog);
    dialog->findChild<QTextEdit*>("tryAnswers")
        ->setPlainText("Step 2 000 (node-a, CPU, 2 threads, 0.8 s)\nYou may\n copy it as it is");
    shoot(*dialog, "try-checkpoint");
    dialog->close();
}

void TestScreenshots::runSpec() {
    openRun(kFinishedRun, RunPage::kSpec);
    QTRY_VERIFY(demo().window().findChild<QPlainTextEdit*>("specText")->blockCount() > 10);
    shoot(demo().window(), "run-spec");
}

void TestScreenshots::runFailed() {
    openRun(kFailedRun, RunPage::kCharts);
    QTRY_VERIFY(demo().window().findChild<QWidget*>("failureBanner")->isVisible());
    waitForCharts();
    shoot(demo().window(), "run-failed");
}

void TestScreenshots::runPausing() {
    openRun(kRunningRun, RunPage::kCharts);
    LiveState live;
    live.pending = CommandKind::kPause;
    live.pendingSinceNs = monotonicNowNs() - 12'000'000'000;
    RunState state;
    state.supervised = true;
    for (int rank = 0; rank < 4; ++rank)
        state.ranks.push_back({rank, rank < 3 ? 0 : 41'200 + rank, 9'412, 7, 120, 0, 0});
    live.nodes = {
        {"node-a", LiveState::Link::kLive, {}, 0, state},
        {"node-b", LiveState::Link::kLost, "no answer", wallNowNs() - 95'000'000'000, {}}};
    demo().window().runPage().showLive(live);
    waitForCharts();
    shoot(demo().window(), "run-pausing-link-lost");
    demo().window().findChild<QPushButton*>("declareLost")->click();
    QTRY_VERIFY(demo().window().findChild<QDialog*>("lostDialog"));
    auto* lost = demo().window().findChild<QDialog*>("lostDialog");
    shoot(*lost, "lostDialog");
    lost->close();
    demo().window().runPage().showLive({});
}

/// A kill and a pause that no node has taken yet, and who asked for them.
void TestScreenshots::runWaiting() {
    const auto edit = [this](const std::function<Result<void>(StoreWriter&)>& change) {
        const auto writer = StoreWriter::open(demo().engine().databasePath());
        QVERIFY(writer && change(**writer));
        Q_EMIT demo().engine().runsChanged();
    };
    edit([](StoreWriter& writer) {
        return writer
            .addCommand(kRunningRun, {.id = "id-1",
                                      .kind = "pause",
                                      .by = {"kc", RequestedFrom::kTerminal},
                                      .requestedNs = wallNowNs() - 125'000'000'000})
            .map([](const RequestedCommand&) {});
    });
    openRun(kRunningRun, RunPage::kCharts);
    LiveState live;
    live.pending = CommandKind::kPause;
    live.pendingSinceNs = monotonicNowNs() - 125'000'000'000;
    live.nodes = {
        {"node-a", LiveState::Link::kLost, "no answer", wallNowNs() - 95'000'000'000, {}}};
    demo().window().runPage().showLive(live);
    QTRY_VERIFY(demo().window().findChild<QPushButton*>("withdrawCommand")->isVisible());
    waitForCharts();
    shoot(demo().window(), "run-waiting");
    edit([](StoreWriter& writer) { return writer.closeCommands(kRunningRun, "it was a test"); });
    demo().window().runPage().showLive({});
}

void TestScreenshots::runHangs() {
    openRun(kRunningRun, RunPage::kRanks);
    LiveState live;
    RankState state;
    state.rank = 5;
    state.pid = 4'711;
    state.step = 9'412;
    state.phase = static_cast<uint8_t>(Phase::kForward);
    state.sinceMs = 12'300;
    state.isStopped = true;
    LiveState::NodeLink& node = live.nodes.emplace_back();
    node.node = "node-b";
    node.link = LiveState::Link::kLive;
    node.state.emplace();
    node.state->ranks = {state};
    demo().window().runPage().showLive(live);
    waitForRows("ranksTable");
    shoot(demo().window(), "run-hangs");
    demo().window().runPage().showLive({});
}

void TestScreenshots::runPreparing() {
    openRun(kPreparingRun, RunPage::kCharts);
    LiveState live;
    live.launching = Progress{"Send trainer", 210'000'000, 477'000'000, 48'000'000, 11.2e6, 24};
    demo().window().runPage().showLive(live);
    shoot(demo().window(), "run-preparing");
    demo().window().runPage().showLive({});
}

void TestScreenshots::nodes() {
    // A closed port refuses at once: a real failed check, in words.
    QVERIFY(demo().fleet().add({"node-a", false, "127.0.0.1", "trainer", 9, {}}));
    QVERIFY(demo().fleet().add({"node-b", false, "node-b.lan", {}, 0, {}}));
    NetworkMatrix network =
        example::wholeNetwork({example::networkNode("node-a", {example::at("ens5", "10.0.0.5")}),
                               example::networkNode("node-b", {example::at("eth0", "10.0.0.6")}),
                               example::networkNode("node-c", {example::at("ens5", "10.0.0.7")})});
    network.measuredNs = wallNowNs();
    example::setAnswer(network, 1, "10.0.0.5", example::answered(Reach::kDropped, "eth0"));
    QVERIFY(keepNetwork(demo().paths().state.toStdString(), network));
    demo().window().showNodes();
    demo().window().nodesPage().select("node-a");
    demo().window().findChild<QPushButton*>("checkNode")->click();
    QTRY_VERIFY_WITH_TIMEOUT(demo().fleet().lastCheck("node-a").has_value(), 20'000);
    demo().window().nodesPage().select(kLocalNodeName);
    demo().window().findChild<QPushButton*>("checkNode")->click();
    QTRY_VERIFY_WITH_TIMEOUT(demo().fleet().lastCheck(kLocalNodeName).has_value(), 20'000);
    shoot(demo().window(), "nodes");
}

/// Nodes that are looked at live: some train, one is too hot, one is used by somebody else, one is
/// listed twice, one is away, and one wants a password.
void TestScreenshots::machines() {
    dropDemo();
    WindowFixture own(WindowFixture::Content::kDemo);
    QVERIFY(own.fleet().addAll(demoMachineNodes()));
    DemoMachinesEngine engine(own.engine().databasePath());
    MainWindow window(engine, own.fleet(), own.paths());
    window.resize(kUsualSize);
    window.show();
    window.showMachines();
    const auto hasLines = [&window] {
        const auto cards = window.findChildren<MachineCard*>("machineCard");
        return std::ranges::any_of(
            cards, [](const MachineCard* card) { return card->lines().size() == 4; });
    };
    QTRY_VERIFY(hasLines());
    window.machinesPage().select("node-b", 1);
    shoot(window, "machines");
    window.findChild<Fold*>("machineProcesses")->setOpen(true);
    window.machinesPage().select("node-d", -1);
    auto* scroll = window.findChild<QScrollArea*>("machineScroll")->verticalScrollBar();
    QTRY_VERIFY(scroll->maximum() > 0);
    scroll->setValue(scroll->maximum());
    shootNow(window, Theme::Mode::kLight, "machines-processes");
}

void TestScreenshots::fleets_data() {
    QTest::addColumn<int>("count");
    for (const int count : {0, 2, 16, 64})
        QTest::addRow("%d nodes", count) << count;
}

namespace {

/// What was measured of the links of these nodes: one pair at the rate of a slower link.
LinkTest demoLinkTest(int count) {
    LinkTest test{wallNowNs() - 60'000'000'000, {}, {"NVIDIA H200", {}, {}}};
    std::vector<int64_t> all;
    for (int number = 1; number <= count; ++number) {
        all.push_back(number - 1);
        test.nodes.push_back({demoNodeName(number), "ens5", 10'000, 8});
    }
    const auto sums = [](double seconds) {
        return std::vector<SumTime>{
            {8, 62e-6, 100, 0}, {1 << 20, seconds / 60, 30, 0}, {1 << 26, seconds, 3, 0}};
    };
    test.report.groups = {{{0, 1}, 2, sums(0.57)}, {all, 8 * int64_t{count}, sums(0.11)}};
    return test;
}

/// Answers with a script as it would be sent.
struct ScriptEngine : FakeEngine {
    void post(EngineRequest request, Done done) override {
        const RunSpec& spec = std::get<BatchScriptRequest>(request).spec;
        JobOrder order{kRunIdInScript,
                       "/leonardo/home/userexternal/trainer/.local/share/ringmaster/agents/"
                       "0.1.0/ringmaster-agent",
                       {4, 4},
                       true,
                       "cuda13",
                       "a100",
                       32,
                       4,
                       512'000,
                       spec.launch.sbatch,
                       spec.launch.jobSetup,
                       spec.launch.srun};
        done(Result<QString>(QString::fromStdString(jobScript(order))));
    }
};

} // namespace

/// As many nodes as people have, each with its own trouble, and a network in which node 2 drops
/// what comes from the first.
void TestScreenshots::fleets() {
    dropDemo();
    QFETCH(int, count);
    const QTemporaryDir home; // for what Import reads
    const QByteArray homeBefore = qgetenv("HOME");
    const auto reset = qScopeGuard([&] { qputenv("HOME", homeBefore); });
    qputenv("HOME", home.path().toLocal8Bit());
    QVERIFY(QDir(home.path()).mkpath(".ssh"));
    QVERIFY(writeFileAtomically(home.filePath(".ssh/config").toStdString(),
                                "Host lab-a\n  HostName 10.1.0.1\n  User trainer\n"
                                "Host lab-b\n  HostName 10.1.0.2\n  ProxyJump gate\n"
                                "  IdentityFile ~/.ssh/id_lab\n"));
    WindowFixture own(WindowFixture::Content::kEmpty);
    QVERIFY(addDemoNodes(own.fleet(), count));
    std::vector<NetworkNode> requested;
    for (int number = 1; number <= count; ++number)
        requested.push_back(example::networkNode(
            demoNodeName(number), {example::at("ens5", "10.0.0." + std::to_string(number))}));
    if (count > 0) {
        NetworkMatrix network = example::wholeNetwork(std::move(requested));
        network.measuredNs = wallNowNs();
        example::setAnswer(network, 0, "10.0.0.2", example::answered(Reach::kDropped, "ens5"));
        QVERIFY(keepNetwork(own.paths().state.toStdString(), network));
    }
    if (count > 1)
        QVERIFY(keepLinkTest(own.paths().state.toStdString() + '/' + kLinkTestsFile,
                             toJson(demoLinkTest(count))));
    own.window().show();
    own.window().showNodes();
    checkAll(own.fleet());
    const auto isChecked = [&own](const Node& node) {
        return node.isLocal || own.fleet().lastCheck(QString::fromStdString(node.name));
    };
    const std::vector<Node> nodes = own.fleet().nodes();
    QTRY_VERIFY(std::ranges::all_of(nodes, isChecked));
    if (count > 0)
        own.window().nodesPage().select(QString::fromStdString(demoNodeName(2)));
    shoot(own.window(), QString("nodes-%1").arg(count));
    if (count == 16) // with failures
        for (const auto& [number, fault] :
             {std::pair(4, "full-disk"), std::pair(5, "gpu-errors"), std::pair(8, "unreachable")}) {
            own.window().nodesPage().select(QString::fromStdString(demoNodeName(number)));
            shootAt(own.window(), kUsualSize, QString("nodes-16-%1").arg(fault));
        }
    using Dialogs = std::vector<std::pair<const char*, const char*>>;
    const Dialogs all = {{"importNodes", "importNodesDialog"},
                         {"testLinks", "linkTestDialog"},
                         {"checkHistory", "checkHistoryDialog"},
                         {"editNode", "editNodeDialog"},
                         {"removeNode", "removeNodeDialog"}};
    const Dialogs ofMany = {{"testLinks", "linkTestDialog"}, {"cleanNodes", "cleanNodesDialog"}};
    // All in one theme and then all in the other, as a change of it takes seconds with 64 nodes.
    for (const Theme::Mode mode : {Theme::Mode::kDark, Theme::Mode::kLight})
        for (const auto& [button, name] : count == 2 ? all : count == 64 ? ofMany : Dialogs()) {
            own.window().findChild<QPushButton*>(button)->click();
            auto* dialog = own.window().findChild<QDialog*>(name);
            QVERIFY2(dialog, name);
            if (auto* more = dialog->findChild<Fold*>("nodeMore"))
                more->setOpen(true);
            if (const auto* names = dialog->findChild<QAbstractItemView*>("importNodesTable")) {
                QTRY_COMPARE(names->model()->rowCount(), 2);
                names->model()->setData(names->model()->index(1, 0), Qt::Checked,
                                        Qt::CheckStateRole);
            }
            shootNow(*dialog, mode, count == 2 ? name : QString("%1-%2").arg(name).arg(count));
            dialog->close();
            QTRY_VERIFY(!own.window().findChild<QDialog*>(name));
        }
}

/// A check that waits for a person, who has left the question for later.
void TestScreenshots::waiting() {
    dropDemo();
    using Need = ConnectFailure::Need;
    WindowFixture own(WindowFixture::Content::kEmpty);
    const std::map<QString, ConnectFailure> failures = {
        {"new-key",
         {{ErrorCode::kDenied, "connect to ssh trainer@10.0.0.7:22: its ssh-ed25519 key "
                               "SHA256:6ogFgDPvgHlPtH1TmPmNPjtsDiXCkTVTqOPMzYb9rpA is not known on "
                               "this computer"},
          Need::kTrustHostKey,
          "SHA256:6ogFgDPvgHlPtH1TmPmNPjtsDiXCkTVTqOPMzYb9rpA",
          ConnectFailure::Cause::kHostKey}},
        {"asks-for-a-password",
         {{ErrorCode::kDenied, "log in to ssh trainer@10.0.0.8:22: it takes a password"},
          Need::kPassword,
          {},
          ConnectFailure::Cause::kLogin}}};
    for (const auto& [name, failure] : failures)
        QVERIFY(own.fleet().add({name.toStdString(), false, "10.0.0.7", "trainer", 0, {}}));
    own.fleet().setChecker([&failures](const QString& name, const Credentials&) {
        const ConnectFailure& failure = failures.at(name);
        NodeCheck check{
            name.toStdString(), false, {refusedRow(failure, name.toStdString())}, {}, failure};
        check.checkedNs = wallNowNs();
        return QtFuture::makeReadyFuture(std::move(check));
    });
    own.window().showNodes();
    for (const auto& [name, failure] : failures) {
        const auto checked = own.fleet().check(name);
        QTRY_VERIFY(checked.isFinished());
        own.window().nodesPage().select(name);
        shoot(own.window(), "nodes-" + name);
    }
}

void TestScreenshots::newRun() {
    demo().window().showNewRun();
    auto* forecast = demo().window().findChild<QLabel*>("forecast");
    QTRY_VERIFY_WITH_TIMEOUT(forecast->text().contains("nothing to send"), 20'000);
    shoot(demo().window(), "new-run");
}

void TestScreenshots::newRunUnfolded() {
    demo().window().showNewRun();
    NewRunPage& page = demo().window().newRunPage();
    auto* scroll = page.findChild<QScrollArea*>("newRunScroll");
    for (const char* recipe : {"translation-tiny", "resnet-tiny", "llama-tiny", "gpt-tiny"}) {
        page.prepare(recipe, {});
        page.findChild<SpecForm*>()->unfoldAll();
        shootAt(demo().window(), {1000, 700}, QString("new-run-unfolded-") + recipe);
        scroll->verticalScrollBar()->setValue(0);
    }
}

void TestScreenshots::newRunWithErrors() {
    demo().window().showNewRun();
    demo().window().findChild<QPushButton*>("asFile")->setChecked(true);
    auto* toml = demo().window().findChild<QPlainTextEdit*>("specToml");
    const QString before = toml->toPlainText();
    toml->setPlainText(QString(before).replace("lr = ", "learning_rate = "));
    QTRY_VERIFY(demo().window().findChild<QWidget*>("specError")->isVisible());
    shoot(demo().window(), "new-run-error");
    toml->setPlainText(before);
    demo().window().findChild<QPushButton*>("asFile")->setChecked(false);
}

void TestScreenshots::dialogs() {
    demo().window().showNodes();
    const Node node{"node-c", false, "node-c.lan", "trainer", 0, {}};
    HostKeyDialog trust(node, "SHA256:6ogFgDPvgHlPtH1TmPmNPjtsDiXCkTVTqOPMzYb9rpA",
                        &demo().window());
    PasswordDialog password(node, "connect to ssh trainer@node-c.lan: it wants a password",
                            &demo().window());
    NodeDialog add(demo().fleet(), &demo().window());
    TooLargeDialog tooLarge(
        "node-a has too little memory for gpt2-124m: it needs about 31.4 GiB of its GPU's memory, "
        "and 22.9 GiB are free; train.batch_size = 7 would fit, with train.accumulation = 9 for a "
        "step as large; train.activation_checkpointing = true needs less, too",
        &demo().window());
    ScriptEngine engine;
    RunSpec spec;
    spec.data.train = {"/data/openwebtext"};
    spec.launch.sbatch = {"--partition=gpu", "--time=4:00:00"};
    spec.launch.srun = {"--mpi=none"};
    spec.launch.jobSetup = {"module load cuda"};
    JobScriptDialog script(engine, spec, {{"leonardo", 2}},
                           "ringmaster run SPEC.toml --print-sbatch --node leonardo:2",
                           &demo().window());
    const auto metrics = builtinMetrics();
    OwnChartDialog chart({metrics.begin(), metrics.end()}, 8,
                         {.metrics = {"train/step_ms", "phase/data_ms"}, .ranks = {0, 7}},
                         &demo().window());
    RangeDialog range("Loss", {.low = 0.5}, {0.51, 3.25}, &demo().window());
    const std::initializer_list<std::pair<QDialog*, QString>> all = {
        {&chart, "dialog-own-chart"},   {&range, "dialog-range"}, {&trust, "dialog-host-key"},
        {&password, "dialog-password"}, {&add, "dialog-add"},     {&script, "dialog-job-script"},
        {&tooLarge, "dialog-too-large"}};
    for (const Theme::Mode mode : {Theme::Mode::kDark, Theme::Mode::kLight})
        for (const auto& [dialog, name] : all) {
            dialog->setAttribute(Qt::WA_DeleteOnClose, false);
            dialog->show();
            shootNow(*dialog, mode, name);
            dialog->hide();
        }
}

/// What is asked and told before a run is renamed, cleaned from its nodes or forgotten.
void TestScreenshots::keeping() {
    QTemporaryDir state;
    qputenv("XDG_STATE_HOME", state.path().toLocal8Bit());
    const QString folder =
        state.filePath("ringmaster/runs/" + kFinishedRun + "/node-00000/step-000000600");
    QVERIFY(QDir().mkpath(folder));
    QVERIFY(writeFileAtomically((folder + "/MANIFEST.json").toStdString(),
                                std::string(3'000'000, ' ')));
    const auto edit = [this](const QString& run, bool deleted) {
        const auto writer = StoreWriter::open(demo().engine().databasePath());
        QVERIFY(writer && (*writer)->setDeleted(run, deleted));
        Q_EMIT demo().engine().runsChanged();
    };
    MainWindow& window = demo().window();
    // The resume sheet asks nodes that cannot be reached, for half a minute.
    const auto isReady = [&](const char* ready) {
        const auto* confirm = window.findChild<QPushButton*>(ready);
        return confirm && (confirm->isEnabled() || window.findChild<QLabel*>("resumeChanges"));
    };
    const auto shootDialog = [&](const char* button, const char* dialog, const char* ready) {
        window.findChild<QPushButton*>(button)->click();
        QTRY_VERIFY_WITH_TIMEOUT(isReady(ready), 20'000);
        auto* sheet = window.findChild<QDialog*>(dialog);
        shoot(*sheet, dialog);
        sheet->close();
        QTRY_VERIFY(!window.findChild<QDialog*>(dialog));
    };
    openRun(kRunningRun, RunPage::kCharts);
    auto* more = window.findChild<QPushButton*>("moreRun");
    QTRY_VERIFY(more->isVisible() && more->isEnabled());
    more->click();
    auto* menu = window.findChild<QMenu*>("moreMenu");
    QTRY_VERIFY(menu->isVisible());
    shoot(*menu, "moreMenu");
    menu->close();
    for (const auto& [action, name] : {std::pair(3, "setDialog"), {2, "stepDialog"}}) {
        menu->actions()[action]->setEnabled(true);
        menu->actions()[action]->trigger();
        QTRY_VERIFY(window.findChild<QDialog*>(name));
        shoot(*window.findChild<QDialog*>(name), name);
        window.findChild<QDialog*>(name)->close();
    }
    window.findChild<QPushButton*>("showCommands")->click();
    waitForRows("commandsTable");
    shoot(*window.findChild<QDialog*>("commandsDialog"), "commandsDialog");
    window.findChild<QDialog*>("commandsDialog")->close();
    openRun(kFinishedRun, RunPage::kCharts);
    QTRY_VERIFY(window.findChild<QPushButton*>("cleanRun")->isVisible());
    shootDialog("renameRun", "renameDialog", "renameConfirm");
    shootDialog("cleanRun", "cleanDialog", "cleanConfirm");
    openRun(kFailedRun, RunPage::kCharts);
    QTRY_VERIFY(window.findChild<QPushButton*>("resumeRunOn")->isVisible());
    shootDialog("resumeRunOn", "resumeDialog", "resumeConfirm");
    for (const QString& run : {kFailedRun, kPicturesRun})
        edit(run, true);
    window.showRuns();
    QTRY_VERIFY(window.findChild<QPushButton*>("showTrash")->isVisible());
    shootDialog("showTrash", "trashDialog", "emptyTrash");
    shootAt(window, kUsualSize, "runs-with-trash");
    QTemporaryDir home;
    qputenv("RINGMASTER_HOME", home.path().toLocal8Bit());
    const timespec longAgo[2] = {};
    for (const char* kind : {"data", "bundles", "agents"}) {
        const QString deployed = home.filePath(QString(kind) + "/" + QString(64, 'a'));
        QVERIFY(QDir().mkpath(deployed));
        QVERIFY(writeFileAtomically((deployed + "/file").toStdString(),
                                    std::string(1'700'000 * (kind[0] - '`'), ' ')));
        QCOMPARE(::utimensat(AT_FDCWD, deployed.toLocal8Bit(), longAgo, 0), 0);
    }
    window.showNodes();
    window.findChild<QPushButton*>("cleanNodes")->click();
    const auto* deployed = window.findChild<QAbstractItemView*>("cleanNodesTable");
    // Besides, what lies in the folders of the demo's runs.
    QTRY_COMPARE_WITH_TIMEOUT(deployed->model()->rowCount(), 4, 20'000);
    auto* cleaning = window.findChild<QDialog*>("cleanNodesDialog");
    shoot(*cleaning, "cleanNodesDialog"); // some nodes are still being asked
    cleaning->close();
    QTRY_VERIFY(!window.findChild<QDialog*>("cleanNodesDialog"));
    qunsetenv("RINGMASTER_HOME");
    for (const QString& run : {kFailedRun, kPicturesRun})
        edit(run, false);
    QTRY_VERIFY(!window.findChild<QPushButton*>("showTrash")->isVisible());
    qunsetenv("XDG_STATE_HOME");
}

void TestScreenshots::palette() {
    demo().window().showRuns();
    demo().window().showPalette();
    auto* palette = demo().window().findChild<QDialog*>("palette");
    QVERIFY(palette);
    shoot(*palette, "palette");
    palette->close();
}

void TestScreenshots::manual() {
    demo().window().showManual("launch");
    auto* manual = demo().window().findChild<QDialog*>("manual");
    QVERIFY(manual);
    shoot(*manual, "manual");
    manual->findChild<QLineEdit*>("manualSearch")->setText("checkpoint every");
    shootNow(*manual, Theme::Mode::kLight, "manual-search");
    manual->close();
}

QTEST_MAIN(TestScreenshots)
#include "tst_screenshots.moc"
