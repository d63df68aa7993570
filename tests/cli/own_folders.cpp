// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/cli/own_folders.h"

#include "tests/support/step_pace.h"

#include <QDir>

namespace rm {

QByteArray Answer::whole() const {
    return "exit " + QByteArray::number(exitCode) + "\n" + out + err;
}

OwnFolders::OwnFolders() {
    qputenv("HOME", m_home.path().toLocal8Bit());
    for (const char* kind : {"CONFIG", "DATA", "STATE", "CACHE"})
        qputenv(("XDG_" + QByteArray(kind) + "_HOME").constData(),
                m_home.filePath(QString(kind).toLower()).toLocal8Bit());
    QDir().mkpath(m_home.filePath("runtime"));
    qputenv("XDG_RUNTIME_DIR", m_home.filePath("runtime").toLocal8Bit());
    paceOwnRanks(); // they train while other things are looked at
}

Answer OwnFolders::run(const QStringList& arguments, int limitMs) const {
    const auto process = start(arguments);
    Answer answer;
    if (process->waitForFinished(limitMs) && process->exitStatus() == QProcess::NormalExit)
        answer.exitCode = process->exitCode();
    answer.out = process->readAllStandardOutput();
    answer.err = process->readAllStandardError();
    return answer;
}

std::unique_ptr<QProcess> OwnFolders::start(const QStringList& arguments) const {
    auto process = std::make_unique<QProcess>();
    process->setWorkingDirectory(m_home.path());
    process->start(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster", arguments);
    process->waitForStarted();
    return process;
}

QStringList longRunWords(const QString& name, int64_t steps, const QString& place) {
    return {"run",    "gpt-tiny",
            "--name", name,
            "--set",  "train.steps=" + QString::number(steps),
            "--set",  "validation.every=0",
            "--set",  "model.layers=1",
            "--set",  "train.batch_size=1",
            "--set",  "checkpoint.every=0",
            "--node", place};
}

} // namespace rm
