// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/network_survey.h"

#include <QTest>

#include <atomic>

using namespace rm;

class TestNetworkSurvey : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aNodeThatCannotBeReachedIsTriedOnce();
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
    const auto matrix = measureNetwork(hosts, {gone}, {});
    QVERIFY(matrix);
    QVERIFY(!matrix->nodes.front().problem.empty() && matrix->trials.empty());
    QCOMPARE(tries.load(), 1);
}

QTEST_GUILESS_MAIN(TestNetworkSurvey)
#include "tst_network_survey.moc"
