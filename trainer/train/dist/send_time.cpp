// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/send_time.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

namespace rm {
namespace {

// The places of both times, in microseconds, in the kernel's tcp_info (<linux/tcp.h>). That of
// glibc lacks them, and no file can include both headers.
constexpr size_t kBusyAt = 168;
constexpr size_t kPeerFullAt = 176;

/// The address as IPv6 has it, without the port; nullopt: neither IPv4 nor IPv6.
std::optional<std::string> addressIn(const sockaddr_storage& storage) {
    if (storage.ss_family == AF_INET) {
        const auto& address = reinterpret_cast<const sockaddr_in&>(storage).sin_addr;
        return std::string(reinterpret_cast<const char*>(&address), sizeof address);
    }
    if (storage.ss_family == AF_INET6) {
        const auto& address = reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr;
        return std::string(reinterpret_cast<const char*>(&address), sizeof address);
    }
    return std::nullopt;
}

/// A connection by TCP whose ends are on different machines: they have different addresses.
bool leadsElsewhere(int fd) {
    int protocol = 0;
    socklen_t size = sizeof protocol;
    if (::getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0 || protocol != IPPROTO_TCP)
        return false;
    sockaddr_storage own{}, peer{};
    socklen_t ownSize = sizeof own, peerSize = sizeof peer;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &ownSize) != 0 ||
        ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &peerSize) != 0)
        return false;
    const auto here = addressIn(own), there = addressIn(peer);
    return here && there && *here != *there;
}

enum class Told { kTime, kClosed, kNothing };

std::pair<Told, int64_t> busyUs(int fd) {
    std::array<char, kPeerFullAt + sizeof(uint64_t)> info{};
    socklen_t size = info.size();
    if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, info.data(), &size) != 0)
        return {Told::kClosed, 0};
    if (size < info.size())
        return {Told::kNothing, 0};
    uint64_t busy = 0, peerFull = 0;
    std::memcpy(&busy, info.data() + kBusyAt, sizeof busy);
    std::memcpy(&peerFull, info.data() + kPeerFullAt, sizeof peerFull);
    return {Told::kTime, static_cast<int64_t>(busy) - static_cast<int64_t>(peerFull)};
}

} // namespace

SendTime::SendTime() {
    std::error_code error;
    std::filesystem::directory_iterator entries("/proc/self/fd", error), end;
    for (; !error && entries != end; entries.increment(error)) {
        const std::string name = entries->path().filename();
        int fd = -1;
        std::from_chars(name.data(), name.data() + name.size(), fd);
        if (leadsElsewhere(fd))
            m_connections.push_back(fd);
    }
    static_cast<void>(takeMs());
}

std::optional<double> SendTime::takeMs() {
    int64_t sumUs = 0;
    for (const int fd : m_connections) {
        const auto [told, us] = busyUs(fd);
        m_isTold = m_isTold && told != Told::kNothing;
        if (told != Told::kTime)
            continue;
        const auto last = m_lastUs.find(fd);
        if (last != m_lastUs.end())
            sumUs += std::max<int64_t>(0, us - last->second);
        m_lastUs[fd] = us;
    }
    return m_isTold ? std::optional(static_cast<double>(sumUs) / 1e3) : std::nullopt;
}

} // namespace rm
