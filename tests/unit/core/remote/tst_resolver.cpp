// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/resolver.h"
#include "app/core/remote/tcp_connection.h"

#include <QElapsedTimer>
#include <QTcpServer>
#include <QTest>

#include <netdb.h>
#include <sys/socket.h>

#include <future>
#include <thread>

using namespace rm;
using namespace std::chrono_literals;

namespace {

constexpr int kAtOnceMs = 1000;

Patience until(std::chrono::milliseconds wait, std::stop_token stop = {}) {
    return {std::chrono::steady_clock::now() + wait, std::move(stop)};
}

QByteArray messageOf(const Result<std::vector<std::string>>& result) {
    return QByteArray::fromStdString(result ? "found" : result.error().message);
}

/// A resolver whose servers do not answer, until it is let go.
class DeadResolver {
public:
    DeadResolver()
        : m_end(m_let.get_future().share()) {}
    ~DeadResolver() { m_let.set_value(); }

    HostLookup lookUp() const {
        return [end = m_end](const std::string&, int) {
            end.wait();
            return FoundAddress{EAI_AGAIN};
        };
    }

private:
    std::promise<void> m_let;
    std::shared_future<void> m_end;
};

} // namespace

class TestResolver : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void addressesNeedNoResolver_data();
    void addressesNeedNoResolver();
    void aNameOfThisMachineIsFound();
    void whatTheResolverSaysIsTold();
    void aStopEndsTheWaitForADeadResolver();
    void patienceEndsTheWaitForADeadResolver();
    void aDeadAddressDoesNotHideALiveOne_data();
    void aDeadAddressDoesNotHideALiveOne();
    void whatTheLastAddressAnswersIsSaid();
};

void TestResolver::addressesNeedNoResolver_data() {
    QTest::addColumn<QByteArray>("host");
    QTest::newRow("IPv4") << QByteArray("192.0.2.1");
    QTest::newRow("IPv6") << QByteArray("2001:db8::1");
}

void TestResolver::addressesNeedNoResolver() {
    QFETCH(QByteArray, host);
    const auto never = [](const std::string&, int) -> FoundAddress {
        qFatal("the resolver was asked");
    };
    QVERIFY(awaitResolved(host.toStdString(), AF_UNSPEC, "connect", until(5s), never));
}

void TestResolver::aNameOfThisMachineIsFound() {
    const auto found = awaitResolved("localhost", AF_UNSPEC, "connect", until(10s));
    QVERIFY2(found, messageOf(found));
}

void TestResolver::whatTheResolverSaysIsTold() {
    const auto found =
        awaitResolved("gone.example", AF_UNSPEC, "connect to gone.example", until(5s),
                      [](const std::string&, int) { return FoundAddress{EAI_NONAME}; });
    QVERIFY(!found);
    QCOMPARE(found.error().code, ErrorCode::kUnavailable);
    QVERIFY2(messageOf(found).startsWith("connect to gone.example: find its address: "),
             messageOf(found));
}

void TestResolver::aStopEndsTheWaitForADeadResolver() {
    const DeadResolver dead;
    std::stop_source source;
    const std::jthread other([&source] { source.request_stop(); });
    QElapsedTimer timer;
    timer.start();
    const auto found = awaitResolved("far.example", AF_UNSPEC, "connect",
                                     until(60s, source.get_token()), dead.lookUp());
    QVERIFY2(timer.elapsed() < kAtOnceMs, qPrintable(QString::number(timer.elapsed())));
    QVERIFY2(messageOf(found).endsWith("cancelled"), messageOf(found));
}

void TestResolver::patienceEndsTheWaitForADeadResolver() {
    const DeadResolver dead;
    const auto found =
        awaitResolved("far.example", AF_UNSPEC, "connect", until(50ms), dead.lookUp());
    QVERIFY2(messageOf(found).contains("no answer in time; check the network"), messageOf(found));
}

void TestResolver::aDeadAddressDoesNotHideALiveOne_data() {
    QTest::addColumn<QByteArray>("dead");
    QTest::newRow("no way leads there, or nobody answers") << QByteArray("2001:db8::1");
    QTest::newRow("nobody answers") << QByteArray("192.0.2.1"); // RFC 5737
    QTest::newRow("it refuses") << QByteArray("127.0.0.2");
}

void TestResolver::aDeadAddressDoesNotHideALiveOne() {
    QFETCH(QByteArray, dead);
    QTcpServer server;
    QVERIFY(server.listen(QHostAddress::LocalHost));
    const auto connected =
        connectToAny({dead.toStdString(), "127.0.0.1"}, server.serverPort(), {}, until(5s));
    QVERIFY2(connected, connected ? "" : connected.error().message.c_str());
}

void TestResolver::whatTheLastAddressAnswersIsSaid() {
    QTcpServer server;
    QVERIFY(server.listen(QHostAddress::LocalHost));
    const auto port = server.serverPort();
    server.close();
    const auto connected = connectToAny({"127.0.0.2", "127.0.0.1"}, port, {}, until(5s));
    QVERIFY(!connected);
    QCOMPARE(connected.error().message, std::string("Failed to connect: Connection refused"));
}

QTEST_GUILESS_MAIN(TestResolver)
#include "tst_resolver.moc"
