// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/local_engine.h"
#include "app/core/fleet/fleet.h"
#include "app/core/follow/followed_run.h"
#include "app/core/launch/recipes.h"
#include "app/core/launch/trial.h"
#include "app/core/runs/parts_of_run.h"
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"
#include "tests/cli/own_folders.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QSignalSpy>
#include <QTcpServer>
#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 30000;
constexpr int kAtOnceMs = 1000;

CheckpointSaved savedAt(int64_t step, const std::string& path) {
    CheckpointSaved saved;
    saved.step = step;
    saved.path = path;
    return saved;
}

} // namespace

/// The engine at its edges, with the real agent on this computer.
class TestEngine : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void aRunThatItsNodeDoesNotKnowHasFailed();
    void aSpecOutOfBoundsIsRefused();
    void stopBeforeTheRanksStartCancelsTheLaunch();
    void closingDuringALaunchLeavesNothingRunning();
    void closingDoesNotWaitForAConnection_data();
    void closingDoesNotWaitForAConnection();
    void closingDoesNotWaitForAnAgentThatHangs();
    void aLaunchThatConnectsIsCancelledAtOnce();
    void aTrialThatConnectsIsStoppedAtOnce();
    void aLaunchBesideATrialSaysWhatItWaitsFor();
    void aNodeIsRidOfAllByOneAtATime();
    void aNodeThatIsEditedIsFollowedAtItsNewAddress();
    void everyPartOfARunOnOneNodeIsFollowed();
    void whatIsAskedForAndIsSoIsDone();
    void aRunIsResumedOnceAtATime();
    void aFailedResumeKeepsTheState();
    void aRunThatIsWatchedIsFollowedAgainAfterARefusedResume();
    void whoAttachesDuringALaunchThatFailsWaitsNoLonger();
    void aRunThatIsWatchedAndCleanedHasEnded();
    void aLaunchThatGoesOnWithAnEarlierRunIsCancelled();
    void anEarlierRunThatCannotBeReadIsNotBegunAnew();
    void commandsThatTookEffectUnseenAreAnsweredFromTheStore();
    void aCommandThatWaitsForItsNodeOutlivesTheEngine();
    void aCommandOfYesterdayIsNotSent();
    void aKillThatWasBegunIsFinishedHoweverOldItIs();
    void theOthersAreKilledAfterADeclarationByTheNextEngine();
    void aWaitingCommandIsWithdrawn();
    void commandsOutliveAnEditOfTheirNode();
    void whatIsInTheTrashForThirtyDaysIsForgotten();
    void whatIsInTheTrashIsNotResumed();

private:
    void makeEngine();
    void storeRun(const QString& run, RunStateKind state,
                  const std::vector<std::string>& nodes = {kLocalNodeName});
    /// `isOfNode`: as read from a file of its node, so that something was there.
    Result<void> ingest(const QString& run, std::vector<Record> records, bool isOfNode = true);
    RunSummary stored(const QString& run);
    CheckedSpec slowToSend();
    bool anyRunOnTheNode() const;
    void addSilentNode();
    void storeCommand(const QString& run, const char* id, CommandKind kind, int64_t agoNs,
                      RequestedState state = RequestedState::kWaiting);
    RequestedCommand requested(const QString& run, const std::string& id);

    OwnFolders m_own;
    Paths m_paths = Paths::fromEnvironment();
    std::unique_ptr<Fleet> m_fleet;
    std::unique_ptr<Engine> m_engine;
    QTcpServer m_silent; ///< a node that accepts connections and says nothing
};

void TestEngine::init() {
    m_engine.reset();
    QDir(m_paths.data).removeRecursively();
    QDir().mkpath(m_paths.data);
    m_fleet = std::make_unique<Fleet>(m_paths.config);
    QVERIFY(m_fleet->load());
}

void TestEngine::makeEngine() {
    auto writer = StoreWriter::open(m_paths.database());
    QVERIFY(writer);
    m_engine = std::make_unique<LocalEngine>(m_paths, *m_fleet, std::move(*writer));
}

/// With one rank on each of these nodes.
void TestEngine::storeRun(const QString& run, RunStateKind state,
                          const std::vector<std::string>& nodes) {
    const auto spec = loadSpecOrRecipe("gpt-tiny", {});
    QVERIFY(spec);
    const auto writer = StoreWriter::open(m_paths.database());
    QVERIFY(writer);
    std::vector<RunNode> parts;
    for (int i = 0; i < static_cast<int>(nodes.size()); ++i)
        parts.push_back({i, nodes[static_cast<size_t>(i)], 1, i});
    QVERIFY((*writer)->createRun({run, "stored", toToml(**spec), parts, {}, 0}));
    QVERIFY((*writer)->setState(run, state));
}

