// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <algorithm>

using namespace rm;

namespace {

constexpr int kLimitMs = 60000;
const QStringList kProcesses = {"machines", "node-a", "--processes", "--json"};

QJsonObject machineIn(const CliResult& result, const QString& node) {
    for (const QJsonValue& machine : result.json().array())
        if (machine["node"].toString() == node)
            return machine.toObject();
    return {};
}

QJsonObject sampleIn(const CliResult& result, const QString& node) {
    return machineIn(result, node).value("sample").toObject();
}

} // namespace

/// Nodes that are looked at live over SSH.
class tst_machines : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void nodesTellOfThemselvesAndAreLeftAlone();
    void aProcessThatWorksIsSeen();
    void ranksAreSaidWithTheirRun();
    void aNodeThatWantsAnAnswerIsNotAskedAbout();
    void aCutLinkIsSaidAndLeavesNothing();

private:
    const Cli& cli() const { return m_bed->laptop(); }

    std::unique_ptr<Testbed> m_bed;
};

void tst_machines::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("machines", {.seeded = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
}

void tst_machines::cleanup() {
    if (m_bed && QTest::currentTestFailed())
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
    if (m_bed)
        QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 30000);
}

void tst_machines::nodesTellOfThemselvesAndAreLeftAlone() {
    const CliResult result = cli().run({"machines", "--json"}, kLimitMs);
    QVERIFY2(result.exitCode == 0, result.whole());
    QCOMPARE(result.json().array().size(), 3);
    for (const char* node : {"node-a", "node-b", "this-computer"}) {
        const QJsonObject machine = machineIn(result, node);
        QCOMPARE(machine["state"].toString(), QString("live"));
        QVERIFY2(machine["facts"]["cpus"].toInt() > 0, result.whole());
        QVERIFY2(machine["sample"]["cpu"].toDouble(-1) >= 0, result.whole());
    }
    // Each has the interfaces of its own namespace.
    const auto interfaces = sampleIn(result, "node-a")["interfaces"].toArray();
    QVERIFY2(std::ranges::any_of(interfaces,
                                 [](const QJsonValue& each) { return each["name"] == "mgmt0"; }),
             result.whole());
    // Their agents end with the links. Left to themselves they would end later, after a silence of
    // 10 s.
    QTRY_COMPARE_WITH_TIMEOUT(m_bed->strayProcesses(), QString(), 7500);
    // The nodes of the bed are one machine, and so is the laptop.
    const CliResult table = cli().run({"machines"}, kLimitMs);
    QVERIFY2(table.out.contains("the same machine as this-computer and node-b"), table.whole());
}

void tst_machines::aProcessThatWorksIsSeen() {
    QProcess busy;
    const QStringList words = NetworkLab::commandIn(
        m_bed->lab().node(0), {"sh", "-c", "while :; do : busy-for-machines; done"});
    busy.start(words.front(), words.mid(1));
    QVERIFY(busy.waitForStarted());
    CliResult result;
    const auto isSeen = [&] {
        result = cli().run(kProcesses, kLimitMs);
        const QJsonObject sample = sampleIn(result, "node-a");
        const QJsonArray processes = sample["processes"].toArray();
        return sample["cpu"].toDouble() > 0 &&
               std::ranges::any_of(processes, [](const QJsonValue& process) {
                   return process["command"].toString().contains("busy-for-machines") &&
                          process["cpu"].toDouble() > 0 && !process["user"].toString().isEmpty();
               });
    };
    const bool wasSeen = QTest::qWaitFor(isSeen, kLimitMs);
    busy.kill();
    busy.waitForFinished();
    QVERIFY2(wasSeen, result.whole());
}

void tst_machines::ranksAreSaidWithTheirRun() {
    const QString spec = m_bed->writeSpec("seen", {.steps = 1'000'000, .checkpointEvery = 100'000});
    const CliResult started = cli().run({"run", spec, "--json", "--node", "node-a:2"}, kLimitMs);
    QVERIFY2(started.exitCode == 0, started.whole());
    const QString run = started.json().object()["id"].toString();
    CliResult result;
    const auto showsRanks = [&] {
        result = cli().run({"machines", "node-a", "--json"}, kLimitMs);
        const QJsonArray processes = sampleIn(result, "node-a")["processes"].toArray();
        return std::ranges::count_if(processes, [&run](const QJsonValue& process) {
                   return process["run_id"] == run && process["rank"].toInt(-1) >= 0;
               }) == 2;
    };
    QVERIFY2(QTest::qWaitFor(showsRanks, kLimitMs), result.whole());
    const CliResult table = cli().run({"machines", "node-a"}, kLimitMs);
    QVERIFY2(table.out.contains("rank 0"), table.whole());
    QVERIFY(cli().run({"stop", run}, kLimitMs).exitCode == 0);
}

/// A look opens no question and enters no key: it says where that is done.
void tst_machines::aNodeThatWantsAnAnswerIsNotAskedAbout() {
    const Cli other(m_bed->path("other"), m_bed->lab().laptop());
    const QString address =
        "root@" + NetworkLab::managementAddress(0) + ':' + QString::number(m_bed->node(0).port);
    const CliResult added = other.run({"nodes", "add", "node-a", "--ssh", address, "--key",
                                       m_bed->path("id_ed25519"), "--no-check"},
                                      kLimitMs);
    QVERIFY2(added.exitCode == 0, added.whole());
    const CliResult result = other.run({"machines", "node-a", "--json"}, kLimitMs);
    QVERIFY2(result.exitCode == static_cast<int>(ExitCode::kUnavailable), result.whole());
    const QJsonObject machine = machineIn(result, "node-a");
    QVERIFY2(machine["state"].toString() == "refused", result.whole());
    QVERIFY2(machine["fix"].toString().contains("ringmaster nodes check node-a"), result.whole());
    QVERIFY(!QFile::exists(other.knownHosts()));
}

void tst_machines::aCutLinkIsSaidAndLeavesNothing() {
    const auto agents = [this] {
        return m_bed->processes(0, "ringmaster-agent", "machine").size();
    };
    const auto watch = cli().start({"machines", "node-a", "--watch", "--interval", "0.5"});
    QByteArray shown;
    const auto shows = [&](const char* words) {
        return QTest::qWaitFor(
            [&] {
                watch->waitForReadyRead(100);
                shown += watch->readAllStandardOutput();
                return shown.contains(words);
            },
            kLimitMs);
    };
    QVERIFY2(shows("GiB"), shown);
    QCOMPARE(agents(), size_t(1));
    QVERIFY(m_bed->lab().setManagementLink(0, false));
    shown.clear();
    QVERIFY2(shows("Unreachable"), shown);
    QTRY_COMPARE_WITH_TIMEOUT(agents(), size_t(0), kLimitMs);
    QVERIFY(m_bed->lab().setManagementLink(0, true));
    shown.clear();
    QVERIFY2(shows("GiB"), shown);
    watch->terminate();
    QVERIFY(watch->waitForFinished(kLimitMs));
    QTRY_COMPARE_WITH_TIMEOUT(agents(), size_t(0), kLimitMs);
}

QTEST_GUILESS_MAIN(tst_machines)
#include "tst_machines.moc"
