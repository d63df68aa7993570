// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "shared/io/clock.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <csignal>

using namespace rm;

namespace {

const QStringList kBothNodes = {"--node", "node-a:1", "--node", "node-b:1"};

/// Whether `process` has said `words` on stderr within the time. What it says is kept in `said`.
bool says(QProcess& process, const QByteArray& words, QByteArray& said, int limitMs) {
    return QTest::qWaitFor(
        [&] {
            said += process.readAllStandardError();
            return said.contains(words);
        },
        limitMs);
}

} // namespace

/// Nodes as a first week meets them: their shells talk, their sshd is away for a moment, a rank
/// hangs, a link is cut, an address leads nowhere.
class tst_rough_nodes : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void talkativeLoginShellIsUsable();
    void aHomeOfAnyNameBehindTheCshTrains();
    void librariesOfAProfileAreForNobody();
    void endlessBannerIsABoundedError();
    void sshdThatIsAwayForAMomentIsAwaited();
    void rankThatDoesNotAnswerIsToldAndKillEndsIt();
    void lostNodeIsWrittenDownUntilItIsBack();
    void addressWithoutARouteIsSaid();
    void folderOfRunsWithoutRoomIsNotReady();
    void aPauseIsRefusedWhileTheDiskOfANodeIsFull();
    void aFullDiskOfThisComputerBlamesNoNode();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    bool writeBashrc(int node, const QByteArray& text) const;
    RunSummary summary(const QString& run) const {
        return findRun(cli().database(), run).value_or(RunSummary{});
    }
    bool waitForStep(const QString& run, int64_t step) const {
        return QTest::qWaitFor([&] { return summary(run).step >= step; }, 60000);
    }
    pid_t trainerOn(int node) const;
    /// A run without an end, which the process follows, after its first steps; null: it has none.
    std::unique_ptr<QProcess> train(const QString& name, const QStringList& nodes) const;
    /// Whether `show` comes to have these words, or, if not `is`, to have them no more.
    bool waitForShown(const QString& run, const char* words, bool is, CliResult& shown) const;

    std::unique_ptr<Testbed> m_bed;
};