void TestEngine::whatIsInTheTrashForThirtyDaysIsForgotten() {
    constexpr int64_t kHourNs = 3600 * int64_t{1'000'000'000};
    for (const char* run : {"older-1", "younger-1", "kept-1"})
        storeRun(run, RunStateKind::kFinished);
    {
        SQLite::Database database(m_paths.database().toStdString(), SQLite::OPEN_READWRITE);
        SQLite::Statement update(database, "UPDATE run SET deleted_ns = ? WHERE uuid = ?");
        for (const auto& [run, hours] :
             {std::pair("older-1", 30 * 24 + 1), {"younger-1", 29 * 24}}) {
            update.bind(1, static_cast<int64_t>(wallNowNs() - hours * kHourNs));
            update.bind(2, run);
            update.exec();
            update.reset();
        }
    }
    makeEngine();
    QTRY_VERIFY_WITH_TIMEOUT(stored("older-1").id.isEmpty(), kDeadlineMs);
    QCOMPARE(stored("younger-1").id, QString("younger-1"));
    QCOMPARE(stored("kept-1").id, QString("kept-1"));
}

void TestEngine::whatIsInTheTrashIsNotResumed() {
    storeRun("gone-1", RunStateKind::kPaused);
    makeEngine();
    const auto deleted = m_engine->ask(DeletedRequest{"gone-1", true});
    QTRY_VERIFY_WITH_TIMEOUT(deleted.isFinished(), kDeadlineMs);
    QVERIFY(deleted.result());
    const auto resumed = m_engine->ask(ResumeRequest{"gone-1", {}});
    QTRY_VERIFY_WITH_TIMEOUT(resumed.isFinished(), kDeadlineMs);
    QVERIFY(!resumed.result());
    QCOMPARE(resumed.result().error().code, ErrorCode::kNotFound);
    QVERIFY(resumed.result().error().message.ends_with(
        "it is in the trash; bring it back first: ringmaster trash restore gone-1"));
}

Result<void> TestEngine::ingest(const QString& run, std::vector<Record> records, bool isOfNode) {
    const auto writer = StoreWriter::open(m_paths.database());
    if (!writer)
        return tl::unexpected<Error>(writer.error());
    IngestBatch batch;
    batch.run = run;
    batch.records = std::move(records);
    if (isOfNode)
        batch.cursors = {{"journal/rank-00000.rmj", 100}};
    return (*writer)->ingest(batch);
}

RunSummary TestEngine::stored(const QString& run) {
    const auto reader = StoreReader::open(m_paths.database());
    return reader ? (*reader)->run(run).value_or(RunSummary{}) : RunSummary{};
}

CheckedSpec TestEngine::slowToSend() {
    QFile data(m_own.path("data.txt"));
    if (data.open(QIODevice::WriteOnly))
        data.resize(3LL << 30);
    return *loadSpecOrRecipe(
        "gpt-tiny", {"data.stage=true", "data.train=['" + data.fileName().toStdString() + "']"});
}

bool TestEngine::anyRunOnTheNode() const {
    return !QDir(m_paths.state + "/runs").isEmpty();
}

void TestEngine::aRunThatItsNodeDoesNotKnowHasFailed() {
    storeRun("gone-000001", RunStateKind::kRunning);
    makeEngine();
    QSignalSpy ended(m_engine.get(), &Engine::attemptEnded);
    QSignalSpy failures(m_engine.get(), &Engine::failed);
    m_engine->attachAll();
    QVERIFY(ended.wait(kDeadlineMs));
    QCOMPARE(failures.size(), 1);
    // Whoever hears of the end finds the state in the database already.
    QCOMPARE(stored("gone-000001").state, RunStateKind::kFailed);
    QVERIFY(stored("gone-000001").message.contains("gone-000001"));
}

void TestEngine::aSpecOutOfBoundsIsRefused() {
    makeEngine();
    RunSpec spec = **loadSpecOrRecipe("gpt-tiny", {});
    spec.train.steps = 0;
    const std::vector<Placement> nodes = {{"this-computer", 1}};
    const auto launched = m_engine->ask(LaunchRequest{spec, nodes, "bad-000001"});
    QCOMPARE(launched.result().error().code, ErrorCode::kInvalid);
    QVERIFY(stored("bad-000001").id.isEmpty());
    const auto script = m_engine->ask(BatchScriptRequest{spec, nodes});
    QCOMPARE(script.result().error().code, ErrorCode::kInvalid);
}

void TestEngine::stopBeforeTheRanksStartCancelsTheLaunch() {
    makeEngine();
    QString run;
    connect(m_engine.get(), &Engine::progressed, this,
            [&run](const QString& which, const Progress&) { run = which; });
    auto launched = m_engine->ask(LaunchRequest{*slowToSend(), {{"this-computer", 1}}});
    QTRY_VERIFY_WITH_TIMEOUT(!run.isEmpty() && stored(run).id == run, kDeadlineMs);
    auto hold = m_engine->ask(CommandRequest{run, CommandKind::kHold});
    QVERIFY(hold.isFinished());
    QCOMPARE(hold.result().error().code, ErrorCode::kInvalid);
    const auto stop = m_engine->ask(CommandRequest{run, CommandKind::kStop});
    QCOMPARE(stop.result()->progress, CommandProgress::kApplied);
    QTRY_VERIFY_WITH_TIMEOUT(launched.isFinished(), kDeadlineMs);
    QVERIFY(!launched.result());
    QCOMPARE(stored(run).state, RunStateKind::kStopped);
    QVERIFY(!anyRunOnTheNode());
}

void TestEngine::closingDuringALaunchLeavesNothingRunning() {
    makeEngine();
    const auto launched = m_engine->ask(LaunchRequest{*slowToSend(), {{"this-computer", 1}}});
    QSignalSpy changes(m_engine.get(), &Engine::runsChanged);
    QVERIFY(changes.wait(kDeadlineMs));
    m_engine.reset();
    const auto reader = StoreReader::open(m_paths.database());
    QVERIFY(reader);
    QCOMPARE((*reader)->runs().size(), size_t(1));
    QCOMPARE((*reader)->runs().front().state, RunStateKind::kStopped);
    QVERIFY(!anyRunOnTheNode());
}

void TestEngine::addSilentNode() {
    m_silent.close();
    QVERIFY(m_silent.listen(QHostAddress::LocalHost));
    (void)m_fleet->remove("silent");
    QVERIFY(m_fleet->add({"silent", false, "127.0.0.1", {}, m_silent.serverPort(), {}}));
}

void TestEngine::closingDoesNotWaitForAConnection_data() {
    QTest::addColumn<QString>("work");
    for (const char* work : {"launch", "attach", "check"})
        QTest::newRow(work) << QString(work);
}

void TestEngine::closingDoesNotWaitForAConnection() {
    QFETCH(QString, work);
    addSilentNode();
    storeRun("far-000001", RunStateKind::kRunning, {"silent"});
    makeEngine();
    if (work == "launch")
        m_engine->ask(LaunchRequest{**loadSpecOrRecipe("gpt-tiny", {}),
                                    {{"this-computer", 1}, {"silent", 1}}});
    else if (work == "attach")
        m_engine->attach("far-000001");
    else
        m_fleet->check("silent");
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    QElapsedTimer timer;
    timer.start();
    m_engine.reset();
    m_fleet.reset();
    QVERIFY2(timer.elapsed() < kAtOnceMs, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(!anyRunOnTheNode());
}

namespace {

/// Whether an agent of this computer serves `run` at this moment.
bool isServed(const QString& run) {
    const QStringList processes = QDir("/proc").entryList(QDir::Dirs);
    return std::ranges::any_of(processes, [&](const QString& pid) {
        QFile file("/proc/" + pid + "/cmdline");
        return file.open(QIODevice::ReadOnly) &&
               file.readAll().split('\0').contains(run.toLocal8Bit());
    });
}

} // namespace

/// Starting the ranks, and ending them again, hang as on a machine whose disk does not answer.
void TestEngine::closingDoesNotWaitForAnAgentThatHangs() {
    constexpr int kSoonMs = 10'000;
    const QString run = "stuck-000001";
    const QString folder = m_paths.state + "/runs/" + run + "/node-00000";
    const QByteArray state = (folder + "/agent.json").toLocal8Bit();
    QVERIFY(QDir().mkpath(folder));
    QCOMPARE(::mkfifo(state, 0600), 0); // who reads it waits for a writer
    const auto release = [&] {
        const int writer = ::open(state, O_RDWR | O_NONBLOCK);
        return writer < 0 || ::close(writer) == 0;
    };
    makeEngine();
    m_engine->ask(LaunchRequest{**loadSpecOrRecipe("gpt-tiny", {}), {{"this-computer", 1}}, run});
    QTRY_VERIFY_WITH_TIMEOUT(isServed(run), kDeadlineMs);
    QElapsedTimer timer;
    timer.start();
    m_engine.reset();
    QVERIFY2(timer.elapsed() < kSoonMs, qPrintable(QString::number(timer.elapsed())));
    // Nobody has said that no rank runs there, so that the next engine looks for them.
    QCOMPARE(stored(run).state, RunStateKind::kPreparing);
    QTRY_VERIFY_WITH_TIMEOUT(release() && !isServed(run), kDeadlineMs);
    QVERIFY(QDir(m_paths.state + "/runs/" + run).removeRecursively());
}

void TestEngine::aLaunchThatConnectsIsCancelledAtOnce() {
    addSilentNode();
    makeEngine();
    const QString run = "near-000001";
    auto launched =
        m_engine->ask(LaunchRequest{**loadSpecOrRecipe("gpt-tiny", {}), {{"silent", 1}}, run});
    QVERIFY(m_engine->live(run).launching);
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    QElapsedTimer timer;
    timer.start();
    QVERIFY(m_engine->ask(CommandRequest{run, CommandKind::kKill}).result());
    QCOMPARE(m_engine->live(run).pending, std::optional(CommandKind::kStop));
    QTRY_VERIFY_WITH_TIMEOUT(launched.isFinished(), kDeadlineMs);
    QVERIFY2(timer.elapsed() < kAtOnceMs, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(!launched.result());
    QVERIFY(!m_engine->live(run).launching);
    QCOMPARE(stored(run).id, QString()); // it was not even listed
}

void TestEngine::aTrialThatConnectsIsStoppedAtOnce() {
    addSilentNode();
    makeEngine();
    const NodeTrial trial{TrialKind::kSelfTest, {{"silent", 0}}, {}};
    auto measured = m_engine->ask(TrialRequest{trial});
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    QVERIFY(m_engine->ask(StopTrialRequest{{TrialKind::kStepProfile, trial.nodes, {}}}).result());
    QVERIFY(!measured.isFinished()); // that was another
    QElapsedTimer timer;
    timer.start();
    QVERIFY(m_engine->ask(StopTrialRequest{trial}).result());
    QTRY_VERIFY_WITH_TIMEOUT(measured.isFinished(), kDeadlineMs);
    QVERIFY2(timer.elapsed() < kAtOnceMs, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(!measured.result());
    QCOMPARE(measured.result().error().code, ErrorCode::kUnavailable);
}

void TestEngine::aLaunchBesideATrialSaysWhatItWaitsFor() {
    addSilentNode();
    makeEngine();
    std::map<QString, QStringList> stages;
    connect(m_engine.get(), &Engine::progressed, this,
            [&](const QString& id, const Progress& now) { stages[id] << now.stage; });
    const NodeTrial trial{TrialKind::kSelfTest, {{"silent", 0}}, {}};
    auto measured = m_engine->ask(TrialRequest{trial});
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    QTRY_COMPARE_WITH_TIMEOUT(stages[trialId(trial)].value(0), QString("Check nodes"), kDeadlineMs);
    const QString run = "near-000001";
    auto launched =
        m_engine->ask(LaunchRequest{**loadSpecOrRecipe("gpt-tiny", {}), {{"silent", 1}}, run});
    QTRY_VERIFY_WITH_TIMEOUT(stages[run].contains("Check nodes: silent is busy with the self-test"),
                             kDeadlineMs);
    QCOMPARE(m_engine->live(run).launching->stage, stages[run].last());
    QElapsedTimer timer;
    timer.start();
    QVERIFY(m_engine->ask(CommandRequest{run, CommandKind::kKill}).result());
    QTRY_VERIFY_WITH_TIMEOUT(launched.isFinished(), kDeadlineMs);
    QVERIFY2(timer.elapsed() < kAtOnceMs, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(!measured.isFinished()); // it goes on, until it is cancelled itself
    QVERIFY(m_engine->ask(StopTrialRequest{trial}).result());
    QTRY_VERIFY_WITH_TIMEOUT(measured.isFinished(), kDeadlineMs);
}

void TestEngine::aNodeIsRidOfAllByOneAtATime() {
    addSilentNode();
    makeEngine();
    const NodeCleaning removal{false, false, true, false};
    auto first = m_engine->ask(CleanNodeRequest{"silent", removal});
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    const auto second = m_engine->ask(CleanNodeRequest{"silent", removal});
    QVERIFY(second.isFinished() && !first.isFinished());
    QCOMPARE(second.result().error().code, ErrorCode::kUnavailable);
    QVERIFY2(second.result().error().message.ends_with("already, by another terminal or window"),
             second.result().error().message.c_str());
}

void TestEngine::aNodeThatIsEditedIsFollowedAtItsNewAddress() {
    addSilentNode();
    storeRun("moved-000001", RunStateKind::kRunning, {"silent"});
    makeEngine();
    m_engine->attach("moved-000001");
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    QTcpServer elsewhere;
    QVERIFY(elsewhere.listen(QHostAddress::LocalHost));
    QVERIFY(m_fleet->change({"silent", false, "127.0.0.1", {}, elsewhere.serverPort(), {}}));
    QTRY_VERIFY_WITH_TIMEOUT(elsewhere.hasPendingConnections(), kDeadlineMs);
}

// A launcher may answer for several parts with one node, at which all of them are reached.
void TestEngine::everyPartOfARunOnOneNodeIsFollowed() {
    const QString run = "parts-000001";
    storeRun(run, RunStateKind::kRunning, {kLocalNodeName, kLocalNodeName});
    makeEngine();
    m_engine->attach(run);
    QCOMPARE(m_engine->live(run).nodes.size(), size_t(2));
    QCOMPARE(placementsOf(stored(run).nodes), (std::vector<Placement>{{kLocalNodeName, 2}}));
}

void TestEngine::whatIsAskedForAndIsSoIsDone() {
    storeRun("quiet-000001", RunStateKind::kPaused);
    makeEngine();
    const auto again = m_engine->ask(CommandRequest{"quiet-000001", CommandKind::kPause});
    QVERIFY(again.isFinished() && again.result());
    QCOMPARE(again.result()->progress, CommandProgress::kApplied);
    QCOMPARE(again.result()->message, std::string("it is paused"));
    const auto stop = m_engine->ask(CommandRequest{"quiet-000001", CommandKind::kStop});
    QVERIFY(stop.isFinished() && !stop.result());
}

void TestEngine::aRunIsResumedOnceAtATime() {
    storeRun("twice-000001", RunStateKind::kPaused);
    QVERIFY(ingest("twice-000001", {savedAt(5, "/nonexistent/step-000000005")}));
    makeEngine();
    auto first = m_engine->ask(ResumeRequest{"twice-000001"});
    auto second = m_engine->ask(ResumeRequest{"twice-000001"});
    QVERIFY(second.isFinished());
    QCOMPARE(second.result().error().code, ErrorCode::kInvalid);
    const auto cleaned = m_engine->ask(RemoveFromNodesRequest{"twice-000001", {}});
    QVERIFY(cleaned.isFinished());
    QCOMPARE(cleaned.result().error().message,
             std::string("clean twice-000001: it is being started; stop it first"));
    QVERIFY(m_engine->ask(CommandRequest{"twice-000001", CommandKind::kStop}).result());
    QTRY_VERIFY_WITH_TIMEOUT(first.isFinished(), kDeadlineMs);
    QVERIFY(!first.result());
    QCOMPARE(stored("twice-000001").state, RunStateKind::kPaused);
    QVERIFY(!anyRunOnTheNode());
}

void TestEngine::aFailedResumeKeepsTheState() {
    storeRun("bare-000001", RunStateKind::kStopped);
    makeEngine();
    auto resumed = m_engine->ask(ResumeRequest{"bare-000001"});
    QTRY_VERIFY_WITH_TIMEOUT(resumed.isFinished(), kDeadlineMs);
    QCOMPARE(resumed.result().error().code, ErrorCode::kNotFound);
    QCOMPARE(stored("bare-000001").state, RunStateKind::kStopped);
}

/// Another terminal waits for what a node may still have of it.
void TestEngine::aRunThatIsWatchedIsFollowedAgainAfterARefusedResume() {
    const QString run = "watched-000001";
    addSilentNode();
    storeRun(run, RunStateKind::kFailed, {"silent"});
    makeEngine();
    m_engine->attach(run);
    QCOMPARE(m_engine->live(run).nodes.size(), size_t(1));
    auto resumed = m_engine->ask(ResumeRequest{run}); // it has no checkpoint
    QTRY_VERIFY_WITH_TIMEOUT(resumed.isFinished(), kDeadlineMs);
    QVERIFY(!resumed.result());
    QCOMPARE(m_engine->live(run).nodes.size(), size_t(1));
}

void TestEngine::whoAttachesDuringALaunchThatFailsWaitsNoLonger() {
    const QString run = "begun-000001";
    storeRun(run, RunStateKind::kStopped);
    makeEngine();
    QStringList ended;
    connect(m_engine.get(), &Engine::attemptEnded, this, [&](const QString& id) { ended << id; });
    auto resumed = m_engine->ask(ResumeRequest{run});
    m_engine->attach(run);
    QTRY_COMPARE_WITH_TIMEOUT(ended, QStringList(run), kDeadlineMs);
    QVERIFY(resumed.isFinished() && !resumed.result());
}

void TestEngine::aRunThatIsWatchedAndCleanedHasEnded() {
    const QString run = "cleaned-000001";
    addSilentNode();
    storeRun(run, RunStateKind::kFailed, {kLocalNodeName, "silent"});
    makeEngine();
    QStringList ended;
    connect(m_engine.get(), &Engine::attemptEnded, this, [&](const QString& id) { ended << id; });
    m_engine->attach(run);
    auto cleaned = m_engine->ask(RemoveFromNodesRequest{run, {}});
    QTRY_VERIFY_WITH_TIMEOUT(cleaned.isFinished(), kDeadlineMs);
    QVERIFY(!cleaned.result()); // of the silent node nothing is known
    QCOMPARE(m_engine->live(run).nodes.size(), size_t(2));
    QVERIFY(ended.isEmpty());
}

/// Whoever asked for it knows it by its own id until it has the answer.
void TestEngine::aLaunchThatGoesOnWithAnEarlierRunIsCancelled() {
    addSilentNode();
    const QString earlier = "gpt-tiny-000001", requested = "gpt-tiny-000002";
    const auto spec = loadSpecOrRecipe("gpt-tiny", {"checkpoint.on_existing=resume"});
    QVERIFY(spec);
    {
        const auto writer = StoreWriter::open(m_paths.database());
        QVERIFY(writer);
        const QString name = QString::fromStdString((*spec)->name);
        QVERIFY(
            (*writer)->createRun({earlier, name, toToml(**spec), {{0, "silent", 1, 0}}, {}, 0}));
        QVERIFY((*writer)->setState(earlier, RunStateKind::kPaused));
    }
    QVERIFY(ingest(earlier, {savedAt(5, "/nonexistent/step-000000005")}));
    makeEngine();
    QStringList progressed;
    connect(m_engine.get(), &Engine::progressed, this,
            [&progressed](const QString& run, const Progress&) { progressed << run; });
    const auto launched = m_engine->ask(LaunchRequest{**spec, {{"silent", 1}}, requested});
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    QTRY_VERIFY_WITH_TIMEOUT(progressed.contains(earlier), kDeadlineMs);
    QCOMPARE(progressed.back(), requested); // it hears what the earlier run's asker hears
    QVERIFY(m_engine->live(requested).launching && m_engine->live(earlier).launching);
    const auto killed = m_engine->ask(CommandRequest{requested, CommandKind::kKill});
    QVERIFY(killed.isFinished() && killed.result());
    QCOMPARE(killed.result()->progress, CommandProgress::kApplied);
    QCOMPARE(m_engine->live(requested).pending, std::optional(CommandKind::kStop));
    QTRY_VERIFY_WITH_TIMEOUT(launched.isFinished(), kDeadlineMs);
    QVERIFY(!launched.result());
    QVERIFY(!m_engine->live(requested).launching);
    QCOMPARE(stored(earlier).state, RunStateKind::kPaused);
}

/// What it saved is known to its node alone, which is away.
void TestEngine::anEarlierRunThatCannotBeReadIsNotBegunAnew() {
    addSilentNode();
    m_silent.close();
    const QString earlier = "stored-000001";
    storeRun(earlier, RunStateKind::kRunning, {"silent"});
    makeEngine();
    const auto spec =
        loadSpecOrRecipe("gpt-tiny", {"name=stored", "checkpoint.on_existing=resume"});
    const auto launched =
        m_engine->ask(LaunchRequest{**spec, {{kLocalNodeName, 1}}, "stored-000002"});
    QTRY_VERIFY_WITH_TIMEOUT(launched.isFinished(), kDeadlineMs);
    QVERIFY(!launched.result());
    const Error why = launched.result().error();
    QCOMPARE(why.code, ErrorCode::kUnavailable);
    for (const char* words : {"launch stored-000002", "read what silent has of stored-000001",
                              "ringmaster declare-lost stored-000001 silent"})
        QVERIFY2(why.message.find(words) != std::string::npos, why.message.c_str());
    QCOMPARE(stored("stored-000002").id, QString());
    QVERIFY(!anyRunOnTheNode());
}

void TestEngine::commandsThatTookEffectUnseenAreAnsweredFromTheStore() {
    storeRun("unseen-000001", RunStateKind::kRunning);
    QVERIFY(ingest("unseen-000001", {CommandApplied{"known", "pause", 7, 1, true, ""}}, false));
    FollowedRun followed(
        stored("unseen-000001"), {{kLocalNodeName, m_fleet->find(kLocalNodeName), {}}}, nullptr,
        std::make_shared<HostPool>([](const Node&) { return Credentials{}; }), m_paths.database());
    followed.start();
    auto known = followed.send({"known", CommandKind::kPause, {}}, wallNowNs());
    auto unknown = followed.send({"unknown", CommandKind::kPause, {}}, wallNowNs());
    QTRY_VERIFY_WITH_TIMEOUT(known.isFinished() && unknown.isFinished(), kDeadlineMs);
    QVERIFY(known.result());
    QCOMPARE(known.result()->step, 7);
    QCOMPARE(unknown.result().error().code, ErrorCode::kUnavailable);
}

void TestEngine::storeCommand(const QString& run, const char* id, CommandKind kind, int64_t agoNs,
                              RequestedState state) {
    const auto writer = StoreWriter::open(m_paths.database());
    QVERIFY(writer);
    QVERIFY((*writer)->addCommand(run, {.id = id,
                                        .kind = commandKindName(kind),
                                        .by = {"kc", RequestedFrom::kWindow},
                                        .requestedNs = wallNowNs() - agoNs,
                                        .state = state}));
}

RequestedCommand TestEngine::requested(const QString& run, const std::string& id) {
    const auto reader = StoreReader::open(m_paths.database());
    for (const RequestedCommand& each :
         reader ? (*reader)->requestedCommands(run) : std::vector<RequestedCommand>())
        if (each.id == id)
            return each;
    return {};
}

void TestEngine::aCommandThatWaitsForItsNodeOutlivesTheEngine() {
    const QString run = "kept-000001";
    addSilentNode();
    storeRun(run, RunStateKind::kRunning, {"silent"});
    makeEngine();
    (void)m_engine->ask(
        CommandRequest{run, CommandKind::kPause, {}, "id-1", {"kc", RequestedFrom::kTerminal}});
    QTRY_COMPARE_WITH_TIMEOUT(m_engine->live(run).pending, std::optional(CommandKind::kPause),
                              kDeadlineMs);
    QCOMPARE(requested(run, "id-1").by, (Requester{"kc", RequestedFrom::kTerminal}));
    m_engine.reset();
    QCOMPARE(requested(run, "id-1").state, RequestedState::kWaiting);
    makeEngine();
    m_engine->attachAll();
    QCOMPARE(m_engine->live(run).pending, std::optional(CommandKind::kPause));
    // Asked for again, as by a terminal that waited while another engine took over.
    const auto again = m_engine->ask(CommandRequest{run, CommandKind::kPause, {}, "id-1", {}});
    QTest::qWait(0);
    QVERIFY(!again.isFinished());
    QCOMPARE(requested(run, "id-1").by.who, std::string("kc"));
}

void TestEngine::aCommandOfYesterdayIsNotSent() {
    const QString run = "old-000001";
    addSilentNode();
    storeRun(run, RunStateKind::kRunning, {"silent"});
    storeCommand(run, "old", CommandKind::kStop, kCommandKeptNs + 1'000'000'000);
    storeCommand(run, "young", CommandKind::kCheckpoint, kCommandKeptNs / 2);
    makeEngine();
    m_engine->attachAll();
    QTRY_COMPARE_WITH_TIMEOUT(requested(run, "old").state, RequestedState::kLapsed, kDeadlineMs);
    QCOMPARE(requested(run, "young").state, RequestedState::kWaiting);
    QCOMPARE(m_engine->live(run).pending, std::optional(CommandKind::kCheckpoint));
    const auto reader = StoreReader::open(m_paths.database());
    QVERIFY(reader);
    const auto isSaid = [&] {
        return std::ranges::any_of((*reader)->events(run), [](const StoredEvent& stored) {
            return stored.event.code == kCommandLapsedEvent &&
                   stored.event.message.starts_with("stop has no effect: it waited");
        });
    };
    QTRY_VERIFY_WITH_TIMEOUT(isSaid(), kDeadlineMs);
}

void TestEngine::aKillThatWasBegunIsFinishedHoweverOldItIs() {
    const QString run = "half-000001";
    addSilentNode();
    storeRun(run, RunStateKind::kRunning, {"silent"});
    storeCommand(run, "begun", CommandKind::kKill, 24 * kCommandKeptNs, RequestedState::kAccepted);
    makeEngine();
    m_engine->attachAll();
    QCOMPARE(m_engine->live(run).pending, std::optional(CommandKind::kKill));
    QCOMPARE(requested(run, "begun").state, RequestedState::kAccepted);
}

void TestEngine::theOthersAreKilledAfterADeclarationByTheNextEngine() {
    const QString run = "given-up-000001";
    addSilentNode();
    storeRun(run, RunStateKind::kRunning, {"silent", "removed-from-the-fleet"});
    makeEngine();
    const auto declared = m_engine->ask(
        DeclareLostRequest{run, "removed-from-the-fleet", {"kc", RequestedFrom::kTerminal}});
    QTRY_VERIFY_WITH_TIMEOUT(declared.isFinished(), kDeadlineMs);
    QVERIFY(declared.result());
    m_engine.reset();
    makeEngine();
    m_engine->attachAll();
    QCOMPARE(m_engine->live(run).pending, std::optional(CommandKind::kKill));
    const auto kill = requested(run, "lost-1-1");
    QCOMPARE(kill.state, RequestedState::kAccepted);
    QCOMPARE(kill.by, (Requester{"kc", RequestedFrom::kTerminal}));
}

void TestEngine::aWaitingCommandIsWithdrawn() {
    const QString run = "changed-000001";
    addSilentNode();
    storeRun(run, RunStateKind::kRunning, {"silent"});
    storeCommand(run, "before", CommandKind::kPause, 1'000'000'000);
    makeEngine();
    // Before anybody follows the run.
    const auto first = m_engine->ask(WithdrawRequest{run, "before"});
    QTRY_VERIFY_WITH_TIMEOUT(first.isFinished(), kDeadlineMs);
    QVERIFY(first.result());
    QCOMPARE(requested(run, "before").state, RequestedState::kWithdrawn);
    const auto stop = m_engine->ask(CommandRequest{run, CommandKind::kStop, {}, "id-1", {}});
    QTRY_COMPARE_WITH_TIMEOUT(m_engine->live(run).pending, std::optional(CommandKind::kStop),
                              kDeadlineMs);
    const auto second = m_engine->ask(WithdrawRequest{run, "id-1"});
    QVERIFY(second.isFinished() && second.result());
    QVERIFY(second.result()->isEmpty()); // it was never sent
    QTRY_VERIFY_WITH_TIMEOUT(stop.isFinished(), kDeadlineMs);
    QCOMPARE(stop.result().error().code, ErrorCode::kUnavailable);
    QVERIFY(!m_engine->live(run).pending);
    QTRY_COMPARE_WITH_TIMEOUT(requested(run, "id-1").state, RequestedState::kWithdrawn,
                              kDeadlineMs);
    const auto again = m_engine->ask(WithdrawRequest{run, "id-1"});
    QVERIFY(again.isFinished() && !again.result());
}

void TestEngine::commandsOutliveAnEditOfTheirNode() {
    const QString run = "edited-000001";
    addSilentNode();
    storeRun(run, RunStateKind::kRunning, {"silent"});
    makeEngine();
    const auto kill = m_engine->ask(CommandRequest{run, CommandKind::kKill});
    const auto pause = m_engine->ask(CommandRequest{run, CommandKind::kPause, {}, "id-1", {}});
    QTRY_VERIFY_WITH_TIMEOUT(m_silent.hasPendingConnections(), kDeadlineMs);
    QTRY_COMPARE_WITH_TIMEOUT(m_engine->live(run).pending, std::optional(CommandKind::kPause),
                              kDeadlineMs);
    QTcpServer elsewhere;
    QVERIFY(elsewhere.listen(QHostAddress::LocalHost));
    QVERIFY(m_fleet->change({"silent", false, "127.0.0.1", {}, elsewhere.serverPort(), {}}));
    QTRY_VERIFY_WITH_TIMEOUT(elsewhere.hasPendingConnections(), kDeadlineMs);
    QVERIFY(!kill.isFinished() && !pause.isFinished());
    QVERIFY(m_engine->live(run).pending);
    QVERIFY(m_engine->ask(WithdrawRequest{run, "id-1"}).result());
    QTRY_VERIFY_WITH_TIMEOUT(pause.isFinished(), kDeadlineMs);
}

QTEST_GUILESS_MAIN(TestEngine)
#include "tst_engine.moc"
