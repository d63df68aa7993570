// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/io/file.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/own_files.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>

using namespace rm;

namespace {

constexpr int kLimitMs = 60000;
const QStringList kBothNodes = {"--node", "node-a:1", "--node", "node-b:1"};

QJsonObject rowOf(const QJsonObject& check, const QString& id) {
    for (const QJsonValue& row : check["rows"].toArray())
        if (row["id"].toString() == id)
            return row.toObject();
    return {};
}

} // namespace

/// What a check over SSH says of machines, and the buttons of its rows.
class tst_checks : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void everyRowHasItsWords();
    void whatNodesShareAndDifferInIsSaid();
    void leftoversAreEndedByIdAndOthersGoOn();
    void anAgentOfAnotherReleaseIsToldAndRemovedAlone();
    void aLaunchIsCheckedBeforeItIsMade();
    void aLaunchSaysWhatItsCheckFinds();
    void aLaunchIsRefusedWhereItCannotSave();
    void aFolderThatNodesHaveInCommonIsFound();
    void aRemovalThatEndsInTheMiddleNotesWhatIsGone();
    void aNodeThatIsRidOfItsRunsHasNoCheckpoint();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    QJsonArray check(const Cli& by, const QStringList& nodes) const;

    std::unique_ptr<Testbed> m_bed;
};

