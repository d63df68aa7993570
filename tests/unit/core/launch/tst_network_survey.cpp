// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/network_survey.h"
#include "shared/io/clock.h"
#include "tests/unit/core/network/network_examples.h"

#include <QTcpServer>
#include <QTest>

#include <atomic>
#include <set>

using namespace rm;
using namespace rm::example;

namespace {

/// Nodes with so many interfaces of one address each, whose ports are open.
NetworkMatrix nodesOf(int count, int interfaces) {
    NetworkMatrix matrix;
    matrix.optionalPort = kMeasuredPort;
    for (int node = 0; node < count; ++node) {
        std::vector<InterfaceReport> addresses;
        for (int i = 0; i < interfaces; ++i)
            addresses.push_back(at("eth" + std::to_string(i),
                                   "10." + std::to_string(i) + ".0." + std::to_string(node)));
        matrix.nodes.push_back(networkNode("node-" + std::to_string(node), std::move(addresses)));
    }
    return matrix;
}

std::set<int> dialed(const std::vector<NetworkTrial>& trials, bool byInterface) {
    std::set<int> nodes;
    for (const NetworkTrial& trial : trials)
        if (trial.by.empty() != byInterface)
            nodes.insert(trial.to);
    return nodes;
}

} // namespace

class TestNetworkSurvey : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aNodeThatCannotBeReachedIsTriedOnce();
    void whoHasNotAnsweredIsNamed();
    void aPortThatCountsIsDialedWithLargePacketsAndByEachInterface();
    void dialsByAnInterfaceAreLeftOutBeforeNodes();
    void nodesForWhichThereIsNoRoomAreListed();
};

/// Each try of a machine that is off takes half a minute.
void TestNetworkSurvey::aNodeThatCannotBeReachedIsTriedOnce() {
    std::atomic<int> tries = 0;
    HostPool hosts([&tries](const Node&) { // asked for before each
        ++tries;
        return Credentials{};
    });
    Node gone;
    gone.name = "gone";
    gone.sshHost = "255.255.255.255"; // the kernel refuses to connect there
    std::vector<QString> stages;
    int64_t notedNs = 0;
    const auto note = [&stages, &notedNs](const Progress& now) {
        stages.push_back(now.stage);
        notedNs = wallNowNs();
    };
    const auto matrix = measureNetwork(hosts, {gone}, note, {});
    QVERIFY(matrix);
    QVERIFY(matrix->measuredNs >= notedNs); // its age is counted from the end
    QVERIFY(!matrix->nodes.front().problem.empty() && matrix->trials.empty());
    QCOMPARE(tries.load(), 1);
    QCOMPARE(stages.size(), size_t(3));
    QVERIFY(stages.front().startsWith("Log in") && stages.back().startsWith("Dial"));
}

/// Beside one that cannot be reached at all.
void TestNetworkSurvey::whoHasNotAnsweredIsNamed() {
    QTcpServer silent;
    QVERIFY(silent.listen(QHostAddress::LocalHost));
    Node gone, mute;
    gone.name = "gone";
    gone.sshHost = "255.255.255.255";
    mute.name = "mute";
    mute.sshHost = "127.0.0.1";
    mute.port = silent.serverPort();
    HostPool hosts([](const Node&) { return Credentials{}; });
    std::stop_source wish;
    QString named;
    const auto note = [&](const Progress& now) {
        if (!now.stage.contains("mute"))
            return;
        named = now.stage;
        wish.request_stop();
    };
    QVERIFY(!measureNetwork(hosts, {gone, mute}, note, wish.get_token()));
    QCOMPARE(named, QString("Log in to the nodes: waiting for mute"));
}

/// The one that a firewall may hold back would say nothing.
void TestNetworkSurvey::aPortThatCountsIsDialedWithLargePacketsAndByEachInterface() {
    const NodeDials dials = dialsOf(nodesOf(2, 1), 0, {{}, true, -1});
    QCOMPARE(dials.trials.size(), size_t(4)); // three ports as ranks do, one by eth0
    for (size_t i = 0; i < dials.trials.size(); ++i) {
        const DialTarget& target = dials.order.targets[i];
        QCOMPARE(target.port, dials.trials[i].port);
        QCOMPARE(target.large, target.port == 35000 && target.interface.empty());
        QVERIFY(target.interface.empty() || target.port == 35000);
    }
}

void TestNetworkSurvey::dialsByAnInterfaceAreLeftOutBeforeNodes() {
    // 63 nodes with 12 addresses: 36 dials each as ranks do, 144 more by each interface.
    const NodeDials dials = dialsOf(nodesOf(64, 12), 0, {{}, true, -1});
    QVERIFY(dials.order.targets.size() <= kMostDials);
    QCOMPARE(dialed(dials.trials, false).size(), size_t(63));
    QVERIFY(dialed(dials.trials, true).size() < 63);
    QVERIFY(dials.leftOut.empty());
}

void TestNetworkSurvey::nodesForWhichThereIsNoRoomAreListed() {
    const NodeDials dials = dialsOf(nodesOf(256, 12), 0, {{}, true, -1}); // 255 * 36
    QVERIFY(dials.order.targets.size() <= kMostDials);
    QCOMPARE(dials.order.targets.size(), dials.trials.size());
    const std::set<int> in = dialed(dials.trials, false), out = dialed(dials.leftOut, false);
    QCOMPARE(in.size() + out.size(), size_t(255)); // no node by half
    QCOMPARE(*in.rbegin() + 1, *out.begin());
    for (const NetworkTrial& trial : dials.leftOut) {
        QCOMPARE(trial.answer.reach, Reach::kUntried);
        QVERIFY(trial.answer.error.find("8192") != std::string::npos);
    }
}

QTEST_GUILESS_MAIN(TestNetworkSurvey)
#include "tst_network_survey.moc"
