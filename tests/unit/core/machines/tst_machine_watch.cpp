// SPDX-License-Identifier: GPL-3.0-or-later
// This computer is looked at through its own agent.
#include "app/core/machines/machine_board.h"

#include <QTest>

using namespace rm;

namespace {

constexpr int kPatienceMs = 30'000;

Node clusterNode() {
    Node node;
    node.name = "cluster";
    node.sshHost = "cluster.invalid";
    node.isSlurm = true;
    return node;
}

} // namespace

class TestMachineWatch : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_logins = 0;
        m_watch = std::make_unique<MachineWatch>([this](const Node& node) {
            ++m_logins;
            return std::make_shared<NodeLogin>(node, [](const Node&) { return Credentials{}; });
        });
    }
    void cleanup() { m_watch.reset(); }

    void severalWhoLookShareOneLink() {
        MachineBoard one("one"), other("other");
        for (MachineBoard* board : {&one, &other})
            board->setNodes({kLocalNodeName});
        QVERIFY(
            QTest::qWaitFor([&] { return looks(one, 1000) && looks(other, 200); }, kPatienceMs));
        QCOMPARE(m_watch->links(), 1);
        QCOMPARE(m_logins, 1);
        m_watch->leave("one");
        QCOMPARE(m_watch->links(), 1);
        m_watch->leave("other");
        QTRY_COMPARE_WITH_TIMEOUT(m_watch->links(), 0, kPatienceMs);
    }

    void eachIsToldWhatItDoesNotKnow() {
        MachineBoard board("me");
        board.setNodes({kLocalNodeName});
        const auto points = [&board] { return board.machines()[0].points.size(); };
        QVERIFY(QTest::qWaitFor([&] { return looks(board, 200) && points() >= 5; }, kPatienceMs));
        MachineBoard late("late"); // gets what was seen before it looked
        late.setNodes({kLocalNodeName});
        QVERIFY(looks(late, 200));
        QVERIFY(late.machines()[0].points.size() >= 5);
        const int64_t newest = board.machines()[0].points.back().atNs;
        MachineLook look = board.next(200);
        look.questions[0].after = newest;
        for (const MachinePoint& point : m_watch->look(look, {localNode()})[0].points)
            QVERIFY(point.atNs > newest);
        m_watch->leave("me");
        m_watch->leave("late");
        QTRY_COMPARE_WITH_TIMEOUT(m_watch->links(), 0, kPatienceMs);
    }

    void whoAsksNoMoreCountsAsGone() {
        MachineBoard board("killed");
        board.setNodes({kLocalNodeName});
        QVERIFY(QTest::qWaitFor([&] { return looks(board, 200); }, kPatienceMs));
        QTRY_COMPARE_WITH_TIMEOUT(m_watch->links(), 0, kPatienceMs);
    }

    void aClusterIsNotLookedAt() {
        const MachineLook look{"me", {{"cluster", 0, false}}, 1000};
        const auto news = m_watch->look(look, {clusterNode()});
        QVERIFY(news.at(0).state == MachineState::kCluster && !news[0].fix.empty());
        QCOMPARE(m_watch->links(), 0);
        QCOMPARE(m_logins, 0);
    }

    void aNodeThatBecomesAClusterIsLeft() {
        MachineBoard board("me");
        board.setNodes({kLocalNodeName});
        QVERIFY(QTest::qWaitFor([&] { return looks(board, 200); }, kPatienceMs));
        QCOMPARE(m_watch->links(), 1);
        Node cluster = localNode();
        cluster.isSlurm = true;
        const auto isLeft = [&] {
            board.take(m_watch->look(board.next(200), {cluster}));
            return m_watch->links() == 0;
        };
        QVERIFY(QTest::qWaitFor(isLeft, kPatienceMs));
        QVERIFY(board.machines()[0].state == MachineState::kCluster);
    }

    /// A process that ends does not wait for what it looks at.
    void anEndHangsUp() {
        MachineBoard board("me");
        board.setNodes({kLocalNodeName});
        QVERIFY(QTest::qWaitFor([&] { return looks(board, 200); }, kPatienceMs));
        m_watch->end();
        m_watch.reset();
    }

private:
    /// Looks, and whether figures are there.
    bool looks(MachineBoard& board, int intervalMs) {
        board.take(m_watch->look(board.next(intervalMs), {localNode()}));
        return board.machines()[0].now() != nullptr;
    }

    std::unique_ptr<MachineWatch> m_watch;
    int m_logins = 0;
};

QTEST_GUILESS_MAIN(TestMachineWatch)
#include "tst_machine_watch.moc"