void tst_checks::initTestCase() {
    auto can = Testbed::canRun();
    if (can)
        can = canMountOwnFiles();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("checks", {.sharesDrive = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_checks::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

QJsonArray tst_checks::check(const Cli& by, const QStringList& nodes) const {
    const CliResult result = by.run(QStringList{"nodes", "check", "--json"} + nodes, kLimitMs);
    if (!result.json().isArray())
        qWarning("%s", result.whole().constData());
    return result.json().array();
}

void tst_checks::everyRowHasItsWords() {
    const QJsonArray checks = check(cli(), {"node-a"});
    QCOMPARE(checks.size(), 1);
    const QJsonObject of = checks[0].toObject();
    QVERIFY2(of["ready"].toBool(), QJsonDocument(checks).toJson());
    for (const QJsonValue& row : of["rows"].toArray()) {
        const QByteArray words = QJsonDocument(row.toObject()).toJson();
        QVERIFY2(!row["id"].toString().isEmpty() && !row["evidence"].toString().isEmpty(), words);
        const bool isGood = row["state"].toString() == "good";
        QVERIFY2(isGood == row["fix"].toString().isEmpty(), words);
    }
    for (const char* id :
         {"connection", "agent", "system", "glibc", "libstdcxx", "machine", "gpus", "disk",
          "logout", "limits", "leftovers", "clock", "network", "public-address"})
        QVERIFY2(!rowOf(of, id).isEmpty(), id);
    QVERIFY(rowOf(of, "connection")["evidence"].toString().contains("round trip"));
}

void tst_checks::whatNodesShareAndDifferInIsSaid() {
    // The nodes of the bed are one machine; only what belongs to a namespace can differ.
    const QJsonArray checks = check(cli(), {"node-a", "node-b"});
    QCOMPARE(checks.size(), 2);
    for (const QJsonValue& of : checks) {
        QCOMPARE(of["differences"].toArray(), QJsonArray());
        const QJsonArray shared = of["shared"].toArray(); // each has a home of its own
        QVERIFY2(shared.size() == 1 && shared[0].toString().contains("are the same machine"),
                 QJsonDocument(shared).toJson());
    }
}

/// Another computer's Ringmaster, which knows the same nodes, sees a run that it did not start; it
/// can end that one, and nothing else.
void tst_checks::leftoversAreEndedByIdAndOthersGoOn() {
    QStringList runs;
    for (const char* name : {"lost", "kept"}) {
        const QString spec =
            m_bed->writeSpec(name, {.steps = 1'000'000, .checkpointEvery = 100'000});
        const CliResult started =
            cli().run({"run", spec, "--json", "--node", "node-a:1"}, kLimitMs);
        QVERIFY2(started.exitCode == 0, started.whole());
        runs << started.json().object()["id"].toString();
    }
    const QJsonObject own = rowOf(check(cli(), {"node-a"})[0].toObject(), "leftovers");
    QCOMPARE(own["state"].toString(), QString("good"));
    for (const QString& run : std::as_const(runs))
        QVERIFY2(own["evidence"].toString().contains(run), QJsonDocument(own).toJson());

    const CliResult kept = cli().run({"nodes", "remove", "node-a"});
    QVERIFY2(kept.exitCode == static_cast<int>(ExitCode::kUnavailable), kept.whole());
    for (const QString& run : std::as_const(runs))
        QVERIFY2(kept.err.contains("declare-lost " + run.toUtf8() + " node-a"), kept.whole());

    const Cli other(m_bed->path("other"), m_bed->lab().laptop());
    const auto added = m_bed->addNodes(other);
    QVERIFY2(added, added ? "" : added.error().message.c_str());
    for (const Cli* by : {&cli(), &other}) {
        const QStringList removal{"nodes", "remove", "node-a", "--from-node"};
        const CliResult foretold = by->run(removal + QStringList{"--preview"}, kLimitMs);
        QVERIFY2(foretold.exitCode == 0 && foretold.out.contains("node-a: refused now, as "),
                 foretold.whole());
        const CliResult refused = by->run(removal + QStringList{"--yes"}, kLimitMs);
        QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kUnavailable), refused.whole());
        for (const CliResult& each : {foretold, refused})
            QVERIFY2(each.whole().contains(runs[0].toUtf8()), each.whole());
    }
    const QJsonObject foreign = rowOf(check(other, {"node-a"})[0].toObject(), "leftovers");
    QCOMPARE(foreign["state"].toString(), QString("warning"));
    QVERIFY2(foreign["evidence"].toString().startsWith("of another Ringmaster: "),
             QJsonDocument(foreign).toJson());
    QCOMPARE(foreign["action"].toObject()["kind"].toString(), QString("end-leftovers"));

    // Somebody else's run is not ended without a question, which a script cannot be asked.
    const CliResult denied = other.run({"nodes", "end-leftovers", "node-a", runs[0]}, kLimitMs);
    QVERIFY2(denied.exitCode == static_cast<int>(ExitCode::kUsage), denied.whole());
    for (const QByteArray& word : {runs[0].toUtf8(), QByteArray("started by root@"),
                                   QByteArray("train"), QByteArray("ago"), QByteArray("--yes")})
        QVERIFY2(denied.err.contains(word), denied.whole());
    QVERIFY(
        rowOf(check(other, {"node-a"})[0].toObject(), "leftovers")["evidence"].toString().contains(
            runs[0]));
    const CliResult ended =
        other.run({"nodes", "end-leftovers", "node-a", runs[0], "--yes"}, kLimitMs);
    QVERIFY2(ended.exitCode == 0, ended.whole());
    const QString left =
        rowOf(check(other, {"node-a"})[0].toObject(), "leftovers")["evidence"].toString();
    QVERIFY2(!left.contains(runs[0]) && left.contains(runs[1]), qPrintable(left));
    const CliResult gone = other.run({"nodes", "end-leftovers", "node-a", "no-such-run"}, kLimitMs);
    QVERIFY2(gone.exitCode != 0 && gone.err.contains("no-such-run"), gone.whole());

    const int64_t step = findRun(cli().database(), runs[1])->step;
    const CliResult stopped = cli().run({"stop", runs[1]}, kLimitMs);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(findRun(cli().database(), runs[1])->step >= step);

    // What has ended is deleted with the node, once it was said whose it is.
    const QStringList removal{"nodes", "remove", "node-a", "--from-node", "--runs"};
    for (const Cli* by : {&cli(), &other}) {
        const CliResult foretold = by->run(removal + QStringList{"--preview", "--json"}, kLimitMs);
        QVERIFY2(foretold.exitCode == 0, foretold.whole());
        int marked = 0;
        for (const QJsonValue& item : foretold.json()["nodes"][0]["items"].toArray())
            if (item["kind"] == "runs" && item["name"].toString() == runs[1]) {
                QCOMPARE(item["of_another"].toBool(), by == &other);
                QVERIFY(item["started_by"].toString().startsWith("root@"));
                ++marked;
            }
        QCOMPARE(marked, 1);
    }
    const CliResult unagreed = other.run(removal, kLimitMs);
    QVERIFY2(unagreed.exitCode == static_cast<int>(ExitCode::kUsage), unagreed.whole());
    QVERIFY2(unagreed.err.contains("of another Ringmaster (") &&
                 unagreed.err.contains(runs[1].toUtf8() + ", started by root@"),
             unagreed.whole());
    QVERIFY2(unagreed.out.contains(", of another Ringmaster, started by root@"), unagreed.whole());
}

/// Made by hand: what a Ringmaster 0.0.9 would have left there.
void tst_checks::anAgentOfAnotherReleaseIsToldAndRemovedAlone() {
    QCOMPARE(rowOf(check(cli(), {"node-a"})[0].toObject(), "other-agents"), QJsonObject());
    const QDir agents(m_bed->server(0).home() + "/data/ringmaster/agents");
    const QStringList own = agents.entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    QCOMPARE(own.size(), 1);
    const QString old = QString(64, '9'), folder = agents.filePath(old);
    QVERIFY(QDir().mkpath(folder));
    QVERIFY(QFile::copy(agents.filePath(own.front() + "/ringmaster-agent"),
                        folder + "/ringmaster-agent"));
    QVERIFY(writeFileAtomically((folder + "/.ringmaster-label").toStdString(), "0.0.9"));
    const timespec longAgo[2] = {};
    QCOMPARE(::utimensat(AT_FDCWD, folder.toUtf8().constData(), longAgo, 0), 0);

    const QJsonObject row = rowOf(check(cli(), {"node-a"})[0].toObject(), "other-agents");
    QVERIFY2(row["evidence"].toString().startsWith("release 0.0.9 ("), QJsonDocument(row).toJson());
    QCOMPARE(row["action"].toObject()["kind"].toString(), QString("remove-agents"));
    const QString command = "clean --node node-a --agent " + old.left(12);
    QVERIFY2(row["fix"].toString().endsWith(command), QJsonDocument(row).toJson());

    // Both live beside each other, and the removal takes the old one alone.
    const QString spec =
        m_bed->writeSpec("beside", {.steps = 1'000'000, .checkpointEvery = 100'000});
    const CliResult started = cli().run({"run", spec, "--json", "--node", "node-a:1"}, kLimitMs);
    QVERIFY2(started.exitCode == 0, started.whole());
    const CliResult removed = cli().run(command.split(' ') + QStringList{"--yes"}, kLimitMs);
    QVERIFY2(removed.exitCode == 0 && removed.out.contains("agent 0.0.9"), removed.whole());
    QCOMPARE(agents.entryList(QDir::Dirs | QDir::NoDotAndDotDot), own);
    QCOMPARE(rowOf(check(cli(), {"node-a"})[0].toObject(), "other-agents"), QJsonObject());
    const CliResult stopped = cli().run({"stop", "beside"}, kLimitMs);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
}

void tst_checks::aLaunchIsCheckedBeforeItIsMade() {
    const QString spec = m_bed->writeSpec("checked", {});
    const CliResult result =
        cli().run(QStringList{"run", spec, "--check", "--json"} + kBothNodes, kLimitMs);
    QVERIFY2(result.exitCode == 0, result.whole());
    QStringList ids;
    for (const QJsonValue& row : result.json()["rows"].toArray())
        ids << row["id"].toString();
    for (const char* id : {"launch-room", "launch-data", "launch-address"})
        QVERIFY2(ids.contains(id), result.whole());
    QVERIFY(!findRun(cli().database(), "checked"));
    const CliResult both =
        cli().run({"nodes", "check", "node-a", "node-b", "--for", spec, "--json"}, kLimitMs);
    QVERIFY2(both.exitCode == 0, both.whole());
    QCOMPARE(both.json().array().size(), 3); // both nodes, and the launch on them
    QVERIFY2(both.json()[2]["rows"].toArray().size() == ids.size(), both.whole());
    const CliResult refused =
        cli().run({"nodes", "check", "node-a", "--for", "nonsense"}, kLimitMs);
    QVERIFY2(refused.exitCode != 0 && refused.err.contains("nonsense"), refused.whole());
    QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 10000);
}

void tst_checks::aLaunchSaysWhatItsCheckFinds() {
    const QString there =
        m_bed->writeSpec("there", {.steps = 1'000'000, .checkpointEvery = 100'000});
    const CliResult first = cli().run({"run", there, "--node", "node-a:1"}, kLimitMs);
    QVERIFY2(first.exitCode == 0, first.whole());
    const QStringList command = QStringList{"run", m_bed->writeSpec("beside-it", {.steps = 10}),
                                            "--json", "--set", "checkpoint.copies=off"} +
                                kBothNodes;
    const CliResult checked = cli().run(command + QStringList{"--check"}, kLimitMs);
    QVERIFY2(checked.exitCode == 0, checked.whole());
    QStringList ids, words;
    for (const QJsonValue& row : checked.json()["rows"].toArray()) {
        if (row["state"].toString() == "good")
            continue;
        ids << row["id"].toString();
        words << row["evidence"].toString() + ": " + row["cause"].toString() + "; " +
                     row["fix"].toString();
    }
    QVERIFY2(ids.contains("launch-others") && ids.contains("launch-checkpoints"), checked.whole());

    const CliResult started = cli().run(command, kLimitMs);
    QVERIFY2(started.exitCode == 0, started.whole());
    const QJsonArray warnings = started.json()["warnings"].toArray();
    QCOMPARE(warnings.size(), words.size());
    for (const QString& each : words) {
        QVERIFY2(warnings.contains(each), started.whole());
        QVERIFY2(started.err.contains("warning: " + each.toUtf8()), started.whole());
    }
    for (int i = 0; i < 2; ++i) // by which the nodes found out that they do not share the folder
        QCOMPARE(QDir(m_bed->server(i).home() + "/state/ringmaster")
                     .entryList({".ringmaster-*"}, QDir::Files | QDir::Hidden),
                 QStringList());
    const CliResult shown = cli().run({"show", "beside-it"}, kLimitMs);
    for (const QString& each : words)
        QVERIFY2(shown.out.contains(each.toUtf8()), shown.whole());
    const CliResult stopped = cli().run({"stop", "there"}, kLimitMs);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    const CliResult ended = cli().run({"attach", "beside-it"}, kLimitMs);
    QVERIFY2(ended.exitCode == 0, ended.whole());
}

/// In /proc even root makes no file.
void tst_checks::aLaunchIsRefusedWhereItCannotSave() {
    const QStringList command = QStringList{"run", m_bed->writeSpec("nowhere", {.steps = 10}),
                                            "--set", "checkpoint.directory=/proc/none"} +
                                kBothNodes;
    const CliResult checked = cli().run(command + QStringList{"--check"}, kLimitMs);
    QVERIFY2(checked.exitCode == static_cast<int>(ExitCode::kFailed), checked.whole());
    const CliResult refused = cli().run(command, kLimitMs);
    QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kUsage), refused.whole());
    QVERIFY2(refused.err.contains("rank 0 cannot write checkpoints there; let "), refused.whole());
    QVERIFY(!findRun(cli().database(), "nowhere"));
}

void tst_checks::aFolderThatNodesHaveInCommonIsFound() {
    const QString spec = m_bed->writeSpec("common", {});
    const auto wordsFor = [&](const QStringList& settings) {
        const CliResult result = cli().run(
            QStringList{"run", spec, "--check", "--json"} + kBothNodes + settings, kLimitMs);
        if (result.exitCode != 0)
            qWarning("%s", result.whole().constData());
        return rowOf(result.json().object(), "launch-checkpoints")["evidence"].toString();
    };
    const QString folder = m_bed->drive() + "/checkpoints";
    QCOMPARE(wordsFor({"--set", "checkpoint.directory=" + folder}),
             "in " + folder + ", which all nodes have in common: whichever goes on finds them");
    QVERIFY(wordsFor({}).contains("which the other nodes do not have"));
    const auto all = QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot;
    QVERIFY(QDir(m_bed->driveFolder()).entryList(all).isEmpty()); // nothing was left there
}

void tst_checks::aRemovalThatEndsInTheMiddleNotesWhatIsGone() {
    const QString spec = m_bed->writeSpec("half", {.steps = 10, .checkpointEvery = 5});
    const CliResult run =
        cli().run({"run", spec, "--wait", "--json", "--node", "node-b:1"}, kLimitMs);
    QVERIFY2(run.exitCode == 0, run.whole());
    const auto checkpoints = [&] {
        return cli().run({"checkpoints", "half", "--json"}, kLimitMs).json().array().size();
    };
    QVERIFY2(checkpoints() > 0, run.whole());
    // Another run, later in the order, that cannot be locked.
    const QDir runs(m_bed->server(1).home() + "/state/ringmaster/runs");
    QVERIFY(runs.mkpath("zz2/node-00000/agent.pid"));
    QVERIFY(writeFileAtomically(runs.filePath("zz2/node-00000/plan.toml").toStdString(), "x"));
    const CliResult removal =
        cli().run({"nodes", "remove", "node-b", "--from-node", "--runs", "--yes"}, kLimitMs);
    QVERIFY(QDir(runs.filePath("zz2")).removeRecursively());
    QVERIFY2(removal.exitCode != 0 && removal.whole().contains("gone already: run "),
             removal.whole());
    QCOMPARE(checkpoints(), 0);
    QCOMPARE(cli().run({"nodes", "check", "node-b"}, kLimitMs).exitCode, 0); // still in the list
}

/// What is deleted with a node is not offered to go on from.
void tst_checks::aNodeThatIsRidOfItsRunsHasNoCheckpoint() {
    const QString spec = m_bed->writeSpec("left", {.steps = 10, .checkpointEvery = 5});
    const CliResult run =
        cli().run({"run", spec, "--wait", "--json", "--node", "node-b:1"}, kLimitMs);
    QVERIFY2(run.exitCode == 0, run.whole());
    const auto checkpoints = [&] {
        return cli().run({"checkpoints", "left", "--json"}, kLimitMs).json().array().size();
    };
    QVERIFY2(checkpoints() > 0, run.whole());
    const CliResult removal =
        cli().run({"nodes", "remove", "node-b", "--from-node", "--runs", "--yes"}, kLimitMs);
    QVERIFY2(removal.exitCode == 0, removal.whole());
    QCOMPARE(checkpoints(), 0);
    const CliResult branch =
        cli().run({"restore", "left", "10", "--as-new", "--node", "node-a:1"}, kLimitMs);
    QVERIFY2(branch.exitCode != 0 && branch.err.contains("checkpoint"), branch.whole());
}

QTEST_GUILESS_MAIN(tst_checks)
#include "tst_checks.moc"
