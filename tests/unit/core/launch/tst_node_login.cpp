// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/node_login.h"
#include "tests/support/requirement.h"
#include "tests/support/ssh_home.h"
#include "tests/support/task_state.h"

#include <QDeadlineTimer>
#include <QScopeGuard>
#include <QTest>

#include <unistd.h>

#include <atomic>
#include <thread>

using namespace rm;

namespace {

constexpr int kSoonMs = 10'000;

/// A thread of this process, once it has begun.
bool isAsleep(pid_t thread) {
    return thread && taskState("/proc/self/task/" + std::to_string(thread)) == 'S';
}

} // namespace

/// Of a real OpenSSH server.
class TestNodeLogin : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void allShareTheOneThatIsOpen();
    void oneThatHasEndedIsNotGiven();
    void aDropOfAnEarlierOneKeepsTheNewOne();
    void whoWaitsForARefusalIsToldItAndTriesNothing();
    void aStopEndsTheWaitForAnother();

private:
    int logins() { return static_cast<int>(m_home.server().log().count("Accepted publickey")); }
    std::unique_ptr<NodeLogin> login(std::function<void()> onTry = {}) {
        return std::make_unique<NodeLogin>(m_home.node("node-a"), [onTry](const Node&) {
            if (onTry)
                onTry();
            return Credentials{};
        });
    }

    SshHome m_home;
};

void TestNodeLogin::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    QVERIFY(m_home.prepare());
}

void TestNodeLogin::init() {
    QVERIFY(m_home.serve({.authorizedKey = m_home.publicKey()}));
    QVERIFY(m_home.know());
}

void TestNodeLogin::allShareTheOneThatIsOpen() {
    const auto login = this->login();
    constexpr int kThreads = 4;
    std::vector<NodeLogin::Shared> sessions(kThreads);
    {
        std::vector<std::jthread> threads;
        for (NodeLogin::Shared& session : sessions)
            threads.emplace_back([&] { (void)login->get(session, {}); });
    }
    QVERIFY(sessions.front());
    for (const NodeLogin::Shared& session : sessions)
        QCOMPARE(session, sessions.front());
    QCOMPARE(logins(), 1);
    sessions.clear();
    NodeLogin::Shared later;
    QVERIFY(login->get(later, {}));
    QCOMPARE(logins(), 2); // nobody held the first one
}

void TestNodeLogin::oneThatHasEndedIsNotGiven() {
    const auto login = this->login();
    NodeLogin::Shared session;
    QVERIFY(login->get(session, {}));
    m_home.server().cutSessions();
    QTRY_VERIFY_WITH_TIMEOUT(!session->session->seemsOpen(), kSoonMs);
    QVERIFY(login->get(session, {}));
    QCOMPARE(
        runToEnd(*session->session, "echo", {"here"}, {}, std::chrono::seconds(10)).value_or(""),
        std::string("here\n"));
}

void TestNodeLogin::aDropOfAnEarlierOneKeepsTheNewOne() {
    const auto login = this->login();
    NodeLogin::Shared first, second, third;
    QVERIFY(login->get(first, {}));
    login->drop(first);
    QVERIFY(login->get(second, {}));
    QVERIFY(first != second);
    login->drop(first);
    QVERIFY(login->get(third, {}));
    QCOMPARE(third, second);
}

void TestNodeLogin::whoWaitsForARefusalIsToldItAndTriesNothing() {
    QVERIFY(m_home.serve({.authorizedKey = {}}));
    QVERIFY(m_home.know());
    std::atomic<pid_t> waiting = 0;
    std::atomic<int> tries = 0;
    const auto login = this->login([&] {
        ++tries;
        QDeadlineTimer deadline(kSoonMs);
        while (tries == 1 && !isAsleep(waiting) && !deadline.hasExpired())
            std::this_thread::yield();
    });
    tl::expected<void, ConnectFailure> reported[2];
    {
        const auto ask = [&](size_t who) {
            NodeLogin::Shared session;
            reported[who] = login->get(session, {});
        };
        const std::jthread opener(ask, 0);
        QTRY_COMPARE_WITH_TIMEOUT(tries.load(), 1, kSoonMs);
        const std::jthread waiter([&] {
            waiting = ::gettid();
            ask(1);
        });
    }
    QCOMPARE(tries.load(), 1);
    for (const auto& each : reported)
        QVERIFY(!each && each.error().isRefusal());
    NodeLogin::Shared again;
    QVERIFY(!login->get(again, {}));
    QCOMPARE(tries.load(), 2); // by who comes later
}

void TestNodeLogin::aStopEndsTheWaitForAnother() {
    std::atomic<bool> mayGoOn = false;
    std::atomic<int> tries = 0;
    const auto login = this->login([&] {
        ++tries;
        mayGoOn.wait(false);
    });
    NodeLogin::Shared held, session;
    const std::jthread opener([&] { (void)login->get(held, {}); });
    const auto letGo = qScopeGuard([&] { // before the threads are joined
        mayGoOn = true;
        mayGoOn.notify_all();
    });
    QTRY_COMPARE_WITH_TIMEOUT(tries.load(), 1, kSoonMs);
    std::atomic<pid_t> waiting = 0;
    std::atomic<bool> isOver = false;
    tl::expected<void, ConnectFailure> reported;
    std::jthread waiter([&](const std::stop_token& stop) {
        waiting = ::gettid();
        reported = login->get(session, stop);
        isOver = true;
    });
    QTRY_VERIFY_WITH_TIMEOUT(isAsleep(waiting), kSoonMs);
    waiter.request_stop();
    QTRY_VERIFY_WITH_TIMEOUT(isOver.load(), kSoonMs);
    QVERIFY(!reported && !session);
    QCOMPARE(reported.error().error.code, ErrorCode::kUnavailable);
    QCOMPARE(tries.load(), 1);
}

QTEST_GUILESS_MAIN(TestNodeLogin)
#include "tst_node_login.moc"
