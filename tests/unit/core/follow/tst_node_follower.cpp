// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/follow/node_follower.h"
#include "shared/io/clock.h"
#include "tests/support/requirement.h"
#include "tests/support/ssh_home.h"
#include "tests/unit/core/store/store_fixture.h"

#include <QTcpServer>
#include <QTcpSocket>
#include <QTest>

#include <algorithm>
#include <mutex>
#include <optional>
#include <vector>

using namespace rm;

namespace {

constexpr int kLongMs = 60'000; // some tries, with the pauses between them

/// What a follower says on its thread.
class Heard {
public:
    NodeFollower::Sink sink() {
        NodeFollower::Sink sink;
        sink.commit = [this](IngestBatch batch) -> Result<void> {
            const std::lock_guard lock(m_mutex);
            for (const Record& record : batch.records)
                if (const auto* event = std::get_if<Event>(&record))
                    m_events.push_back(*event);
            return {};
        };
        sink.linkChanged = [this](const LiveState::NodeLink& link) {
            const std::lock_guard lock(m_mutex);
            m_links.push_back({link.link, monotonicNowNs()});
        };
        sink.loginRefused = [this](ConnectFailure::Need need) {
            const std::lock_guard lock(m_mutex);
            m_needs.push_back(need);
        };
        sink.commandState = [](const CommandState&) {};
        sink.ended = [this](const Result<void>& how) {
            const std::lock_guard lock(m_mutex);
            m_end = how;
        };
        return sink;
    }

    std::vector<Event> events() const {
        const std::lock_guard lock(m_mutex);
        return m_events;
    }
    std::vector<ConnectFailure::Need> needs() const {
        const std::lock_guard lock(m_mutex);
        return m_needs;
    }
    std::optional<Result<void>> end() const {
        const std::lock_guard lock(m_mutex);
        return m_end;
    }
    /// How often it was so since then.
    int count(LiveState::Link link, int64_t sinceNs = 0) const {
        const std::lock_guard lock(m_mutex);
        return static_cast<int>(std::ranges::count_if(
            m_links, [&](const Said& said) { return said.link == link && said.atNs >= sinceNs; }));
    }

private:
    struct Said {
        LiveState::Link link;
        int64_t atNs = 0;
    };
    mutable std::mutex m_mutex;
    std::vector<Event> m_events;
    std::vector<ConnectFailure::Need> m_needs;
    std::vector<Said> m_links;
    std::optional<Result<void>> m_end;
};

std::shared_ptr<NodeLogin> loginOf(const Node& node) {
    return std::make_shared<NodeLogin>(node, [](const Node&) { return Credentials{}; });
}

} // namespace

/// Of a node that cannot be reached, or leads to another machine.
class TestNodeFollower : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void aHostKeyThatIsNotTheRightOneIsTriedAgain_data();
    void aHostKeyThatIsNotTheRightOneIsTriedAgain();
    void aNewReasonIsStoredAndAKnownOneIsNot();

private:
    SshHome m_home;
};

void TestNodeFollower::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    QVERIFY(m_home.prepare());
}

void TestNodeFollower::init() {
    QVERIFY(m_home.serve({.authorizedKey = m_home.publicKey()}));
    QVERIFY(m_home.know());
}

void TestNodeFollower::aHostKeyThatIsNotTheRightOneIsTriedAgain_data() {
    QTest::addColumn<bool>("isKnown"); ///< another key, as where a name leads to another machine
    QTest::newRow("another one is known") << true;
    QTest::newRow("none is known") << false;
}

void TestNodeFollower::aHostKeyThatIsNotTheRightOneIsTriedAgain() {
    using Need = ConnectFailure::Need;
    QFETCH(bool, isKnown);
    const auto other = makeSshKey(m_home.path(isKnown ? "other_key" : "unused_key"));
    QVERIFY(other);
    const QString host = m_home.server().knownHostsLine().section(' ', 0, 0);
    QVERIFY(m_home.write("known_hosts", isKnown ? host + ' ' + *other + '\n' : QString()));
    StoreFixture store;
    store.createRun("r1");
    Heard heard;
    const NodeFollower follower({m_home.node("node-a"), "r1"}, loginOf(m_home.node("node-a")),
                                store.path(), heard.sink());
    QTRY_VERIFY_WITH_TIMEOUT(heard.count(LiveState::Link::kRefused) >= 3, kLongMs);
    QVERIFY(!m_home.server().log().contains("userauth-request")); // so that nothing is at risk
    // A person is asked once. What nobody can decide is told, and stored once.
    QCOMPARE(heard.needs(), std::vector<Need>{isKnown ? Need::kNothing : Need::kTrustHostKey});
    QCOMPARE(heard.events().size(), size_t(isKnown ? 1 : 0));
    if (isKnown) {
        const Event event = heard.events().front();
        QCOMPARE(event.code, kNodeLostEvent);
        QCOMPARE(event.severity, Severity::kWarning);
        QVERIFY2(event.message.starts_with("node-a has a host key that is not accepted"),
                 event.message.c_str());
    }
    QVERIFY(m_home.know());
    QTRY_VERIFY_WITH_TIMEOUT(heard.end(), kLongMs);
    QVERIFY(!*heard.end());
    QCOMPARE(heard.end()->error().code, ErrorCode::kNotFound); // by the agent there
}

void TestNodeFollower::aNewReasonIsStoredAndAKnownOneIsNot() {
    constexpr int64_t kLastsNs = 4'000'000'000; // longer than what is taken for brief
    const Node node = m_home.node("node-a");
    m_home.server().stop();
    std::vector<Event> events;
    {
        Heard heard;
        const NodeFollower follower({node, "r1"}, loginOf(node), {}, heard.sink());
        QTRY_COMPARE_WITH_TIMEOUT(heard.events().size(), size_t(1), kLongMs); // nothing listens
        QTcpServer other;
        connect(&other, &QTcpServer::newConnection, &other, [&other] {
            QTcpSocket* guest = other.nextPendingConnection();
            connect(guest, &QTcpSocket::readyRead, guest, [guest] {
                guest->readAll();
                guest->disconnectFromHost();
            });
        });
        QVERIFY(other.listen(QHostAddress::LocalHost, static_cast<quint16>(node.port)));
        QTRY_COMPARE_WITH_TIMEOUT(heard.events().size(), size_t(2), kLongMs);
        events = heard.events();
    }
    for (const Event& event : events)
        QCOMPARE(event.code, kNodeLostEvent);
    QVERIFY(events[0].message != events[1].message);
    QCOMPARE(events[0].wallNs, events[1].wallNs); // since when it cannot be reached

    // Another process, for which it is as the database has it.
    FollowTarget target{node, "r1"};
    target.loss = {node.name, events[0].wallNs, events[0].message};
    Heard heard;
    const int64_t beganNs = monotonicNowNs();
    const NodeFollower follower(target, loginOf(node), {}, heard.sink());
    QTRY_VERIFY_WITH_TIMEOUT(heard.count(LiveState::Link::kLost, beganNs + kLastsNs) >= 2, kLongMs);
    QVERIFY(heard.events().empty());
}

QTEST_GUILESS_MAIN(TestNodeFollower)
#include "tst_node_follower.moc"
