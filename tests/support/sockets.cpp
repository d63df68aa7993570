// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sockets.h"

#include <QDir>
#include <QFile>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <cstring>

namespace rm {
namespace {

/// Eight hexadecimal digits for each four bytes, which the kernel writes as a number of its own.
QString addressOf(const QString& digits) {
    in6_addr address{};
    for (int word = 0; word < digits.size() / 8 && word < 4; ++word) {
        const uint32_t bytes = digits.mid(8 * word, 8).toUInt(nullptr, 16);
        std::memcpy(address.s6_addr + 4 * word, &bytes, sizeof bytes);
    }
    const bool isMapped = IN6_IS_ADDR_V4MAPPED(&address);
    char text[INET6_ADDRSTRLEN] = "";
    ::inet_ntop(isMapped || digits.size() == 8 ? AF_INET : AF_INET6,
                address.s6_addr + (isMapped ? 12 : 0), text, sizeof text);
    return text;
}

int portOf(const QString& digits) {
    return digits.toInt(nullptr, 16);
}

} // namespace

std::vector<SeenSocket> socketsInNetworkOf(pid_t pid) {
    constexpr int kLocal = 1, kPeer = 2, kState = 3, kInode = 9;
    std::vector<SeenSocket> sockets;
    for (const char* kind : {"tcp", "tcp6"}) {
        QFile table(QString("/proc/%1/net/%2").arg(pid).arg(kind));
        if (!table.open(QIODevice::ReadOnly))
            continue;
        for (const QString& line : QString::fromLatin1(table.readAll()).split('\n').mid(1)) {
            const QStringList words = line.split(' ', Qt::SkipEmptyParts);
            if (words.size() <= kInode)
                continue;
            const QStringList local = words[kLocal].split(':'), peer = words[kPeer].split(':');
            sockets.push_back({addressOf(local.front()), portOf(local.back()),
                               addressOf(peer.front()), portOf(peer.back()),
                               words[kState].toInt(nullptr, 16), words[kInode]});
        }
    }
    return sockets;
}

std::vector<SeenSocket> socketsOf(pid_t pid) {
    QStringList own;
    const QString folder = QString("/proc/%1/fd/").arg(pid);
    for (const QString& name : QDir(folder).entryList(QDir::System | QDir::Files))
        own << QFile::symLinkTarget(folder + name).section('/', -1);
    std::vector<SeenSocket> sockets = socketsInNetworkOf(pid);
    std::erase_if(sockets, [&own](const SeenSocket& each) {
        return !own.contains("socket:[" + each.inode + ']');
    });
    return sockets;
}

} // namespace rm
