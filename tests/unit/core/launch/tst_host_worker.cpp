// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/host_worker.h"

#include <QElapsedTimer>
#include <QTcpServer>
#include <QTest>

#include <atomic>

using namespace rm;

namespace {

constexpr int kAtOnceMs = 1000;
constexpr int kSoonMs = 5000;

} // namespace

/// Workers of nodes that accept a connection and then say nothing.
class TestHostWorker : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void anUnwantedTaskDoesNotWaitForItsConnection();
    void anEndDoesNotWaitForAConnection();
    void whatIsUnwantedFromTheStartIsNotTried();
    void tasksAfterAnUnwantedOneStillRun();
    void afterItIsClosedEveryTaskIsRefused();
    void whoWaitsIsToldForWhatAndIsCancelledAtOnce();
    void whatIsAskedDoesNotWaitForAPortThatRefuses();

private:
    std::future<Result<bool>> post(std::stop_token unwanted = {});

    std::unique_ptr<QTcpServer> m_silent;
    std::unique_ptr<HostWorker> m_worker;
};

void TestHostWorker::init() {
    m_worker.reset();
    m_silent = std::make_unique<QTcpServer>();
    QVERIFY(m_silent->listen(QHostAddress::LocalHost));
    Node node;
    node.name = "silent";
    node.sshHost = "127.0.0.1";
    node.port = m_silent->serverPort();
    m_worker = std::make_unique<HostWorker>(node, [](const Node&) { return Credentials{}; });
}

void TestHostWorker::afterItIsClosedEveryTaskIsRefused() {
    auto running = post();
    auto waiting = post();
    QTRY_VERIFY_WITH_TIMEOUT(m_silent->hasPendingConnections(), kSoonMs);
    m_worker->close();
    for (auto* answer : {&running, &waiting})
        QCOMPARE(answer->get().error().code, ErrorCode::kUnavailable);
    QCOMPARE(post().get().error().code, ErrorCode::kUnavailable);
    HostPool pool([](const Node&) { return Credentials{}; });
    pool.close();
    auto late = pool.worker(m_worker->node())
                    ->post<bool>([](HostSession&, const std::string&,
                                    std::stop_token) -> Result<bool> { return true; });
    QCOMPARE(late.get().error().code, ErrorCode::kUnavailable);
}

std::future<Result<bool>> TestHostWorker::post(std::stop_token unwanted) {
    return m_worker->post<bool>(
        [](HostSession&, const std::string&, std::stop_token) -> Result<bool> { return true; },
        std::move(unwanted));
}

void TestHostWorker::anUnwantedTaskDoesNotWaitForItsConnection() {
    std::stop_source wish;
    auto answer = post(wish.get_token());
    QTRY_VERIFY_WITH_TIMEOUT(m_silent->hasPendingConnections(), kSoonMs);
    QElapsedTimer timer;
    timer.start();
    wish.request_stop();
    const auto refused = answer.get();
    QVERIFY2(timer.elapsed() < kAtOnceMs, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::kUnavailable);
    QVERIFY2(refused.error().message.ends_with("cancelled"), refused.error().message.c_str());
}

void TestHostWorker::anEndDoesNotWaitForAConnection() {
    auto running = post();
    auto waiting = post();
    QTRY_VERIFY_WITH_TIMEOUT(m_silent->hasPendingConnections(), kSoonMs);
    QElapsedTimer timer;
    timer.start();
    m_worker.reset();
    QVERIFY2(timer.elapsed() < kAtOnceMs, qPrintable(QString::number(timer.elapsed())));
    QVERIFY(!running.get());
    QVERIFY(!waiting.get());
}

void TestHostWorker::whatIsUnwantedFromTheStartIsNotTried() {
    std::stop_source wish;
    wish.request_stop();
    QVERIFY(!post(wish.get_token()).get());
    QVERIFY(!m_silent->hasPendingConnections());
}

void TestHostWorker::tasksAfterAnUnwantedOneStillRun() {
    m_worker = std::make_unique<HostWorker>(Node{"this-computer", true, {}, {}, 0, {}},
                                            [](const Node&) { return Credentials{}; });
    std::stop_source wish;
    wish.request_stop();
    QVERIFY(!post(wish.get_token()).get());
    const auto done = post().get();
    QVERIFY2(done, done ? "" : done.error().message.c_str());
}

/// Behind a task that goes on meanwhile.
void TestHostWorker::whoWaitsIsToldForWhatAndIsCancelledAtOnce() {
    m_worker = std::make_unique<HostWorker>(Node{"this-computer", true, {}, {}, 0, {}},
                                            [](const Node&) { return Credentials{}; });
    std::promise<void> begun, end;
    auto first = m_worker->post<bool>(
        [&begun, &end](HostSession&, const std::string&, std::stop_token) -> Result<bool> {
            begun.set_value();
            end.get_future().wait();
            return true;
        },
        {}, {}, {}, {"the self-test"});
    begun.get_future().wait();
    std::vector<std::string> reported; // in this thread, and in the worker's once it is waited for
    const HostWorker::Task<bool> task = [](HostSession&, const std::string&,
                                           std::stop_token) -> Result<bool> { return true; };
    const auto note = [&reported](const std::string& behind) { reported.push_back(behind); };
    std::stop_source wish;
    auto unwanted = m_worker->post<bool>(task, wish.get_token(), {}, {}, {"the launch of a", note});
    auto wanted = m_worker->post<bool>(task, {}, {}, {}, {"the launch of b", note});
    QCOMPARE(reported, (std::vector<std::string>{"the self-test", "the self-test"}));
    wish.request_stop();
    QCOMPARE(unwanted.wait_for(std::chrono::seconds(0)), std::future_status::ready);
    const auto refused = unwanted.get();
    QVERIFY(!refused && refused.error().message.ends_with("cancelled"));
    QVERIFY(first.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
    end.set_value();
    QVERIFY(first.get() && wanted.get());
    QCOMPARE(reported.size(), size_t{3});
    QCOMPARE(reported.back(), std::string()); // it began
    // What is unwanted before it is in the queue is refused there, too.
    QVERIFY(!m_worker->post<bool>(task, wish.get_token(), {}, {}, {"the launch of c", note}).get());
}

/// A launch does, as sshd may be restarting.
void TestHostWorker::whatIsAskedDoesNotWaitForAPortThatRefuses() {
    m_silent.reset();
    const HostWorker::Task<bool> task = [](HostSession&, const std::string&,
                                           std::stop_token) -> Result<bool> { return true; };
    std::stop_source wish;
    std::atomic<int> pauses = 0;
    const OnConnectPause note = [&](const ConnectPause&) {
        ++pauses;
        wish.request_stop();
    };
    const auto answer =
        m_worker->post<bool>(task, wish.get_token(), note, {}, {}, kRequestPatience).get();
    QVERIFY(!answer);
    QVERIFY2(answer.error().message.find("nothing listens") != std::string::npos,
             answer.error().message.c_str());
    QCOMPARE(pauses.load(), 0);
    QVERIFY(!m_worker->post<bool>(task, wish.get_token(), note).get());
    QCOMPARE(pauses.load(), 1);
}

QTEST_GUILESS_MAIN(TestHostWorker)
#include "tst_host_worker.moc"
