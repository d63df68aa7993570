// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>

#include <sys/types.h>

#include <vector>

namespace rm {

/// A TCP socket as proc(5) has it in /proc/PID/net/tcp and tcp6. Addresses are written as people
/// do; an IPv4 address of an IPv6 socket is IPv4.
struct SeenSocket {
    QString local;
    int localPort = 0;
    QString peer;
    int peerPort = 0;
    int state = 0; ///< TCP_LISTEN and the like of <netinet/tcp.h>
    QString inode; ///< 0: no process has it any more
};

/// All in the network namespace of a process, whoever has them.
std::vector<SeenSocket> socketsInNetworkOf(pid_t pid);

/// Those that the process itself has.
std::vector<SeenSocket> socketsOf(pid_t pid);

} // namespace rm
