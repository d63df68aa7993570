// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSet>
#include <QString>

#include <sys/types.h>

#include <vector>

namespace rm::test {

struct NodeProcess {
    pid_t pid = 0;
    QString command;
};

/// What lives with `home` as its HOME, sshd and its shells for a connection left out.
std::vector<NodeProcess> processesAt(const QString& home);

/// Those of them that are ranks.
QSet<qint64> trainersAt(const QString& home);

/// Processor time that a process has used, in clock ticks; 0 when it is not there.
qint64 ticksOf(qint64 pid);

} // namespace rm::test
