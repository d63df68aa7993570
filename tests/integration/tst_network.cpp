// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/run_summary.h"
#include "shared/journal/segment.h"
#include "tests/integration/run_facts.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"
#include "tests/support/sockets.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <netinet/tcp.h>

#include <csignal>

using namespace rm;

namespace {

constexpr int kLimitMs = 120'000;
constexpr int kMeasuredPort = 29500;
const QStringList kBothNodes = {"--node", "node-a:1", "--node", "node-b:1"};

/// What `nodes network --json` printed.
struct Network {
    int exitCode = -1;
    QJsonObject json;
    QByteArray whole;

    QString chosen(const char* node, const char* what = "interface") const {
        return json["chosen"][node][what].toString();
    }
    QString sentences() const {
        QStringList all;
        for (const QJsonValue& sentence : json["sentences"].toArray())
            all << sentence.toString();
        return all.join('\n');
    }
    /// How each dial of that address went, from whichever node, as ranks would: "reached,reached".
    QString reaches(const QString& address) const {
        QStringList all;
        for (const QJsonValue& trial : json["matrix"]["trials"].toArray())
            if (trial["address"].toString() == address && trial["by"].toString().isEmpty())
                all << trial["reach"].toString();
        all.removeDuplicates();
        return all.join(',');
    }
};

/// Where sockets listen, or from where they are connected; each address once.
QStringList addressesOf(const std::vector<SeenSocket>& sockets, int state) {
    QStringList addresses;
    for (const SeenSocket& each : sockets)
        if (each.state == state)
            addresses << each.local;
    addresses.removeDuplicates();
    return addresses;
}

} // namespace

/// How nodes reach each other, by their agents, over real links.
class tst_network : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void theOneAddressThatRoutesIsChosen();
    void theSameBridgeAddressOnBothIsNotTakenForAWay();
    void trainingRunsWhereOneOfSeveralAddressesRoutes();
    void noSumCrossesAPublicAddressWhereAPrivateOneRoutes();
    void trainingRunsWhereIPv6AloneRoutes();
    void aRankWithoutAWayToAnotherSaysWhereItListens();
    void aPortThatIsDroppedIsNamedAndRunsDoWithoutIt();
    void oneBlockedDirectionIsNamed();
    void aNodeThatCannotBeReachedIsNamedAndTheOthersAreMeasured();
    void aMeasurementThatIsCancelledLeavesNothingThere();
    void aPathThatLosesLargePacketsIsNamed();

private:
    const Cli& cli() const { return m_bed->laptop(); }
    NetworkLab& lab() const { return m_bed->lab(); }
    static Network measure(const Cli& cli, const QStringList& more = {});
    QString planOn(int node, const QString& run) const;
    static QString routing(int node) { return NetworkLab::dataAddress(node) + "/24"; }
    pid_t rankOn(int node) const;

    std::unique_ptr<Testbed> m_bed;
};

Network tst_network::measure(const Cli& cli, const QStringList& more) {
    const CliResult said = cli.run(QStringList{"nodes", "network", "--json"} + more, kLimitMs);
    return {said.exitCode, said.json().object(), said.whole()};
}

QString tst_network::planOn(int node, const QString& run) const {
    QFile file(m_bed->server(node).home() + "/state/ringmaster/runs/" + run + "/" +
               QString::fromStdString(rm::nodeName(node)) + "/plan.toml");
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QString();
}

/// 0 while none lives there.
pid_t tst_network::rankOn(int node) const {
    const auto ranks = m_bed->processes(node, "ringmaster-trainer");
    return ranks.empty() ? 0 : ranks.front();
}

void tst_network::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    auto bed = Testbed::create("net", {.seeded = true});
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto added = m_bed->addNodes(cli());
    QVERIFY2(added, added ? "" : added.error().message.c_str());
    for (int node = 0; node < 2; ++node) {
        const auto number = QString::number(node + 1);
        // A second card, in a switch that the other node is not in; a bridge for containers, with
        // the address that it has everywhere; IPv6 beside IPv4.
        QVERIFY(lab().addInterface(node, "eth1", "10.240.0." + number + "/24"));
        QVERIFY(lab().addInterface(node, "docker0", "172.17.0.1/16"));
        QVERIFY(lab().addAddress(node, "data0", "fd00:232::" + number + "/64"));
    }
}

