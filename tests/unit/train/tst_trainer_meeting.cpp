// SPDX-License-Identifier: Apache-2.0
// How ranks find each other, and nobody else.
#include "tests/support/free_port.h"
#include "tests/support/sockets.h"
#include "tests/unit/train/rank_ends.h"
#include "tests/unit/train/trainer_run.h"

#include <QObject>
#include <QTcpServer>
#include <QTest>

#include <netinet/tcp.h>
#include <unistd.h>

#include <vector>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kLongMs = 60000;

RunSpec endlessSpec() {
    RunSpec spec = tinySpec();
    spec.train.steps = 1000000;
    return spec;
}

QStringList listening(const std::vector<SeenSocket>& sockets) {
    QStringList addresses;
    for (const SeenSocket& each : sockets)
        if (each.state == TCP_LISTEN)
            addresses << each.local;
    return addresses;
}

QStringList listeningAt(int port) {
    auto sockets = socketsInNetworkOf(::getpid());
    std::erase_if(sockets, [port](const SeenSocket& each) { return each.localPort != port; });
    return listening(sockets);
}

/// Where a process listens; each address once.
QStringList listeningOf(qint64 pid) {
    QStringList addresses = listening(socketsOf(static_cast<pid_t>(pid)));
    addresses.removeDuplicates();
    return addresses;
}

} // namespace

class TestTrainerMeeting : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theStoreListensOnTheAddressOfThePlanAlone_data() {
        QTest::addColumn<QString>("host");
        QTest::newRow("IPv4") << "127.0.0.1";
        QTest::newRow("another address of this machine") << "127.0.0.7";
        QTest::newRow("IPv6") << "::1";
    }

    void theStoreListensOnTheAddressOfThePlanAlone() {
        QFETCH(QString, host);
        const int port = freePort();
        TrainerRun run;
        run.setVariable("MASTER_ADDR", host);
        run.setVariable("MASTER_PORT", QString::number(port));
        run.start(endlessSpec(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > 1, kLongMs);
        QCOMPARE(listeningAt(port), QStringList{host});
        QVERIFY2(!run.output(0).contains("warning"), qPrintable(run.output(0)));
    }

    /// Which is not the first address of the interface.
    void glooListensAtTheRanksOwnAddressAlone() {
        TrainerRun run;
        run.setVariable("GLOO_SOCKET_IFNAME", "lo");
        run.setVariable("RINGMASTER_ADDRESS", "::1");
        run.start(endlessSpec(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > 1, kLongMs);
        QCOMPARE(listeningOf(run.rank(1).processId()), QStringList{"::1"});
    }

    void severalInterfacesCarrySums() {
        TrainerRun run;
        run.setVariable("GLOO_SOCKET_IFNAME", "lo,lo");
        QCOMPARE(run.run(tinySpec(), 2), (std::vector<int>{0, 0}));
    }

    void aSecondRunAtTheSamePlaceIsRefusedAndTheFirstGoesOn_data() {
        QTest::addColumn<QString>("run");
        QTest::addColumn<QString>("nonce");
        QTest::addColumn<QString>("words");
        QTest::newRow("another run") << "other"
                                     << "bb"
                                     << "is rank 0 of run test-run, attempt 1; end that one";
        QTest::newRow("another start") << "test-run"
                                       << "bb"
                                       << "is rank 0 of another start of the same run and attempt";
        QTest::newRow("nothing tells them apart") << "test-run"
                                                  << "aa"
                                                  << "another process is rank 1 there";
    }

    void aSecondRunAtTheSamePlaceIsRefusedAndTheFirstGoesOn() {
        QFETCH(QString, run);
        QFETCH(QString, nonce);
        QFETCH(QString, words);
        const int port = freePort();
        TrainerRun first, second;
        for (TrainerRun* one : {&first, &second})
            one->setVariable("MASTER_PORT", QString::number(port));
        first.setVariable("RINGMASTER_STORE_NONCE", "aa");
        first.start(endlessSpec(), 2);
        QTRY_VERIFY_WITH_TIMEOUT(first.lastStep(1) > 1, kLongMs);

        second.setVariable("TORCHELASTIC_RUN_ID", run);
        second.setVariable("RINGMASTER_STORE_NONCE", nonce);
        QCOMPARE(second.run(endlessSpec(), 2), both(ExitCode::kUnavailable));
        const QString place = "127.0.0.1:" + QString::number(port);
        QVERIFY2(second.output(0).contains("error: listen at " + place +
                                           " for the other ranks: "
                                           "another program has this port there"),
                 qPrintable(second.output(0)));
        QVERIFY2(second.output(1).contains("error: meet the other ranks of run " + run +
                                           ", attempt 1 at " + place + ": ") &&
                     second.output(1).contains(words),
                 qPrintable(second.output(1)));

        const int64_t reached = first.lastStep(1);
        QTRY_VERIFY_WITH_TIMEOUT(first.lastStep(1) > reached + 2, kLongMs);
        QVERIFY(first.post({"s", CommandKind::kStop, {}}));
        QCOMPARE(first.finish(kLongMs), both(ExitCode::kStopped));
    }

    /// MASTER_ADDR is none of this machine's, as behind NAT.
    void aPortThatIsTakenIsSaidAlsoWhereRankZeroListensAtEveryAddress() {
        QTcpServer other;
        QVERIFY(other.listen(QHostAddress::LocalHost, static_cast<quint16>(freePort())));
        TrainerRun run;
        run.setVariable("MASTER_ADDR", "192.0.2.1");
        run.setVariable("MASTER_PORT", QString::number(other.serverPort()));
        run.start(endlessSpec(), 2);
        QTRY_COMPARE_WITH_TIMEOUT(run.rank(0).state(), QProcess::NotRunning, kLongMs);
        run.rank(1).kill(); // it goes on knocking at that address
        QCOMPARE(run.finish(kLongMs)[0], static_cast<int>(ExitCode::kUnavailable));
        const QString place = ":" + QString::number(other.serverPort());
        QVERIFY2(run.output(0).contains(place + " for the other ranks: another program has this "
                                                "port there"),
                 qPrintable(run.output(0)));
    }

    void theNextAttemptMeetsAtTheSamePlaceAtOnce() {
        RunSpec spec = tinySpec();
        spec.train.steps = 4;
        TrainerRun run;
        run.setVariable("MASTER_PORT", QString::number(freePort()));
        QCOMPARE(run.run(spec, 2), both(ExitCode::kOk));
        QCOMPARE(run.run(spec, 2), both(ExitCode::kOk));
    }
};

QTEST_GUILESS_MAIN(TestTrainerMeeting)
#include "tst_trainer_meeting.moc"
