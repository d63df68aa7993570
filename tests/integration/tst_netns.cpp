// SPDX-License-Identifier: Apache-2.0
#include "tests/support/netns.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QProcess>
#include <QTest>

using namespace rm;

/// The network that the end-to-end test stands on.
class tst_netns : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void nodesReachEachOtherOnlyByTheDataLink();
    void cutLinkComesBackWithItsAddress();
    void whatRunsInsideIsSeenAndEndsWithTheLab();
    void leftoversOfADeadProcessAreRemoved();
};

namespace {

struct Ran {
    bool ok = false;
    QString text;
};

Ran run(const QStringList& command) {
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(command.first(), command.mid(1));
    const bool ended = process.waitForFinished(5000);
    return {ended && process.exitCode() == 0, QString::fromUtf8(process.readAll())};
}

Ran routeFrom(const NetworkLab& lab, const QString& space, const QString& address) {
    return run(lab.commandIn(space, {"ip", "route", "get", address}));
}

} // namespace

void tst_netns::init() {
    const auto can = canMakeNamespaces();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
}

void tst_netns::nodesReachEachOtherOnlyByTheDataLink() {
    auto lab = NetworkLab::create("netns");
    QVERIFY2(lab, lab ? "" : lab.error().message.c_str());
    QVERIFY(routeFrom(*lab, lab->laptop(), lab->managementAddress(0)).ok);
    QVERIFY(routeFrom(*lab, lab->laptop(), lab->managementAddress(1)).ok);
    QVERIFY(!routeFrom(*lab, lab->laptop(), lab->dataAddress(1)).ok);
    QVERIFY(routeFrom(*lab, lab->node(0), lab->dataAddress(1)).text.contains("dev data0"));
    QVERIFY(!routeFrom(*lab, lab->node(0), lab->managementAddress(1)).ok);
}

void tst_netns::cutLinkComesBackWithItsAddress() {
    auto lab = NetworkLab::create("netns");
    QVERIFY2(lab, lab ? "" : lab.error().message.c_str());
    QVERIFY(lab->setManagementLink(0, false));
    QVERIFY(!routeFrom(*lab, lab->node(0), "10.231.1.1").ok);
    QVERIFY(routeFrom(*lab, lab->node(1), "10.231.2.1").ok);
    QVERIFY(lab->setManagementLink(0, true));
    QVERIFY(routeFrom(*lab, lab->node(0), "10.231.1.1").ok);
}

void tst_netns::whatRunsInsideIsSeenAndEndsWithTheLab() {
    QProcess sleeper;
    {
        auto lab = NetworkLab::create("netns");
        QVERIFY2(lab, lab ? "" : lab.error().message.c_str());
        QCOMPARE(NetworkLab::processesIn(lab->node(1)).size(), 0u);
        const QStringList command = lab->commandIn(lab->node(1), {"sleep", "60"});
        sleeper.start(command.first(), command.mid(1));
        QTRY_COMPARE_WITH_TIMEOUT(NetworkLab::processesIn(lab->node(1)).size(), 1u, 5000);
        QTRY_COMPARE_WITH_TIMEOUT(NetworkLab::processesIn(lab->node(1)).front().command,
                                  QString("sleep 60"), 5000);
    }
    QVERIFY(sleeper.waitForFinished(5000));
    QVERIFY(!QDir("/run/netns")
                 .entryList(QDir::Files)
                 .join(' ')
                 .contains(QString("rm-netns-%1-").arg(QCoreApplication::applicationPid())));
}

void tst_netns::leftoversOfADeadProcessAreRemoved() {
    QProcess brief;
    brief.start("true", QStringList());
    QVERIFY(brief.waitForStarted(5000));
    const QString leftover = QString("rm-netns-%1-node0").arg(brief.processId());
    QVERIFY(brief.waitForFinished(5000));
    QVERIFY(run({"ip", "netns", "add", leftover}).ok);
    QVERIFY(NetworkLab::create("netns"));
    QVERIFY(!QFile::exists("/run/netns/" + leftover));
}

QTEST_GUILESS_MAIN(tst_netns)
#include "tst_netns.moc"