/// The address that leads to the other node is not the first one of its card.
void tst_network::init() {
    for (int node = 0; node < 2; ++node)
        QVERIFY(lab().setDataAddresses(
            node, {QString("10.%1.0.1/24").arg(50 + 10 * node), routing(node)}));
}

void tst_network::cleanup() {
    if (QTest::currentTestFailed() && m_bed)
        qInfo("%s", m_bed->reportAndClean(nullptr).constData());
}

void tst_network::theOneAddressThatRoutesIsChosen() {
    const Network network = measure(cli(), {"node-a", "node-b"});
    QVERIFY2(network.exitCode == 0, network.whole);
    QCOMPARE(network.json["blocked"].toInt(-1), 0);
    for (const char* node : {"node-a", "node-b"})
        QCOMPARE(network.chosen(node), QString("data0"));
    QCOMPARE(network.chosen("node-a", "address"), NetworkLab::dataAddress(0));
    QVERIFY2(network.sentences().contains("data0 on node-a and node-b"),
             qPrintable(network.sentences()));
    QCOMPARE(network.reaches(NetworkLab::dataAddress(1)), QString("reached"));
    QCOMPARE(network.reaches("fd00:232::2"), QString("reached"));
    QCOMPARE(network.reaches("10.240.0.2"), QString("no-neighbour"));
    QCOMPARE(network.reaches(NetworkLab::managementAddress(1)), QString("no-route"));
    QCOMPARE(network.reaches("10.60.0.1"), QString("no-route"));
    QVERIFY2(network.sentences().contains("NCCL listens at 10.50.0.1 (data0) on node-a, not at " +
                                          NetworkLab::dataAddress(0)),
             qPrintable(network.sentences()));
    // What was found is there later, too.
    QCOMPARE(measure(cli(), {"--last"}).json["matrix"], network.json["matrix"]);
}

void tst_network::theSameBridgeAddressOnBothIsNotTakenForAWay() {
    const Network network = measure(cli(), {"node-a", "node-b"});
    // It is the node's own listener that answers, at the port that both have.
    QCOMPARE(network.reaches("172.17.0.1"), QString("stranger,refused"));
    QVERIFY(!network.sentences().contains("docker0"));
}

void tst_network::trainingRunsWhereOneOfSeveralAddressesRoutes() {
    SmallSpec spec;
    spec.steps = 20;
    const CliResult ran = cli().run(
        QStringList{"run", m_bed->writeSpec("several", spec), "--wait"} + kBothNodes, kLimitMs);
    QVERIFY2(ran.exitCode == 0, ran.whole());
    const QString run = newestRun(cli().database()).value_or(RunSummary()).id;
    for (int node = 0; node < 2; ++node)
        for (const QString& part : {QString("interface = \"data0\""),
                                    "address = \"" + NetworkLab::dataAddress(node) + '"'})
            QVERIFY2(planOn(node, run).contains(part), qPrintable(planOn(node, run)));
}

