// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

#include <stop_token>
#include <string>

namespace rm {

/// How a program of this computer ended that answers a question about a connection.
struct HelperAnswer {
    enum class End {
        kDone,       ///< it ended: see `succeeded`
        kNotStarted, ///< `said` tells why
        kTooLate,    ///< it was ended after 10 s
        kCancelled,  ///< it was ended by `stop`
    };
    End end = End::kDone;
    bool succeeded = false; ///< its exit code was 0
    std::string output;     ///< its stdout
    std::string said;       ///< its stderr, without escapes
};

/// Runs `ssh -G` or what ssh_config names, without a terminal and without input. Where it takes
/// too long, it is ended with all that it started.
HelperAnswer runHelper(const QString& program, const QStringList& arguments,
                       const std::stop_token& stop);

} // namespace rm
