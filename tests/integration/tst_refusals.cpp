// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/run_summary.h"
#include "shared/io/file.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"

#include <QDir>
#include <QFile>
#include <QTest>

using namespace rm;

namespace {

QByteArray readAll(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

Q_DECLARE_METATYPE(rm::ExitCode)

/// What is wrong is said in one line with the exit code that fits, and nothing is left running.
class tst_refusals : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void aLaunchThatIsStoppedWhileItSendsSaysSo(); // first, as nothing has been sent yet
    void badInputIsRefused_data();
    void badInputIsRefused();
    void unreachableHostIsNamed_data();
    void unreachableHostIsNamed();
    void strangerIsDenied();
    void oldSystemIsRefused_data();
    void oldSystemIsRefused();
    void takenPortIsNamed();
    void fullDiskEndsTheLaunch_data();
    void fullDiskEndsTheLaunch();
    void fewerNodesThatCannotCutAStepAreRefused();
    void dataThatLiesOnAnotherMachineIsRefusedByName();
    void aFingerprintThatAKnownKeyContradictsIsRefused();
    void aPauseDoesNotWaitForANodeThatRefuses();
    void changedHostKeyIsRefused();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    QString writeText(const QString& name, const QByteArray& text) const;
    void verifyRefusal(const CliResult& result, ExitCode code, const QByteArray& says) const;

    std::unique_ptr<Testbed> m_bed;
};

QString tst_refusals::writeText(const QString& name, const QByteArray& text) const {
    QFile file(m_bed->path(name));
    if (file.open(QIODevice::WriteOnly))
        file.write(text);
    return file.fileName();
}

void tst_refusals::verifyRefusal(const CliResult& result, ExitCode code,
                                 const QByteArray& says) const {
    QVERIFY2(result.exitCode == static_cast<int>(code), result.whole());
    const QList<QByteArray> lines = result.err.trimmed().split('\n');
    QVERIFY2(lines.last().startsWith("ringmaster: "), result.whole());
    QVERIFY2(lines.last().contains(says), result.whole());
    QVERIFY2(("\n" + result.err).count("\nringmaster: ") == 1, result.whole());
}

void tst_refusals::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("refusals", {.areApart = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_refusals::cleanup() {
    if (!m_bed)
        return;
    QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 15000);
    QTRY_COMPARE_WITH_TIMEOUT(NetworkLab::processesIn(m_bed->lab().laptop()).size(), 0u, 15000);
}

void tst_refusals::aLaunchThatIsStoppedWhileItSendsSaysSo() {
    QVERIFY(m_bed->lab().setManagementRate(1, "4mbit"));
    const QString spec = m_bed->writeSpec("stopped-early", {.steps = 5});
    const auto app = cli().start({"run", spec, "--node", "node-b:1", "--wait"});
    QTRY_VERIFY_WITH_TIMEOUT(newestRun(cli().database()), 30000);
    const QString id = newestRun(cli().database())->id;
    const CliResult stopped = cli().run({"stop", id}, 60000);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(app->waitForFinished(30000));
    const CliResult said{app->exitCode(), app->readAllStandardOutput(),
                         app->readAllStandardError()};
    verifyRefusal(said, ExitCode::kUnavailable, "launch " + id.toUtf8() + ": cancelled");
    QCOMPARE(findRun(cli().database(), id)->state, RunStateKind::kStopped);
    QVERIFY(m_bed->lab().setManagementRate(1, {}));
}

void tst_refusals::badInputIsRefused_data() {
    QTest::addColumn<QStringList>("command");
    QTest::addColumn<ExitCode>("code");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const QStringList& command, ExitCode code,
                        const char* says) {
        QTest::newRow(name) << command << code << QByteArray(says);
    };
    if (!m_bed)
        return;
    const QString good = m_bed->writeSpec("good", {.steps = 5});
    const QString type = writeText("type.toml", "[train]\nsteps = \"many\"\n");
    const QString key = writeText("key.toml", "[train]\nstepz = 5\n");
    const QString syntax = writeText("syntax.toml", "[train\nsteps = 5\n");
    row("missing spec", {"run", "/nowhere/x.toml"}, ExitCode::kNotFound, "/nowhere/x.toml");
    row("missing recipe", {"run", "no-such-recipe"}, ExitCode::kNotFound, "no-such-recipe");
    row("wrong type", {"run", type}, ExitCode::kUsage, "train.steps");
    row("unknown key", {"run", key}, ExitCode::kUsage, "train.stepz");
    row("broken TOML", {"run", syntax}, ExitCode::kUsage, "syntax.toml");
    row("out of range", {"run", good, "--set", "train.batch_size=-5"}, ExitCode::kUsage,
        "train.batch_size");
    row("rule across fields", {"run", good, "--set", "model.heads=5"}, ExitCode::kUsage,
        "model.heads");
    row("ranks no number", {"run", good, "--node", "node-a:x"}, ExitCode::kUsage, "node-a:x");
    row("ranks negative", {"run", good, "--node", "node-a:-1"}, ExitCode::kUsage, "node-a:-1");
    row("ranks impossible", {"run", good, "--node", "node-a:100000"}, ExitCode::kUsage, "100000");
    row("node twice", {"run", good, "--node", "node-a:1", "--node", "node-a:1"}, ExitCode::kUsage,
        "node-a");
    row("checkpoints in a file",
        {"run", good, "--node", "node-a:1", "--set", "checkpoint.directory=/etc/passwd"},
        ExitCode::kNotFound, "read checkpoint.directory: ");
    row("unknown node", {"run", good, "--node", "nowhere:2"}, ExitCode::kNotFound, "nowhere");
    row("unknown run", {"show", "no-such-run"}, ExitCode::kNotFound, "no-such-run");
    row("unknown command", {"fly"}, ExitCode::kUsage, "fly");
}

void tst_refusals::badInputIsRefused() {
    QFETCH(QStringList, command);
    QFETCH(ExitCode, code);
    QFETCH(QByteArray, says);
    verifyRefusal(cli().run(command, 30000), code, says);
}

void tst_refusals::unreachableHostIsNamed_data() {
    QTest::addColumn<QString>("target");
    QTest::newRow("nobody there") << "root@10.231.1.77:2222";
    QTest::newRow("no route") << "root@10.232.0.1:2222";
    QTest::newRow("nothing listens") << "root@10.231.1.2:2223";
}

void tst_refusals::unreachableHostIsNamed() {
    QFETCH(QString, target);
    const Cli other(m_bed->path("other"), m_bed->lab().laptop());
    const QString fingerprint = m_bed->server(0).fingerprint();
    const CliResult added = other.run({"nodes", "add", "far", "--ssh", target, "--key",
                                       m_bed->path("id_ed25519"), "--fingerprint", fingerprint},
                                      30000);
    verifyRefusal(added, ExitCode::kUnavailable,
                  target.section('@', 1).section(':', 0, 0).toUtf8());
    const CliResult list = other.run({"nodes", "list"});
    QVERIFY2(!list.out.contains("far"), list.whole());
}

void tst_refusals::strangerIsDenied() {
    QVERIFY(makeSshKey(m_bed->path("stranger")));
    const Cli other(m_bed->path("other"), m_bed->lab().laptop());
    QStringList command = m_bed->addCommand(0, m_bed->server(0).fingerprint());
    command.replaceInStrings(m_bed->path("id_ed25519"), m_bed->path("stranger"));
    verifyRefusal(other.run(command), ExitCode::kDenied, "10.231.1.2");
}

void tst_refusals::oldSystemIsRefused_data() {
    QTest::addColumn<QByteArray>("getconf");
    QTest::addColumn<QByteArray>("ldd");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("Debian 11") << QByteArray("echo glibc 2.31") << QByteArray("echo ldd 2.31")
                               << QByteArray("old has glibc 2.31; Ringmaster's trainer needs");
    QTest::newRow("Alpine") << QByteArray("exit 1") << QByteArray("echo 'musl libc (x86_64)'")
                            << QByteArray("old has musl instead of glibc");
}

void tst_refusals::oldSystemIsRefused() {
    QFETCH(QByteArray, getconf);
    QFETCH(QByteArray, ldd);
    QFETCH(QByteArray, says);
    SshServer::Options options;
    options.space = m_bed->lab().node(0);
    options.address = NetworkLab::managementAddress(0);
    options.port = 2223;
    options.authorizedKey = m_bed->publicKey();
    options.files = {{"/usr/bin/getconf", "#!/bin/sh\n" + getconf + '\n', true},
                     {"/usr/bin/ldd", "#!/bin/sh\n" + ldd + '\n', true}};
    const auto server = SshServer::start(options);
    QVERIFY2(server, server ? "" : server.error().message.c_str());
    const Cli other(m_bed->path("other"), m_bed->lab().laptop());
    other.run({"nodes", "remove", "old"});
    const CliResult added =
        other.run({"nodes", "add", "old", "--ssh", "root@10.231.1.2:2223", "--key",
                   m_bed->path("id_ed25519"), "--fingerprint", (*server)->fingerprint()});
    QVERIFY2(added.exitCode == 0 && added.out.contains("old: not ready"), added.whole());
    const QString spec = m_bed->writeSpec("old", {.steps = 5});
    verifyRefusal(other.run({"run", spec, "--node", "old:1", "--wait"}), ExitCode::kUsage, says);
    QVERIFY(QDir((*server)->home()).isEmpty());
    verifyRefusal(other.run({"show", "old"}), ExitCode::kNotFound, "old");
    QFile::remove(other.knownHosts());
}

/// On the laptop alone, then also on one of the nodes, then with another content on each.
void tst_refusals::dataThatLiesOnAnotherMachineIsRefusedByName() {
    const QString folder = m_bed->path("texts");
    QVERIFY(QDir().mkpath(folder));
    QVERIFY(QFile::copy("/usr/share/common-licenses/GPL-3", folder + "/a.txt"));
    const auto putOn = [&](int node, const QString& license) {
        return QProcess::execute(
                   "nsenter", {"-t", QString::number(m_bed->server(node).pid()), "-m", "sh", "-c",
                               "mkdir -p '" + folder + "' && cp /usr/share/common-licenses/" +
                                   license + " '" + folder + "/a.txt'"}) == 0;
    };
    const QStringList launch{
        "run",    m_bed->writeSpec("elsewhere", {.steps = 5, .checkpointEvery = 0}),
        "--node", "node-a:1",
        "--node", "node-b:1",
        "--set",  "data.train=[\"" + folder + "\"]"};
    const auto refused = [&] { return cli().run(launch, 60000); };
    const CliResult nowhere = refused();
    verifyRefusal(nowhere, ExitCode::kNotFound, "data.train names " + folder.toUtf8());
    QVERIFY2(nowhere.err.contains("node-a") && nowhere.err.contains("node-b"), nowhere.whole());
    QVERIFY(putOn(0, "GPL-3"));
    const CliResult onOne = refused();
    verifyRefusal(onOne, ExitCode::kNotFound, "data.train names " + folder.toUtf8());
    QVERIFY2(!onOne.err.contains("node-a") && onOne.err.contains("node-b"), onOne.whole());
    QVERIFY(putOn(1, "GPL-2"));
    const CliResult other = cli().run(launch + QStringList{"--check"}, 60000);
    QVERIFY2(other.out.contains("their contents differ") || other.out.contains("they differ"),
             other.whole());
    // What is sent is there, whatever a node has by that path.
    const CliResult staged =
        cli().run(launch + QStringList{"--set", "data.stage=true", "--wait"}, 120000);
    QVERIFY2(staged.exitCode == 0, staged.whole());
}

void tst_refusals::takenPortIsNamed() {
    const int taken = m_bed->server(0).port();
    const QString spec = m_bed->writeSpec("port", {.steps = 5, .masterPort = taken});
    const CliResult run =
        cli().run({"run", spec, "--node", "node-a:1", "--node", "node-b:1", "--wait"});
    verifyRefusal(run, ExitCode::kUnavailable, QByteArray::number(taken));
}

void tst_refusals::fullDiskEndsTheLaunch_data() {
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QByteArray>("size");
    QTest::newRow("where bundles go") << "data" << QByteArray("18m");
    QTest::newRow("where runs go") << "state" << QByteArray("4k");
}

void tst_refusals::fullDiskEndsTheLaunch() {
    QFETCH(QString, folder);
    QFETCH(QByteArray, size);
    SshServer& server = m_bed->server(1);
    {
        const SmallDisk disk(server.home() + '/' + folder, size);
        QVERIFY(disk.isMounted());
        QVERIFY(server.restart()); // its namespace sees mounts from before its start
        const QString spec = m_bed->writeSpec("full", {.steps = 5});
        const CliResult run = cli().run({"run", spec, "--node", "node-b:1", "--wait"});
        verifyRefusal(run, ExitCode::kExhausted, NetworkLab::managementAddress(1).toUtf8());
        if (folder == "data")
            QVERIFY2(run.err.contains(
                         "make room on node-b (Clean up, or ringmaster clean --node node-b"),
                     run.whole());
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 15000);
        server.stop();
    }
    QVERIFY(server.restart());
}

