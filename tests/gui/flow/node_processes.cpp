// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/node_processes.h"

#include <QDir>
#include <QFile>

namespace rm::test {

namespace {

QByteArray procFile(const QString& pid, const char* name) {
    QFile file("/proc/" + pid + '/' + name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

bool livesAt(const QString& pid, const QByteArray& home) {
    return procFile(pid, "environ").split('\0').contains("HOME=" + home);
}

} // namespace

std::vector<NodeProcess> processesAt(const QString& home) {
    std::vector<NodeProcess> found;
    for (const QString& pid : QDir("/proc").entryList({"[0-9]*"}, QDir::Dirs)) {
        if (!livesAt(pid, home.toUtf8()) || procFile(pid, "comm").startsWith("sshd"))
            continue;
        const QByteArray command = procFile(pid, "cmdline").replace('\0', ' ').trimmed();
        if (!command.isEmpty())
            found.push_back({pid.toInt(), QString::fromUtf8(command)});
    }
    return found;
}

QSet<qint64> trainersAt(const QString& home) {
    QSet<qint64> pids;
    for (const NodeProcess& process : processesAt(home))
        if (process.command.section(' ', 0, 0).endsWith("/ringmaster-trainer"))
            pids << process.pid;
    return pids;
}

qint64 ticksOf(qint64 pid) {
    constexpr int kUser = 11, kSystem = 12; // after the name, which may hold spaces
    const QByteArray stat = procFile(QString::number(pid), "stat");
    const QList<QByteArray> fields = stat.mid(stat.lastIndexOf(')') + 2).split(' ');
    return fields.size() > kSystem ? fields[kUser].toLongLong() + fields[kSystem].toLongLong() : 0;
}

} // namespace rm::test
