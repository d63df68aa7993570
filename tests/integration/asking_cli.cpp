// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/asking_cli.h"

#include <QTest>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

namespace rm {

AskingCli::AskingCli(const Cli& cli, const QStringList& arguments)
    : m_process(cli.make(arguments))
    , m_terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (::grantpt(m_terminal.get()) != 0 || ::unlockpt(m_terminal.get()) != 0)
        qFatal("open a terminal");
    const QByteArray name = ::ptsname(m_terminal.get());
    m_program = Descriptor(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    m_process->setChildProcessModifier([name] {
        ::setsid();
        ::open(name, O_RDWR | O_CLOEXEC); // a session's first terminal is the one it asks on
    });
    m_process->start();
    m_process->waitForStarted();
}

void AskingCli::readTerminal() {
    pollfd ready{m_terminal.get(), POLLIN, 0};
    while (::poll(&ready, 1, 0) > 0) {
        char bytes[4096];
        const ssize_t size = ::read(m_terminal.get(), bytes, sizeof bytes);
        if (size <= 0)
            return;
        m_shown.append(bytes, size);
    }
}

bool AskingCli::waitForQuestion(const QByteArray& text, int limitMs) {
    const auto isShown = [&] {
        readTerminal();
        return m_shown.indexOf(text, m_answered) >= 0;
    };
    const auto isOver = [&] { return isShown() || m_process->state() == QProcess::NotRunning; };
    return QTest::qWaitFor(isOver, limitMs) && isShown();
}

void AskingCli::answer(const QByteArray& line) {
    m_answered = m_shown.size();
    const QByteArray typed = line + '\n';
    if (::write(m_terminal.get(), typed.constData(), static_cast<size_t>(typed.size())) < 0)
        qWarning("the terminal is gone");
}

CliResult AskingCli::finish(int limitMs) {
    CliResult result;
    if (m_process->waitForFinished(limitMs) && m_process->exitStatus() == QProcess::NormalExit)
        result.exitCode = m_process->exitCode();
    readTerminal();
    result.out = m_process->readAllStandardOutput();
    result.err = m_process->readAllStandardError();
    return result;
}

} // namespace rm
