// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/helper_program.h"

#include "app/core/remote/error_tail.h"

#include <QElapsedTimer>
#include <QProcess>

#include <unistd.h>

#include <csignal>

namespace rm {

HelperAnswer runHelper(const QString& program, const QStringList& arguments,
                       const std::stop_token& stop) {
    using End = HelperAnswer::End;
    constexpr int kLimitMs = 10'000;
    constexpr int kLookMs = 50;
    QElapsedTimer timer;
    timer.start();
    QProcess process;
    process.setStandardInputFile(QProcess::nullDevice());
    // So that what it started is ended with it, and does not wait for a terminal.
    process.setChildProcessModifier([] { ::setsid(); });
    process.start(program, arguments);
    if (!process.waitForStarted(kLimitMs))
        return {End::kNotStarted, false, {}, process.errorString().toStdString()};
    while (!process.waitForFinished(kLookMs) && process.state() != QProcess::NotRunning) {
        if (!stop.stop_requested() && timer.elapsed() < kLimitMs)
            continue;
        ::kill(static_cast<pid_t>(-process.processId()), SIGKILL);
        process.waitForFinished(kLimitMs);
        return {stop.stop_requested() ? End::kCancelled : End::kTooLate, false, {}, {}};
    }
    return {End::kDone, process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0,
            process.readAllStandardOutput().toStdString(),
            withoutEscapes(process.readAllStandardError().trimmed().toStdString())};
}

} // namespace rm
