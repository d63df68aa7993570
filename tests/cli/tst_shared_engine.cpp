// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/face_channel.h"
#include "app/core/engine/holder/shared_engine.h"
#include "app/core/launch/recipes.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "tests/cli/own_folders.h"

#include <QDir>
#include <QElapsedTimer>
#include <QLocalServer>
#include <QSignalSpy>
#include <QTcpServer>
#include <QTest>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 30'000;

/// One terminal or window, as far as others can tell.
struct Face {
    explicit Face(face::Kind kind = face::Kind::kTerminal)
        : fleet(Paths::fromEnvironment().config)
        , engine(Paths::fromEnvironment(), fleet, kind) {
        (void)fleet.load();
    }

    Result<void> open() {
        auto opened = engine.open();
        if (!QTest::qWaitFor([&] { return opened.isFinished(); }, kDeadlineMs))
            return fail(ErrorCode::kInternal, "no answer");
        return opened.result();
    }

    Fleet fleet;
    SharedEngine engine;
};

std::unique_ptr<Face> opened(face::Kind kind = face::Kind::kTerminal) {
    auto face = std::make_unique<Face>(kind);
    const auto good = face->open();
    if (!good)
        qWarning("%s", good.error().message.c_str());
    return good ? std::move(face) : nullptr;
}

} // namespace

/// Several Ringmasters over one database: one holds it, the others are served by that one.
class TestSharedEngine : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void theFirstHoldsAndTheOthersAreServed();
    void anEditOfOneIsSeenByAll();
    void aNodeOfOneIsANodeOfAll();
    void aCheckIsDoneByTheHolderAndKnownToBoth();
    void whatALaunchWouldMeetIsToldToBoth();
    void whenTheHolderEndsTheNextTakesOver();
    void whatIsAskedWhileNobodyHoldsIsDone();
    void aLaunchEndsWithItsAsker();
    void aLaunchWhoseHolderEndsIsToldSo();
    void aCommandIsAskedAgainAfterItsHolder();
    void aStagedPathIsOfTheFolderOfItsAsker();
    void theWindowThatIsThereIsShown();
    void withoutAWindowNoneIsShown();
    void anotherReleaseIsRefusedByName();
    void whoDoesNotAnswerIsNamed();

private:
    void storeRun(const QString& run, RunStateKind state, const std::string& node = kLocalNodeName);
    RunSummary stored(const QString& run) const;
    void addSilentNode(Fleet& fleet);
    QString database() const { return Paths::fromEnvironment().database(); }

    OwnFolders m_own;
    QTcpServer m_silent; ///< a node that accepts connections and says nothing
};

void TestSharedEngine::init() {
    const Paths paths = Paths::fromEnvironment();
    for (const QString& folder : {paths.data, paths.config, paths.state})
        QDir(folder).removeRecursively();
    QDir().mkpath(paths.data);
    m_silent.close();
    QVERIFY(m_silent.listen(QHostAddress::LocalHost));
}

void TestSharedEngine::storeRun(const QString& run, RunStateKind state, const std::string& node) {
    const auto writer = StoreWriter::open(database());
    QVERIFY(writer);
    const std::string spec = toToml(**loadSpecOrRecipe("gpt-tiny", {}));
    QVERIFY((*writer)->createRun({run, run, spec, {RunNode{0, node, 1, 0}}, {}, 0}));
    QVERIFY((*writer)->setState(run, state));
}

RunSummary TestSharedEngine::stored(const QString& run) const {
    const auto reader = StoreReader::open(database());
    return reader ? (*reader)->run(run).value_or(RunSummary{}) : RunSummary{};
}

void TestSharedEngine::addSilentNode(Fleet& fleet) {
    QVERIFY(fleet.add({"silent", false, "127.0.0.1", {}, m_silent.serverPort(), {}}));
}

void TestSharedEngine::theFirstHoldsAndTheOthersAreServed() {
    const auto first = opened();
    const auto second = opened();
    const auto third = opened(face::Kind::kWindow);
    QVERIFY(first && second && third);
    QVERIFY(first->engine.isHolder());
    QVERIFY(!second->engine.isHolder());
    QVERIFY(!third->engine.isHolder());
}