/// The rank of the second node has no store, so that nothing but Gloo listens there.
void tst_network::noSumCrossesAPublicAddressWhereAPrivateOneRoutes() {
    const QString kPublic = "11.0.0.%1";
    for (int node = 0; node < 2; ++node)
        QVERIFY(lab().setDataAddresses(node, {kPublic.arg(node + 1) + "/24", routing(node)}));
    SmallSpec spec;
    spec.steps = 1'000'000;
    const auto app =
        cli().start(QStringList{"run", m_bed->writeSpec("private", spec), "--wait"} + kBothNodes);
    const auto trains = [this] {
        const auto run = newestRun(cli().database());
        return run && run->name == "private" && run->step > 1;
    };
    QTRY_VERIFY_WITH_TIMEOUT(trains(), kLimitMs);
    std::vector<SeenSocket> ofRank[2], ofNode[2];
    for (int node = 0; node < 2; ++node) {
        ofRank[node] = socketsOf(rankOn(node));
        ofNode[node] = socketsInNetworkOf(rankOn(node));
    }
    const CliResult stopped = cli().run({"stop", newestRun(cli().database())->id}, kLimitMs);
    QVERIFY2(stopped.exitCode == 0, stopped.whole());
    QVERIFY(app->waitForFinished(kLimitMs));
    // Those of the launch's dials linger in other states.
    for (int node = 0; node < 2; ++node)
        for (int state : {TCP_ESTABLISHED, TCP_LISTEN}) {
            QCOMPARE(addressesOf(ofRank[node], state), QStringList{NetworkLab::dataAddress(node)});
            QVERIFY(!addressesOf(ofNode[node], state).contains(kPublic.arg(node + 1)));
        }
}

void tst_network::trainingRunsWhereIPv6AloneRoutes() {
    for (int node = 0; node < 2; ++node)
        QVERIFY(lab().setDataAddresses(node, {}));
    SmallSpec spec;
    spec.steps = 20;
    const CliResult ran = cli().run(
        QStringList{"run", m_bed->writeSpec("six", spec), "--wait"} + kBothNodes, kLimitMs);
    QVERIFY2(ran.exitCode == 0, ran.whole());
    const QString plan = planOn(1, newestRun(cli().database()).value_or(RunSummary()).id);
    for (const char* part : {"master_addr = \"fd00:232::1\"", "address = \"fd00:232::2\""})
        QVERIFY2(plan.contains(part), qPrintable(plan));
}

/// Here by a variable of a person, who names an interface besides that leads nowhere.
void tst_network::aRankWithoutAWayToAnotherSaysWhereItListens() {
    SmallSpec spec;
    spec.steps = 20;
    const CliResult ran =
        cli().run(QStringList{"run", m_bed->writeSpec("nowhere", spec), "--wait", "--set",
                              "launch.max_restarts=0", "--set",
                              "launch.environment=[\"GLOO_SOCKET_IFNAME=data0,mgmt0\"]"} +
                      kBothNodes,
                  kLimitMs);
    QCOMPARE(ran.exitCode, static_cast<int>(ExitCode::kRunFailed));
    const QByteArray said = ran.whole();
    for (const char* part :
         {"this rank has no way to another: Gloo, which listens at 10.232.0.",
          " (data0) and mgmt0 here: ", "Network is unreachable",
          "`ringmaster nodes network` finds an interface by which the nodes reach each other"})
        QVERIFY2(said.contains(part), said);
    QVERIFY2(!said.contains("another rank went away"), said);
}

void tst_network::aPortThatIsDroppedIsNamedAndRunsDoWithoutIt() {
    QVERIFY(lab().dropPort(0, kMeasuredPort, true));
    const Network network = measure(cli(), {"node-a", "node-b"});
    SmallSpec spec;
    spec.steps = 5;
    const CliResult ran = cli().run(
        QStringList{"run", m_bed->writeSpec("without", spec), "--wait"} + kBothNodes, kLimitMs);
    QVERIFY(lab().dropPort(0, kMeasuredPort, false));
    QVERIFY2(network.exitCode == 0, network.whole);
    QCOMPARE(network.chosen("node-a"), QString("data0"));
    const QString sentences = network.sentences();
    for (const char* part :
         {"All reach each other in both directions by data0",
          "Port 29500 is blocked (dropped) from node-b to node-a at ",
          "it matters only if launch.master_port names it; leave launch.master_port at 0"})
        QVERIFY2(sentences.contains(part), qPrintable(sentences));
    QVERIFY2(ran.exitCode == 0, ran.whole());
}