void tst_refusals::fewerNodesThatCannotCutAStepAreRefused() {
    const QString spec = m_bed->writeSpec("fewer", {.steps = 5, .minNodes = 1});
    const CliResult run = cli().run({"run", spec, "--set", "train.accumulation=1", "--node",
                                     "node-a:2", "--node", "node-b:1", "--wait"},
                                    60000);
    verifyRefusal(run, ExitCode::kUsage, "launch.min_nodes = 1 on 2 nodes");
    QVERIFY2(run.err.contains("2 ranks on 1 node take"), run.whole());
}

void tst_refusals::aFingerprintThatAKnownKeyContradictsIsRefused() {
    QStringList command = m_bed->addCommand(0, "SHA256:abc");
    command[2] = "again"; // of a host that is known as another node
    const CliResult added = cli().run(command);
    verifyRefusal(added, ExitCode::kDenied, m_bed->server(0).fingerprint().toUtf8());
    QVERIFY2(added.err.contains("SHA256:abc"), added.whole());
    QVERIFY(!cli().run({"nodes", "list"}).out.contains("again"));
}

void tst_refusals::aPauseDoesNotWaitForANodeThatRefuses() {
    constexpr int kMuchLessThanForRanksThatHang = 60000; // of five minutes
    const QString spec = m_bed->writeSpec("half-seen", {.steps = 1000000, .checkpointEvery = 0});
    const CliResult begun =
        cli().run({"run", spec, "--node", "node-a:1", "--node", "node-b:1"}, 60000);
    QVERIFY2(begun.exitCode == 0, begun.whole());
    const QString id = newestRun(cli().database())->id;
    const QByteArray known = readAll(cli().knownHosts());
    QByteArray changed = known;
    changed.replace(m_bed->server(1).knownHostsLine().section(' ', 2).toUtf8(),
                    m_bed->server(0).knownHostsLine().section(' ', 2).toUtf8());
    QVERIFY(changed != known &&
            writeFileAtomically(cli().knownHosts().toStdString(), changed.toStdString()));
    const CliResult paused = cli().run({"pause", id}, kMuchLessThanForRanksThatHang);
    QVERIFY(writeFileAtomically(cli().knownHosts().toStdString(), known.toStdString()));
    QVERIFY2(paused.exitCode == static_cast<int>(ExitCode::kUnavailable), paused.whole());
    QVERIFY2(paused.err.contains("all other nodes have ended; nothing is heard of node-b"),
             paused.whole());
    const CliResult seen = cli().run({"attach", id}, 60000);
    QVERIFY2(seen.exitCode == static_cast<int>(ExitCode::kPaused), seen.whole());
}

void tst_refusals::changedHostKeyIsRefused() {
    SshServer& server = m_bed->server(1);
    const QByteArray known = readAll(cli().knownHosts());
    const QByteArray before = server.fingerprint().toUtf8();
    QVERIFY(server.changeHostKey());
    const auto logged = server.log().size();
    const CliResult check = cli().run({"nodes", "check", "node-b"});
    verifyRefusal(check, ExitCode::kDenied, server.fingerprint().toUtf8());
    QVERIFY2(check.err.contains(before), check.whole());
    const QString spec = m_bed->writeSpec("changed", {.steps = 5});
    const CliResult run = cli().run({"run", spec, "--node", "node-b:1", "--wait"});
    verifyRefusal(run, ExitCode::kDenied, NetworkLab::managementAddress(1).toUtf8());
    QVERIFY(!server.log().mid(logged).contains("userauth-request"));
    QCOMPARE(readAll(cli().knownHosts()), known);
}

QTEST_GUILESS_MAIN(tst_refusals)
#include "tst_refusals.moc"
