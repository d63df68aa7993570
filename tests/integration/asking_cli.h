// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/io/descriptor.h"
#include "tests/integration/cli.h"

namespace rm {

/// A `ringmaster ...` with a terminal to ask questions on, and the person who answers.
class AskingCli {
public:
    AskingCli(const Cli& cli, const QStringList& arguments);

    /// Waits until the terminal shows `text` after what was answered last.
    bool waitForQuestion(const QByteArray& text, int limitMs = 20000);
    void answer(const QByteArray& line);
    /// All that the terminal showed.
    QByteArray shown() const { return m_shown; }

    CliResult finish(int limitMs = 60000);

private:
    void readTerminal();

    std::unique_ptr<QProcess> m_process;
    Descriptor m_terminal; ///< the person's side
    Descriptor m_program;  ///< the program's side, held open between its uses of it
    QByteArray m_shown;
    qsizetype m_answered = 0; ///< shown before the last answer
};

} // namespace rm
