// SPDX-License-Identifier: Apache-2.0
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"

#include <QTemporaryDir>
#include <QTest>

using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-6;
constexpr int kCases = 8;
constexpr int kSchedules = 12;

} // namespace

/// Optimizers, clipping, loss scale, averages and schedules beside the wheel's own Python.
class TestOptimPeer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everythingEqualsTorchOptim() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        const QTemporaryDir folder;
        const QString dump = folder.filePath("dump.safetensors");
        runPeer(builtProgram("optim_dump"), {dump});
        const QJsonObject report = runScript("optim_reference.py", {dump});
        QCOMPARE(report.size(), kCases + kSchedules);
        for (auto it = report.begin(); it != report.end(); ++it)
            QVERIFY2(it.value().toDouble(1) < kTolerance,
                     qPrintable(it.key() + ": " + QString::number(it.value().toDouble(1))));
    }
};

QTEST_GUILESS_MAIN(TestOptimPeer)
#include "tst_optim_peer.moc"