void tst_network::oneBlockedDirectionIsNamed() {
    const auto blocked = lab().dropConnectionsTo(1, true);
    QVERIFY2(blocked, blocked ? "" : blocked.error().message.c_str());
    const Network network = measure(cli(), {"node-a", "node-b"});
    SmallSpec spec;
    // Any other may be one that this firewall takes for a connection of node-a's own.
    spec.masterPort = kMeasuredPort;
    const CliResult refused = cli().run(
        QStringList{"run", m_bed->writeSpec("refused", spec), "--wait"} + kBothNodes, kLimitMs);
    QVERIFY(lab().dropConnectionsTo(1, false));
    QVERIFY2(network.exitCode != 0, network.whole);
    QCOMPARE(network.json["blocked"].toInt(-1), 1);
    const QString why = "node-a cannot reach node-b: ";
    for (const QString& part :
         {why, NetworkLab::dataAddress(1) + " (data0) does not answer",
          QString("dropped by a firewall on node-a, on node-b or by something between"),
          QString("the other direction works")}) {
        QVERIFY2(network.sentences().contains(part), qPrintable(network.sentences()));
        QVERIFY2(refused.err.contains(part.toUtf8()), refused.whole());
    }
    QVERIFY(!network.sentences().contains("node-b cannot reach node-a"));
    QCOMPARE(refused.exitCode, static_cast<int>(ExitCode::kUnavailable));
}

void tst_network::aNodeThatCannotBeReachedIsNamedAndTheOthersAreMeasured() {
    QVERIFY(lab().setManagementLink(1, false));
    const Network network = measure(cli());
    QVERIFY(lab().setManagementLink(1, true));
    QVERIFY(network.exitCode != 0);
    QVERIFY2(network.sentences().contains("node-b took no part: "),
             qPrintable(network.sentences()));
}

void tst_network::aMeasurementThatIsCancelledLeavesNothingThere() {
    const auto runs = [this](int node, const char* command) {
        return !m_bed->processes(node, "ringmaster-agent", command).empty();
    };
    const auto measuring = cli().start({"nodes", "network", "node-a", "node-b"});
    // It goes on for three seconds, as nobody answers in the network of the second card.
    QTRY_VERIFY_WITH_TIMEOUT(runs(0, "dial"), kLimitMs);
    ::kill(static_cast<pid_t>(measuring->processId()), SIGINT);
    QVERIFY(measuring->waitForFinished(kLimitMs));
    QCOMPARE(measuring->exitCode(), 128 + SIGINT);
    for (int node = 0; node < 2; ++node)
        QTRY_VERIFY_WITH_TIMEOUT(!runs(node, "listen") && !runs(node, "dial"), kLimitMs);
}

void tst_network::aPathThatLosesLargePacketsIsNamed() {
    Testbed::Options options;
    options.nodes = 3;
    auto bed = Testbed::create("mtu", options);
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    const Cli& laptop = (*bed)->laptop();
    const auto added = (*bed)->addNodes(laptop);
    QVERIFY2(added, added ? "" : added.error().message.c_str());
    const auto lost = (*bed)->lab().loseLargePacketsTo(1);
    QVERIFY2(lost, lost ? "" : lost.error().message.c_str());
    const Network network = measure(laptop, {"node-a", "node-b", "node-3"});
    const CliResult refused = laptop.run(
        QStringList{"run", (*bed)->writeSpec("large", SmallSpec()), "--wait"} + kBothNodes,
        kLimitMs);
    QVERIFY2(network.exitCode != 0, network.whole);
    for (const char* part :
         {"node-a cannot reach node-b: ", "packets of full size are lost on the way there",
          "set a smaller MTU on data0 of node-a and data0 of node-b"}) {
        QVERIFY2(network.sentences().contains(part), qPrintable(network.sentences()));
        QVERIFY2(refused.err.contains(part), refused.whole());
    }
    QCOMPARE(refused.exitCode, static_cast<int>(ExitCode::kUnavailable));
    QVERIFY(!network.sentences().contains("node-3 cannot reach node-a"));
}

QTEST_GUILESS_MAIN(tst_network)
#include "tst_network.moc"