void TestSharedEngine::anEditOfOneIsSeenByAll() {
    storeRun("x-1", RunStateKind::kPaused);
    const auto first = opened();
    const auto second = opened();
    const auto third = opened();
    QVERIFY(first && second && third);
    QSignalSpy here(&first->engine, &Engine::runsChanged);
    QSignalSpy there(&third->engine, &Engine::runsChanged);
    (void)second->engine.ask(NotesRequest{"x-1", "noted"});
    QTRY_VERIFY_WITH_TIMEOUT(!here.isEmpty() && !there.isEmpty(), kDeadlineMs);
    QCOMPARE(stored("x-1").notes, QString("noted"));
}

void TestSharedEngine::aNodeOfOneIsANodeOfAll() {
    const auto first = opened();
    const auto second = opened();
    const auto third = opened();
    QVERIFY(first && second && third);
    addSilentNode(second->fleet);
    QTRY_VERIFY_WITH_TIMEOUT(first->fleet.find("silent") && third->fleet.find("silent"),
                             kDeadlineMs);
    QVERIFY(first->fleet.remove("silent"));
    QTRY_VERIFY_WITH_TIMEOUT(!second->fleet.find("silent") && !third->fleet.find("silent"),
                             kDeadlineMs);
}

void TestSharedEngine::aCheckIsDoneByTheHolderAndKnownToBoth() {
    const auto first = opened();
    const auto second = opened();
    QVERIFY(first && second);
    const auto check = second->fleet.check(kLocalNodeName);
    QTRY_VERIFY_WITH_TIMEOUT(check.isFinished(), kDeadlineMs);
    QVERIFY(check.result().report);
    QVERIFY(first->fleet.lastCheck(kLocalNodeName));
    QVERIFY(second->fleet.lastCheck(kLocalNodeName));
    QCOMPARE(*second->fleet.lastCheck(kLocalNodeName)->report,
             *first->fleet.lastCheck(kLocalNodeName)->report);
}

void TestSharedEngine::whatALaunchWouldMeetIsToldToBoth() {
    const auto first = opened();
    const auto second = opened();
    QVERIFY(first && second);
    RunSpec spec = **loadSpecOrRecipe("gpt-tiny", {});
    spec.data.train = {"/nowhere", "/no\xffwhere"}; // the second is no UTF-8
    for (Engine* engine : {&first->engine, &second->engine}) {
        const auto preflight = engine->ask(NodePreflightRequest{spec, kLocalNodeName});
        QTRY_VERIFY_WITH_TIMEOUT(preflight.isFinished(), kDeadlineMs);
        QVERIFY2(preflight.result(),
                 preflight.result() ? "" : preflight.result().error().message.c_str());
        QCOMPARE(preflight.result()->problems.size(), 2u);
        QVERIFY(preflight.result()->problems.front().what.find("/nowhere") != std::string::npos);
    }
}

void TestSharedEngine::whenTheHolderEndsTheNextTakesOver() {
    storeRun("x-1", RunStateKind::kRunning, "silent");
    auto first = opened();
    addSilentNode(first->fleet);
    auto second = opened();
    auto third = opened();
    QVERIFY(second && third);
    second->engine.attach("x-1");
    third->engine.attach("x-1");
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    delete m_silent.nextPendingConnection();
    first.reset();
    const auto holders = [&] { return second->engine.isHolder() + third->engine.isHolder(); };
    QTRY_COMPARE_WITH_TIMEOUT(holders(), 1, kDeadlineMs);
    // It follows the run now, for itself and for the other.
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    const auto knows = [](Face& face) {
        const LiveState live = face.engine.live("x-1");
        return live.nodes.size() == 1 && live.nodes[0].node == "silent";
    };
    QTRY_VERIFY_WITH_TIMEOUT(knows(*second) && knows(*third), kDeadlineMs);
}