bool tst_rough_nodes::writeBashrc(int node, const QByteArray& text) const {
    QFile file(m_bed->server(node).home() + "/.bashrc");
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

pid_t tst_rough_nodes::trainerOn(int node) const {
    for (const SeenProcess& process : NetworkLab::processesIn(m_bed->lab().node(node)))
        if (process.command.section(' ', 0, 0).endsWith("/ringmaster-trainer"))
            return process.pid;
    return 0;
}

std::unique_ptr<QProcess> tst_rough_nodes::train(const QString& name,
                                                 const QStringList& nodes) const {
    const QString spec = m_bed->writeSpec(name, {.steps = 1000000, .checkpointEvery = 0});
    auto app = cli().start(QStringList{"run", spec, "--wait"} + nodes);
    const auto trains = [&] {
        const auto run = newestRun(cli().database());
        return run && run->name == name && run->step >= 5;
    };
    if (QTest::qWaitFor(trains, 60000))
        return app;
    qWarning("%s", app->readAllStandardError().constData());
    return nullptr;
}

bool tst_rough_nodes::waitForShown(const QString& run, const char* words, bool is,
                                   CliResult& shown) const {
    return QTest::qWaitFor(
        [&] {
            shown = cli().run({"show", run});
            return shown.whole().contains(words) == is;
        },
        60000);
}

void tst_rough_nodes::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("rough", {.seeded = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    QVERIFY(writeBashrc(0, "echo '=== WELCOME ==='\necho 'take care' >&2\n"
                           "trap 'echo goodbye' EXIT\ncd /tmp\nprintf 'no end of line'\n"
                           "touch \"$HOME/bashrc-was-read\"\n"));
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_rough_nodes::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

void tst_rough_nodes::talkativeLoginShellIsUsable() {
    const CliResult check = cli().run({"nodes", "check", "node-a"});
    QVERIFY2(check.exitCode == 0, check.whole());
    QVERIFY(QFile::exists(m_bed->server(0).home() + "/bashrc-was-read"));
    const QString spec = m_bed->writeSpec("talkative", {.steps = 30});
    const CliResult run = cli().run(QStringList{"run", spec, "--wait"} + kBothNodes, 120000);
    QVERIFY2(run.exitCode == 0, run.whole());
    const QString id = newestRun(cli().database())->id;
    QCOMPARE(flawIn(stepsInStore(cli().database(), id, "train/loss"), 2, 1, 30), QByteArray());
}

/// With blanks, an umlaut and a quote in it, and a login shell that is no POSIX shell.
void tst_rough_nodes::aHomeOfAnyNameBehindTheCshTrains() {
    const auto can = canMountOwnFiles();
    RM_NEEDS("root", can, QString::fromStdString(can.error().message));
    RM_NEEDS("tcsh", QFile::exists("/bin/tcsh"), QString("/bin/tcsh is not installed"));
    constexpr int kPort = 2223;
    const QString home = m_bed->path(QString::fromUtf8("it's a höme"));
    const auto server = SshServer::start({.space = m_bed->lab().node(1),
                                          .address = NetworkLab::managementAddress(1),
                                          .port = kPort,
                                          .authorizedKey = m_bed->publicKey(),
                                          .home = home,
                                          .files = {passwdOfRoot(home, "/bin/tcsh")}});
    QVERIFY2(server, server ? "" : server.error().message.c_str());
    const QString target =
        "root@" + NetworkLab::managementAddress(1) + ':' + QString::number(kPort);
    const CliResult added =
        cli().run({"nodes", "add", "odd-home", "--ssh", target, "--key", m_bed->path("id_ed25519"),
                   "--fingerprint", (*server)->fingerprint()});
    QVERIFY2(added.exitCode == 0, added.whole());
    const QString spec = m_bed->writeSpec("odd", {.steps = 30});
    const CliResult run =
        cli().run({"run", spec, "--wait", "--node", "node-a:1", "--node", "odd-home:1"}, 240000);
    QVERIFY2(run.exitCode == 0, run.whole());
    const QString id = newestRun(cli().database())->id;
    QCOMPARE(flawIn(stepsInStore(cli().database(), id, "train/loss"), 2, 1, 30), QByteArray());
    const CliResult removed =
        cli().run({"nodes", "remove", "odd-home", "--from-node", "--yes"}, 60000);
    QVERIFY2(removed.exitCode == 0, removed.whole());
    QVERIFY(!QFile::exists(home + "/data/ringmaster/bundles"));
}

/// Neither for ranks nor for the trials that vouch for them. The agent brings its own libstdc++.
void tst_rough_nodes::librariesOfAProfileAreForNobody() {
    const QDir home(m_bed->server(1).home());
    QVERIFY(home.mkpath("conda/lib"));
    QFile noLibrary(home.filePath("conda/lib/libstdc++.so.6"));
    QVERIFY(noLibrary.open(QIODevice::WriteOnly));
    QVERIFY(writeBashrc(1, "export LD_LIBRARY_PATH=$HOME/conda/lib\n"));
    const CliResult tested = cli().run({"nodes", "self-test", "node-b"}, 120000);
    const QString spec = m_bed->writeSpec("profile", {.steps = 10});
    const CliResult run = cli().run(QStringList{"run", spec, "--wait"} + kBothNodes, 120000);
    QVERIFY(writeBashrc(1, ""));
    QVERIFY2(tested.exitCode == 0, tested.whole());
    QVERIFY2(run.exitCode == 0, run.whole());
}

void tst_rough_nodes::endlessBannerIsABoundedError() {
    QVERIFY(writeBashrc(1, "while :; do echo a line of an endless message; done\n"));
    const CliResult check = cli().run({"nodes", "check", "node-b"}, 60000);
    QVERIFY(writeBashrc(1, ""));
    QVERIFY2(check.exitCode > 0, check.whole());
    QVERIFY2(check.whole().contains(".bashrc"), check.whole());
}

void tst_rough_nodes::sshdThatIsAwayForAMomentIsAwaited() {
    m_bed->server(1).stop();
    const QString spec = m_bed->writeSpec("awaited", {.steps = 10});
    const auto launch = cli().start(QStringList{"run", spec, "--wait"} + kBothNodes);
    QByteArray said;
    const bool reported = says(*launch, "tried again", said, 30000);
    QVERIFY(m_bed->server(1).restart());
    QVERIFY2(reported, said);
    QVERIFY2(said.contains("refused"), said);
    QVERIFY(launch->waitForFinished(90000));
    QVERIFY2(launch->exitCode() == 0, said + launch->readAllStandardError());
}

void tst_rough_nodes::rankThatDoesNotAnswerIsToldAndKillEndsIt() {
    const QString spec = m_bed->writeSpec("hangs", {.steps = 1000000, .checkpointEvery = 0});
    const CliResult started =
        cli().run(QStringList{"run", spec, "--json", "--set", "launch.on_hang=wait"} + kBothNodes);
    QVERIFY2(started.exitCode == 0, started.whole());
    const QString run = newestRun(cli().database())->id;
    const auto app = cli().start({"attach", run});
    QVERIFY(waitForStep(run, 100));
    QVERIFY(trainerOn(1) > 0);
    ::kill(trainerOn(1), SIGSTOP);
    const auto pause = cli().start({"pause", run});
    QByteArray said;
    QElapsedTimer waited;
    waited.start();
    QVERIFY2(says(*pause, "pause under way for", said, 30000), said);
    QVERIFY2(waited.elapsed() < 15000, qPrintable(QString::number(waited.elapsed())));
    QVERIFY2(said.contains("ringmaster kill " + run.toUtf8()), said);
    QVERIFY2(said.contains(" after step ") || said.contains(" in "), said);
    CliResult shown;
    const auto isShown = [&] {
        shown = cli().run({"show", run});
        return shown.out.contains("  waiting     ");
    };
    QVERIFY2(QTest::qWaitFor(isShown, 20000), shown.whole());
    // The agent of the rank's own node names it, whether or not anybody asks.
    const auto isNamed = [&] {
        const auto reader = StoreReader::open(cli().database());
        const auto events = reader ? (*reader)->events(run) : std::vector<StoredEvent>();
        return std::ranges::any_of(events, [](const StoredEvent& event) {
            return event.event.code == "rank-hangs" && event.event.rank == 1;
        });
    };
    QTRY_VERIFY_WITH_TIMEOUT(isNamed(), 30000);
    const CliResult killed = cli().run({"kill", run});
    QVERIFY2(killed.exitCode == 0, killed.whole());
    QVERIFY(pause->waitForFinished(20000));
    QVERIFY(app->waitForFinished(20000));
    QTRY_COMPARE_WITH_TIMEOUT(trainerOn(0) + trainerOn(1), 0, 10000);
    const CliResult listed = cli().run({"runs"});
    QVERIFY2(!listed.out.contains("failed"), listed.whole());
    QCOMPARE(summary(run).state, RunStateKind::kStopped);
    QCOMPARE(summary(run).message, QString("killed on request"));
}

void tst_rough_nodes::lostNodeIsWrittenDownUntilItIsBack() {
    const QString spec = m_bed->writeSpec("lost", {.steps = 1000000, .checkpointEvery = 0});
    const auto app = cli().start(QStringList{"run", spec, "--wait"} + kBothNodes);
    QVERIFY(QTest::qWaitFor([&] { return newestRun(cli().database())->name == "lost"; }, 30000));
    const QString run = newestRun(cli().database())->id;
    QVERIFY(waitForStep(run, 5));
    const int64_t cutNs = wallNowNs();
    QVERIFY(m_bed->lab().setManagementLink(1, false));
    const bool isWritten =
        QTest::qWaitFor([&] { return summary(run).lostNodes.size() == 1; }, 60000);
    const CliResult runs = cli().run({"runs"});
    const CliResult shown = cli().run({"show", run});
    const CliResult json = cli().run({"show", run, "--json"});
    QByteArray reported;
    const bool isReported = says(*app, "(node-b unreachable: ", reported, 20000);
    QVERIFY(m_bed->lab().setManagementLink(1, true));
    QVERIFY(isWritten);
    // The ranks reach each other as before, so nothing stands still.
    QVERIFY2(isReported && !reported.contains("stands still"), reported);
    QVERIFY2(!shown.out.contains("  waiting "), shown.whole());
    QVERIFY2(runs.out.contains("node-b unreachable"), runs.whole());
    QVERIFY2(shown.out.contains("unreachable node-b"), shown.whole());
    const QJsonObject unreachable =
        json.json().object()["unreachable"].toArray().first().toObject();
    QCOMPARE(unreachable["name"].toString(), QString("node-b"));
    const double cut = static_cast<double>(cutNs) / 1e9;
    QVERIFY2(qAbs(unreachable["since"].toDouble() - cut) < 5, json.whole());

    QTRY_VERIFY_WITH_TIMEOUT(summary(run).lostNodes.empty(), 60000);
    const CliResult stopped = cli().run({"stop", run});
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(app->waitForFinished(20000));
    QStringList codes, reasons;
    for (const StoredEvent& event : StoreReader::open(cli().database()).value()->events(run))
        if (event.nodeIndex == 1)
            codes.prepend(QString::fromStdString(event.event.code));
    for (const StoredEvent& event : StoreReader::open(cli().database()).value()->events(run))
        if (event.event.code == kNodeLostEvent)
            reasons << QString::fromStdString(event.event.message);
    // Of one loss each reason once: silence, then, as the cut is noticed, that there is no route.
    QVERIFY2(reasons.size() <= 2, qPrintable(reasons.join('\n')));
    QCOMPARE(reasons.removeDuplicates(), 0);
    codes = codes.filter("node-");
    codes.removeDuplicates();
    QCOMPARE(codes, (QStringList{kNodeLostEvent, kNodeBackEvent}));
    QCOMPARE(summary(run).lostNodes.size(), size_t(0));
}

void tst_rough_nodes::addressWithoutARouteIsSaid() {
    QProcess ip;
    ip.start("ip", {"-n", m_bed->lab().laptop(), "route", "add", "blackhole", "10.99.1.1/32"});
    QVERIFY(ip.waitForFinished(5000) && ip.exitCode() == 0);
    const CliResult added = cli().run({"nodes", "add", "nowhere", "--ssh", "root@10.99.1.1"});
    QVERIFY(added.exitCode > 0);
    QVERIFY2(added.err.contains("no route"), added.whole());
    QVERIFY2(!added.err.contains("Invalid argument"), added.whole());
}

/// The agent is there already and its own disk has room.
void tst_rough_nodes::folderOfRunsWithoutRoomIsNotReady() {
    SshServer& server = m_bed->server(1);
    CliResult check;
    {
        const SmallDisk disk(server.home() + "/state/ringmaster", "64k");
        QVERIFY(disk.isMounted());
        disk.fill();
        QVERIFY(server.restart()); // its namespace sees mounts from before its start
        check = cli().run({"nodes", "check", "node-b"}, 60000);
        server.stop();
    }
    QVERIFY(server.restart());
    QVERIFY2(check.exitCode == static_cast<int>(ExitCode::kFailed), check.whole());
    QVERIFY2(check.out.contains("Folders: write in "), check.whole());
    QVERIFY2(check.out.contains("No space left on device"), check.whole());
    QVERIFY2(check.out.contains("XDG_STATE_HOME"), check.whole());
}

void tst_rough_nodes::aPauseIsRefusedWhileTheDiskOfANodeIsFull() {
    SshServer& server = m_bed->server(1);
    {
        const SmallDisk disk(server.home() + "/state", "16m");
        QVERIFY(disk.isMounted());
        QVERIFY(server.restart()); // its namespace sees mounts from before its start
        const auto app = train("full", kBothNodes);
        QVERIFY(app);
        const QString run = newestRun(cli().database())->id;
        disk.fill();
        CliResult shown;
        const bool wasReported =
            waitForShown(run, "the disk of the run's folder on node-b is full", true, shown);
        const CliResult full = cli().run({"pause", run});
        const int64_t step = summary(run).step;
        const bool continues = waitForStep(run, step + 50);
        disk.empty();
        const bool hadRoom = waitForShown(run, "is full", false, shown);
        const CliResult paused = cli().run({"pause", run});
        const bool isOver = app->waitForFinished(60000);
        server.stop();
        QVERIFY2(wasReported && hadRoom, shown.whole());
        QVERIFY2(full.exitCode == static_cast<int>(ExitCode::kExhausted), full.whole());
        for (const char* words : {"on node-b is full (", "/node-00001 has ", "make room"})
            QVERIFY2(full.err.contains(words), full.whole());
        QVERIFY(continues && isOver);
        QVERIFY2(paused.exitCode == 0, paused.whole());
        const int64_t last = summary(run).step;
        QCOMPARE(flawIn(stepsInStore(cli().database(), run, "train/loss"), 2, 1, last),
                 QByteArray());
    }
    QVERIFY(server.restart());
}

void tst_rough_nodes::aFullDiskOfThisComputerBlamesNoNode() {
    const SmallDisk disk(cli().home() + "/data", "16m");
    QVERIFY(disk.isMounted());
    const auto app = train("here", {"--node", "node-b:1"});
    QVERIFY(app);
    const QString run = newestRun(cli().database())->id;
    disk.fill();
    CliResult shown;
    const bool wasReported =
        waitForShown(run, "this computer's disk is full: make room at ", true, shown);
    const CliResult pause = cli().run({"pause", run}, 60000);
    const CliResult kill = cli().run({"kill", run}, 120000);
    disk.empty();
    const bool isOver = app->waitForFinished(60000);
    QVERIFY2(wasReported && !shown.whole().contains("cannot be reached"), shown.whole());
    // A page that was left may have room for the command, which goes through in any case.
    QVERIFY2(pause.exitCode == 0 || pause.whole().contains("this computer's disk is full"),
             pause.whole());
    QVERIFY2(!pause.whole().contains("cannot be reached"), pause.whole());
    QVERIFY2(!kill.whole().contains("declare"), kill.whole());
    QVERIFY(isOver);
    // What was sent meanwhile is read once somebody looks; as paused, if a page that was left had
    // room for the command.
    const CliResult followed = cli().run({"attach", run}, 60000);
    QVERIFY2(hasEnded(summary(run).state), followed.whole());
}

QTEST_GUILESS_MAIN(tst_rough_nodes)
#include "tst_rough_nodes.moc"
