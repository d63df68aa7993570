// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "trainer/agent/net/reach.h"
#include "trainer/agent/net/socket_address.h"
#include "trainer/agent/posix/fd.h"

#include <netinet/in.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace rm {

namespace {

constexpr int kTries = 16; // a port may be free on one address only

// errno when the address cannot be bound; 0 otherwise.
int bindOne(const SocketAddress& address, std::vector<Descriptor>& sockets) {
    Descriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd)
        return errno;
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.family() == AF_INET6)
        ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (::bind(fd.get(), address.get(), address.size) != 0 || ::listen(fd.get(), 64) != 0)
        return errno;
    sockets.push_back(std::move(fd));
    return 0;
}

int portOf(const Descriptor& socket) {
    SocketAddress address;
    address.size = sizeof address.storage;
    return ::getsockname(socket.get(), address.get(), &address.size) == 0 ? address.port() : 0;
}

// Binds one port on every address. Fails if it is taken or forbidden on any of them, or if none can
// be bound; an address that fails for another reason (still tentative, gone) is left out.
Result<int> bindAll(int port, std::vector<Descriptor>& sockets) {
    int error = 0;
    for (InterfaceAddress item : interfaceAddresses()) {
        item.address.setPort(port);
        error = bindOne(item.address, sockets);
        if (error == EADDRINUSE || error == EACCES)
            return failErrno("listen on port " + std::to_string(port), error);
        if (error == 0 && port == 0)
            port = portOf(sockets.back());
    }
    if (sockets.empty())
        return failErrno("listen on port " + std::to_string(port), error ? error : ENETDOWN);
    return port;
}

Result<int> bindSomePort(int port, std::vector<Descriptor>& sockets) {
    Result<int> bound = bindAll(port, sockets);
    for (int i = 1; !bound && port == 0 && i < kTries; ++i) {
        sockets.clear();
        bound = bindAll(0, sockets);
    }
    return bound;
}

bool isClosed(int fd) {
    std::array<std::byte, 256> ignored;
    const Result<size_t> count = readAvailable(fd, ignored, "stdin");
    return !count || *count == 0;
}

} // namespace

Result<void> listenForDials(int seconds, int port, int inputFd, int outputFd) {
    std::vector<Descriptor> sockets;
    RM_ASSIGN_OR_RETURN(const int bound, bindSomePort(port, sockets));
    const std::string text = "{\"port\":" + std::to_string(bound) + "}\n";
    if (const Result<void> written = writeText(outputFd, text, "stdout"); !written)
        return written;
    std::vector<pollfd> polls = {{inputFd, POLLIN, 0}};
    for (const Descriptor& socket : sockets)
        polls.push_back({socket.get(), POLLIN, 0});
    const int64_t endNs = monotonicNowNs() + seconds * INT64_C(1'000'000'000);
    while (true) {
        const int64_t leftMs = (endNs - monotonicNowNs()) / 1'000'000;
        if (leftMs <= 0 ||
            (::poll(polls.data(), polls.size(), static_cast<int>(leftMs)) < 0 && errno != EINTR))
            return {};
        if (polls[0].revents && isClosed(inputFd))
            return {};
        for (size_t i = 1; i < polls.size(); ++i)
            if (polls[i].revents)
                Descriptor(::accept4(polls[i].fd, nullptr, nullptr, SOCK_CLOEXEC));
    }
}

} // namespace rm