void TestSharedEngine::whatIsAskedWhileNobodyHoldsIsDone() {
    storeRun("x-1", RunStateKind::kPaused);
    auto first = opened();
    const auto second = opened();
    const auto third = opened();
    QVERIFY(first && second && third);
    first.reset();
    (void)second->engine.ask(NotesRequest{"x-1", "noted"});
    (void)third->engine.ask(TagsRequest{"x-1", {"tagged"}});
    QTRY_COMPARE_WITH_TIMEOUT(stored("x-1").notes, QString("noted"), kDeadlineMs);
    QTRY_COMPARE_WITH_TIMEOUT(stored("x-1").tags, QStringList("tagged"), kDeadlineMs);
}

void TestSharedEngine::aLaunchEndsWithItsAsker() {
    const auto first = opened();
    auto second = opened();
    QVERIFY(first && second);
    addSilentNode(first->fleet);
    QSignalSpy idle(&first->engine, &SharedEngine::idleForOthers);
    second->engine.ask(LaunchRequest{
        **loadSpecOrRecipe("gpt-tiny", {}), {{"silent", 1}}, "x-1", IfTooLarge::kRefuse});
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    QVERIFY(first->engine.isBusyForOthers());
    QVERIFY(first->engine.live("x-1").launching);
    QTRY_VERIFY_WITH_TIMEOUT(second->engine.live("x-1").launching, kDeadlineMs);
    QCOMPARE(second->engine.ownLaunches(), QStringList("x-1"));
    QCOMPARE(first->engine.ownLaunches(), QStringList());
    second.reset();
    QTRY_VERIFY_WITH_TIMEOUT(!first->engine.live("x-1").launching, kDeadlineMs);
    QCOMPARE(idle.size(), 1);
}

void TestSharedEngine::aLaunchWhoseHolderEndsIsToldSo() {
    auto first = opened();
    const auto second = opened();
    QVERIFY(first && second);
    addSilentNode(first->fleet);
    const auto launched = second->engine.ask(LaunchRequest{
        **loadSpecOrRecipe("gpt-tiny", {}), {{"silent", 1}}, "x-1", IfTooLarge::kRefuse});
    QTRY_VERIFY_WITH_TIMEOUT(second->engine.live("x-1").launching, kDeadlineMs);
    first.reset();
    QTRY_VERIFY_WITH_TIMEOUT(launched.isFinished(), kDeadlineMs);
    const Error error = launched.result().error();
    QCOMPARE(error.code, ErrorCode::kUnavailable);
    const std::string pid = "pid " + std::to_string(QCoreApplication::applicationPid());
    for (const std::string& part : {std::string("launch x-1: "), pid, std::string("lists x-1")})
        QVERIFY2(error.message.find(part) != std::string::npos, error.message.c_str());
}

void TestSharedEngine::aCommandIsAskedAgainAfterItsHolder() {
    storeRun("x-1", RunStateKind::kRunning, "silent");
    auto first = opened();
    const auto second = opened();
    QVERIFY(first && second);
    addSilentNode(first->fleet);
    const auto held = second->engine.ask(CommandRequest{"x-1", CommandKind::kHold, {}, {}, {}});
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    delete m_silent.nextPendingConnection();
    first.reset();
    QTRY_VERIFY_WITH_TIMEOUT(second->engine.isHolder(), kDeadlineMs);
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    QVERIFY(!held.isFinished());
}

