// SPDX-License-Identifier: Apache-2.0
#include "shared/io/descriptor.h"
#include "trainer/train/dist/retransmission.h"

#include <QTest>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

using namespace rm;

namespace {

constexpr int kRtoMaxMs = 44;

/// -1: there is no such option.
int optionOf(int fd, int option) {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(fd, IPPROTO_TCP, option, &value, &size) == 0 ? value : -1;
}

} // namespace

class TestRetransmission : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyConnectionTriesAgainEachSecond();
};

/// Linux before 6.15 has no such limit: there all stays as it was.
void TestRetransmission::everyConnectionTriesAgainEachSecond() {
    const Descriptor server(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    QCOMPARE(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    QCOMPARE(::listen(server.get(), 1), 0);
    QCOMPARE(::getsockname(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    const Descriptor client(::socket(AF_INET, SOCK_STREAM, 0));
    QCOMPARE(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    const Descriptor accepted(::accept(server.get(), nullptr, nullptr));
    QVERIFY(accepted);
    const bool isPossible = optionOf(client.get(), kRtoMaxMs) >= 0;
    const int connections = retransmitEachSecond();
    QVERIFY(isPossible ? connections >= 2 : connections == 0);
    for (const Descriptor* each : {&client, &accepted}) {
        QCOMPARE(optionOf(each->get(), kRtoMaxMs), isPossible ? 1000 : -1);
        // More than the 15 s after which so many tries would else be over.
        QCOMPARE(optionOf(each->get(), TCP_USER_TIMEOUT), isPossible ? 924'600 : 0);
    }
}

QTEST_GUILESS_MAIN(TestRetransmission)
#include "tst_retransmission.moc"
