// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/cli.h"

#include "tests/support/netns.h"

#include <QDir>

namespace rm {
namespace {

constexpr int kStartMs = 5000;

} // namespace

QByteArray CliResult::whole() const {
    return "exit " + QByteArray::number(exitCode) + "\n" + out + err;
}

Cli::Cli(QString home, QString space)
    : m_home(std::move(home))
    , m_space(std::move(space))
    , m_environment(QProcessEnvironment::systemEnvironment()) {
    QDir().mkpath(m_home + "/.ssh");
    m_environment.insert("HOME", m_home);
    for (const char* kind : {"CONFIG", "DATA", "STATE", "CACHE"})
        m_environment.insert(QString("XDG_%1_HOME").arg(kind),
                             m_home + '/' + QString(kind).toLower());
    for (const char* name : {"SSH_AUTH_SOCK", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS"})
        m_environment.remove(name);
}

CliResult Cli::run(const QStringList& arguments, int limitMs) const {
    const auto process = start(arguments);
    CliResult result;
    if (process->waitForFinished(limitMs) && process->exitStatus() == QProcess::NormalExit)
        result.exitCode = process->exitCode();
    result.out = process->readAllStandardOutput();
    result.err = process->readAllStandardError();
    return result;
}

std::unique_ptr<QProcess> Cli::start(const QStringList& arguments) const {
    QStringList command = QStringList(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster");
    command += arguments;
    if (!m_space.isEmpty())
        command = NetworkLab::commandIn(m_space, command);
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(m_environment);
    process->setWorkingDirectory(m_home);
    process->start(command.first(), command.mid(1));
    process->waitForStarted(kStartMs);
    return process;
}

} // namespace rm
