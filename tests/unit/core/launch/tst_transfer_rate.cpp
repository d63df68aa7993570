// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/transfer_rate.h"

#include <QTest>

#include <optional>
#include <utility>
#include <vector>

using namespace rm;
using namespace std::chrono_literals;

namespace {

constexpr int64_t kMB = 1'000'000;

/// A transfer whose files shrink to a quarter on the wire.
Transferred moved(int64_t done, int64_t total) {
    return {done * kMB, total * kMB, done * kMB / 4};
}

} // namespace

class TestTransferRate : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void nodesAddUp();
    void everyNodeHasAPaceOfItsOwn();
    void aPaceNeedsSomeTime();
    void paceAndTimeLeftAreOfTheLastSeconds();
    void aStallCountsInFull();
    void theEndIsAlwaysTold();
    void whatIsRepairedIsTold();
    void theSlowestAreThoseThatTakeLongest();

private:
    /// Reports `transferred` of the first transfer `after` the last report.
    void pass(TransferRate::Clock::duration after, const Transferred& transferred) {
        m_now += after;
        m_rate->update(0, transferred);
    }

    TransferRate::Clock::time_point m_now{1h};
    Progress m_last;
    int m_reports = 0;
    std::optional<TransferRate> m_rate;
};

void TestTransferRate::init() {
    m_last = {};
    m_reports = 0;
    m_rate.emplace(
        "Send trainer", std::vector<std::string>{"node-a", "node-b"},
        [this](const Progress& progress) {
            m_last = progress;
            ++m_reports;
        },
        [this] { return m_now; });
}

void TestTransferRate::theSlowestAreThoseThatTakeLongest() {
    std::vector<Progress> nodes;
    for (const auto& [name, seconds] :
         {std::pair("fast", 1.0), std::pair("stands", -1.0), std::pair("slow", 60.0)}) {
        Progress& node = nodes.emplace_back(Progress{name, kMB, 2 * kMB});
        node.secondsLeft = seconds;
    }
    nodes.push_back({"has it", kMB, kMB});
    QStringList names;
    for (const Progress& node : slowestOf(nodes, 2))
        names << node.stage;
    QCOMPARE(names, QStringList({"stands", "slow"}));
    QCOMPARE(slowestOf(nodes, 9), nodes);
}

void TestTransferRate::whatIsRepairedIsTold() {
    Transferred again = moved(50, 100);
    again.repairs = "lib/x.so has another SHA-256";
    m_rate->update(1, again);
    QCOMPARE(m_last.nodes[0].stage, QString("node-b (again: lib/x.so has another SHA-256)"));
}

void TestTransferRate::nodesAddUp() {
    m_rate->update(0, moved(50, 100));
    m_now += 1s;
    m_rate->update(1, moved(40, 100));
    QCOMPARE(m_last.stage, QString("Send trainer"));
    QCOMPARE(m_last.done, 90 * kMB);
    QCOMPARE(m_last.total, 200 * kMB);
    QCOMPARE(m_last.sent, moved(50, 0).sent + moved(40, 0).sent);
}

void TestTransferRate::everyNodeHasAPaceOfItsOwn() {
    for (int second = 0; second <= 4; ++second) {
        m_now += 1s;
        m_rate->update(0, moved(second * 20, 200));
        m_now += 200ms;
        m_rate->update(1, moved(second * 40, 200));
    }
    QCOMPARE(m_last.nodes.size(), 2u);
    QCOMPARE(m_last.nodes[0].stage, QString("node-a"));
    QCOMPARE(m_last.nodes[0].done, 80 * kMB);
    QCOMPARE(m_last.nodes[1].stage, QString("node-b"));
    QCOMPARE(m_last.nodes[1].done, 160 * kMB);
    QVERIFY(m_last.nodes[0].secondsLeft > 2 * m_last.nodes[1].secondsLeft);
}

void TestTransferRate::aPaceNeedsSomeTime() {
    pass(0s, moved(1, 100));
    QCOMPARE(m_last.bytesPerSec, -1.0);
    QCOMPARE(m_last.secondsLeft, -1.0);
    pass(200ms, moved(2, 100));
    QCOMPARE(m_last.secondsLeft, -1.0);
}

void TestTransferRate::paceAndTimeLeftAreOfTheLastSeconds() {
    for (int second = 0; second < 10; ++second)
        pass(1s, moved(second * 40, 1000)); // fast
    for (int second = 1; second <= 10; ++second)
        pass(1s, moved(360 + second * 4, 1000)); // then slow
    QCOMPARE(m_last.bytesPerSec, 1.0 * kMB);
    QCOMPARE(m_last.secondsLeft, 600.0 / 4);
}

void TestTransferRate::aStallCountsInFull() {
    pass(1s, moved(40, 100));
    pass(20s, moved(60, 100));
    QCOMPARE(m_last.bytesPerSec, 5.0 * kMB / 20);
    QCOMPARE(m_last.secondsLeft, 40.0);
}

void TestTransferRate::theEndIsAlwaysTold() {
    pass(1s, moved(99, 100));
    pass(10ms, moved(99, 100));
    QCOMPARE(m_reports, 1);
    pass(10ms, moved(100, 100));
    QCOMPARE(m_reports, 2);
    QCOMPARE(m_last.done, m_last.total);
}

QTEST_GUILESS_MAIN(TestTransferRate)
#include "tst_transfer_rate.moc"