void TestSharedEngine::aStagedPathIsOfTheFolderOfItsAsker() {
    const auto first = opened();
    const auto second = opened();
    QVERIFY(first && second);
    QSignalSpy listed(&second->engine, &Engine::runsChanged);
    const QString before = QDir::currentPath();
    QDir().mkpath(m_own.path("elsewhere"));
    QVERIFY(QDir::setCurrent(m_own.path("elsewhere")));
    QFile data("data.txt");
    QVERIFY(data.open(QIODevice::WriteOnly) && data.resize(1 << 20));
    const auto launched = second->engine.ask(LaunchRequest{
        **loadSpecOrRecipe("gpt-tiny", {"data.stage=true", "data.train=['data.txt']"}),
        {{kLocalNodeName, 1}},
        "x-1",
        IfTooLarge::kRefuse});
    QVERIFY(QDir::setCurrent(before));
    QTRY_VERIFY_WITH_TIMEOUT(!stored("x-1").id.isEmpty() || launched.isFinished(), kDeadlineMs);
    QVERIFY2(!stored("x-1").id.isEmpty(), launched.isFinished() && !launched.result()
                                              ? launched.result().error().message.c_str()
                                              : "");
    const auto reader = StoreReader::open(database());
    const std::string path = m_own.path("elsewhere/data.txt").toStdString();
    QVERIFY((*reader)->specToml("x-1").find(path) != std::string::npos);
    second->engine.ask(CommandRequest{"x-1", CommandKind::kKill, {}, {}, {}});
    QTRY_VERIFY_WITH_TIMEOUT(launched.isFinished(), kDeadlineMs);
}

void TestSharedEngine::theWindowThatIsThereIsShown() {
    const auto holder = opened(face::Kind::kTerminal);
    const auto window = opened(face::Kind::kWindow);
    const auto second = opened(face::Kind::kWindow);
    QVERIFY(holder && window && second);
    QSignalSpy requested(&window->engine, &SharedEngine::windowRequested);
    const auto shown = second->engine.showOtherWindow("token");
    QTRY_VERIFY_WITH_TIMEOUT(shown.isFinished(), kDeadlineMs);
    QVERIFY(shown.result());
    QTRY_COMPARE_WITH_TIMEOUT(requested.size(), 1, kDeadlineMs);
    QCOMPARE(requested.front().front().toByteArray(), QByteArray("token"));
}

void TestSharedEngine::withoutAWindowNoneIsShown() {
    const auto holder = opened(face::Kind::kTerminal);
    const auto window = opened(face::Kind::kWindow);
    QVERIFY(holder && window);
    const auto shown = window->engine.showOtherWindow({});
    QTRY_VERIFY_WITH_TIMEOUT(shown.isFinished(), kDeadlineMs);
    QVERIFY(!shown.result());
}

void TestSharedEngine::anotherReleaseIsRefusedByName() {
    const auto writer = StoreWriter::open(database());
    QVERIFY(writer);
    QLocalServer other;
    QVERIFY(other.listen(m_own.path("other.sock")));
    QVERIFY((*writer)->announce(m_own.path("other.sock").toStdString()));
    std::unique_ptr<FaceChannel> channel;
    connect(&other, &QLocalServer::newConnection, this, [&] {
        channel = std::make_unique<FaceChannel>(other.nextPendingConnection());
        channel->send(face::Hello{"ringmaster", "0.0.7", 4711, face::Kind::kWindow});
    });
    Face late;
    QElapsedTimer timer;
    timer.start();
    const auto refused = late.open();
    QVERIFY(!refused);
    QVERIFY(timer.elapsed() < 5000);
    for (const char* part : {"0.0.7", "4711", RINGMASTER_RELEASE, "close that one"})
        QVERIFY2(refused.error().message.find(part) != std::string::npos,
                 refused.error().message.c_str());
}

void TestSharedEngine::whoDoesNotAnswerIsNamed() {
    auto writer = StoreWriter::open(database());
    QVERIFY(writer);
    QLocalServer silent;
    QVERIFY(silent.listen(m_own.path("silent.sock")));
    QVERIFY((*writer)->announce(m_own.path("silent.sock").toStdString()));
    Face late;
    const auto refused = late.open();
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::kUnavailable);
    const std::string pid = std::to_string(QCoreApplication::applicationPid());
    for (const std::string& part : {pid, std::string("does not answer")})
        QVERIFY2(refused.error().message.find(part) != std::string::npos,
                 refused.error().message.c_str());
    // Later, it is asked for again.
    writer->reset();
    QVERIFY(late.open());
    QVERIFY(late.engine.isHolder());
}

QTEST_GUILESS_MAIN(TestSharedEngine)
#include "tst_shared_engine.moc"
