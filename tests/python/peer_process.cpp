// SPDX-License-Identifier: Apache-2.0
#include "tests/python/peer_process.h"

#include <QFileInfo>
#include <QJsonDocument>
#include <QProcess>
#include <QTest>

namespace rm::test {
namespace {

constexpr int kTimeoutMs = 120000;

QString fromEnvironment(const char* name) {
    return QString::fromLocal8Bit(qgetenv(name));
}

} // namespace

QString peerPython() {
    const QString python = fromEnvironment("RINGMASTER_PYTHON");
    return QFileInfo(python).isExecutable() ? python : QString();
}

QByteArray runPeer(const QString& program, const QStringList& arguments) {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("PYTHONPATH", fromEnvironment("RINGMASTER_SOURCE") + "/tests/python/peer");
    environment.insert("LD_LIBRARY_PATH", fromEnvironment("RINGMASTER_STAND_INS"));
    environment.insert("PYTHONDONTWRITEBYTECODE", "1");
    process.setProcessEnvironment(environment);
    process.start(program, arguments);
    if (process.waitForFinished(kTimeoutMs) && process.exitStatus() == QProcess::NormalExit &&
        process.exitCode() == 0)
        return process.readAllStandardOutput();
    const QByteArray said = process.readAllStandardError().right(4000);
    QTest::qFail(qPrintable(program + ": " + process.errorString() + "\n" + said), __FILE__,
                 __LINE__);
    return {};
}

QString peerScript(const QString& name) {
    return fromEnvironment("RINGMASTER_SOURCE") + "/tests/python/" + name;
}

QJsonObject runScript(const QString& name, const QStringList& arguments) {
    constexpr qsizetype kMostShown = 2000;
    const QByteArray out = runPeer(peerPython(), QStringList(peerScript(name)) + arguments);
    qInfo("%s", out.trimmed().left(kMostShown).constData());
    return QJsonDocument::fromJson(out).object();
}

QJsonObject runJobs(const QString& script, const QJsonObject& jobs) {
    return runScript(script, {QString::fromUtf8(QJsonDocument(jobs).toJson())});
}

QString builtProgram(const QString& name) {
    return fromEnvironment("RINGMASTER_BUILD") + "/tests/" + name;
}

} // namespace rm::test
