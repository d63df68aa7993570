// SPDX-License-Identifier: Apache-2.0
#include "tests/support/requirement.h"

#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

namespace {

constexpr double kTolerance = 1e-6;
constexpr int kCases = 8;
constexpr int kSchedules = 12;

QString fromEnvironment(const char* name) {
    return QString::fromLocal8Bit(qgetenv(name));
}

} // namespace

/// Optimizers, clipping, loss scale, averages and schedules beside the wheel's own Python.
class TestOptimPeer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everythingEqualsTorchOptim() {
        const QString python = fromEnvironment("RINGMASTER_PYTHON");
        RM_NEEDS("python", QFileInfo(python).isExecutable(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        const QTemporaryDir folder;
        const QString dump = folder.filePath("dump.safetensors");
        run(fromEnvironment("RINGMASTER_BUILD") + "/tests/optim_dump", {dump});
        const QString scripts = fromEnvironment("RINGMASTER_SOURCE") + "/tests/python";
        const QByteArray out = run(python, {scripts + "/optim_reference.py", dump});
        const QJsonObject report = QJsonDocument::fromJson(out).object();
        QCOMPARE(report.size(), kCases + kSchedules);
        for (auto it = report.begin(); it != report.end(); ++it)
            QVERIFY2(it.value().toDouble(1) < kTolerance,
                     qPrintable(it.key() + ": " + QString::number(it.value().toDouble(1))));
    }

private:
    /// Standard output of a program that must succeed; else the test has failed and it is empty.
    static QByteArray run(const QString& program, const QStringList& arguments) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PYTHONPATH",
                           fromEnvironment("RINGMASTER_SOURCE") + "/tests/python/peer");
        environment.insert("LD_LIBRARY_PATH", fromEnvironment("RINGMASTER_STAND_INS"));
        environment.insert("PYTHONDONTWRITEBYTECODE", "1");
        process.setProcessEnvironment(environment);
        process.start(program, arguments);
        if (process.waitForFinished(120000) && process.exitCode() == 0)
            return process.readAllStandardOutput();
        QTest::qFail(qPrintable(program + ": " + process.readAllStandardError().right(2000)),
                     __FILE__, __LINE__);
        return {};
    }
};

QTEST_GUILESS_MAIN(TestOptimPeer)
#include "tst_optim_peer.moc"
