// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/cli.h"

#include "tests/support/netns.h"
#include "tests/support/own_files.h"

#include <QDir>

namespace rm {
namespace {

constexpr int kStartMs = 5000;
constexpr const char* kNotOurs[] = {"SSH_AUTH_SOCK", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS"};
constexpr const char* kFolders[] = {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
                                    "XDG_CACHE_HOME"};

} // namespace

QByteArray CliResult::whole() const {
    return "exit " + QByteArray::number(exitCode) + " " + trouble + "\n" + err + out;
}

Cli::Cli(QString home, QString space)
    : m_home(std::move(home))
    , m_space(std::move(space))
    , m_bin(qEnvironmentVariable("RINGMASTER_BIN"))
    , m_environment(QProcessEnvironment::systemEnvironment()) {
    QDir().mkpath(m_home + "/.ssh");
    m_environment.insert("HOME", m_home);
    for (const char* kind : {"CONFIG", "DATA", "STATE", "CACHE"})
        m_environment.insert(QString("XDG_%1_HOME").arg(kind),
                             m_home + '/' + QString(kind).toLower());
    for (const char* name : kNotOurs)
        m_environment.remove(name);
}

void Cli::takeHome() const {
    for (const char* name : kFolders)
        qputenv(name, m_environment.value(name).toUtf8());
    for (const char* name : kNotOurs)
        qunsetenv(name);
}

CliResult Cli::run(const QStringList& arguments, int limitMs) const {
    const auto process = start(arguments);
    CliResult result;
    if (!process->waitForFinished(limitMs))
        result.trouble = "not ended after " + QByteArray::number(limitMs / 1000) +
                         " s: " + process->errorString().toUtf8();
    else if (process->exitStatus() == QProcess::NormalExit)
        result.exitCode = process->exitCode();
    else
        result.trouble = "signal " + QByteArray::number(process->exitCode());
    result.out = process->readAllStandardOutput();
    result.err = process->readAllStandardError();
    return result;
}

std::unique_ptr<QProcess> Cli::make(const QStringList& arguments) const {
    const QStringList program = QStringList(m_bin + "/ringmaster") + arguments;
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(m_environment);
    process->setWorkingDirectory(m_home);
    if (const auto seeing = commandSeeing({passwdWith(m_home)}, m_home + "/files", program)) {
        const QStringList command = NetworkLab::commandIn(m_space, *seeing);
        process->setProgram(command.first());
        process->setArguments(command.mid(1));
    }
    return process;
}

std::unique_ptr<QProcess> Cli::start(const QStringList& arguments) const {
    auto process = make(arguments);
    process->start();
    process->waitForStarted(kStartMs);
    return process;
}

} // namespace rm
