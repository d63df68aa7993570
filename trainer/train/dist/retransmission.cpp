// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/retransmission.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>

namespace rm {
namespace {

constexpr int kRtoMaxMs = 44; ///< TCP_RTO_MAX_MS, which glibc's headers do not have yet
constexpr int kLongestWaitMs = 1000;
/// The time that net.ipv4.tcp_retries2 means by default; else 15 tries would end after 15 s.
constexpr unsigned kGiveUpMs = 924'600;

bool isTcp(int fd) {
    int protocol = 0;
    socklen_t size = sizeof protocol;
    return ::getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
           protocol == IPPROTO_TCP;
}

template <class Value>
bool set(int fd, int option, Value value) {
    return ::setsockopt(fd, IPPROTO_TCP, option, &value, sizeof value) == 0;
}

bool canBeLimited(int fd) {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(fd, IPPROTO_TCP, kRtoMaxMs, &value, &size) == 0;
}

} // namespace

int retransmitEachSecond() {
    int connections = 0;
    std::error_code error;
    std::filesystem::directory_iterator entries("/proc/self/fd", error), end;
    for (; !error && entries != end; entries.increment(error)) {
        const std::string name = entries->path().filename();
        int fd = -1;
        std::from_chars(name.data(), name.data() + name.size(), fd);
        if (isTcp(fd) && canBeLimited(fd) && set(fd, TCP_USER_TIMEOUT, kGiveUpMs) &&
            set(fd, kRtoMaxMs, kLongestWaitMs))
            ++connections;
    }
    return connections;
}

} // namespace rm
