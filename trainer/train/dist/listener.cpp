// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/listener.h"

#include "shared/return_if_error.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace rm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPause{5};
constexpr int kAnswerMs = 200; ///< time to wait for an answer before the next try

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

/// The addresses of `host`; null when there is none, and then getaddrinfo()'s reason in `error`.
Addresses addressesOf(const std::string& host, int port, int flags, int& error) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags;
    addrinfo* found = nullptr;
    error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
    return {error == 0 ? found : nullptr, &freeaddrinfo};
}

bool isLoopback(const addrinfo& address) {
    if (address.ai_family == AF_INET) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(address.ai_addr);
        return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address.ai_addr);
    return address.ai_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/// Whether `host` means the same to every rank: an address, or the name of loopback itself.
bool isUnmistakable(const std::string& host) {
    int error = 0;
    return host == "localhost" || addressesOf(host, 0, AI_NUMERICHOST, error) != nullptr;
}

/// Makes `socket` listen at the address. Returns 0, else errno.
int listenOn(const addrinfo& address, Descriptor& socket) {
    socket = Descriptor(
        ::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol));
    if (!socket)
        return errno;
    // Else the last attempt's closed connections keep the port for a minute.
    const int on = 1, off = 0;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    // "::" takes IPv4 as well, also where the machine keeps the families apart.
    if (address.ai_family == AF_INET6)
        ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    const bool isListening = ::bind(socket.get(), address.ai_addr, address.ai_addrlen) == 0 &&
                             ::listen(socket.get(), SOMAXCONN) == 0;
    return isListening ? 0 : errno;
}

Result<std::vector<const addrinfo*>> candidatesOf(const Addresses& found, const std::string& what,
                                                  bool isCertain) {
    std::vector<const addrinfo*> candidates;
    for (const addrinfo* address = found.get(); address; address = address->ai_next)
        if (isCertain || !isLoopback(*address))
            candidates.push_back(address);
    if (!isCertain && candidates.empty())
        return fail(ErrorCode::kNotFound,
                    what + "here the name stands for loopback, which others cannot reach");
    if (!isCertain && candidates.size() > 1)
        return fail(ErrorCode::kNotFound, what + "the name stands for " +
                                              std::to_string(candidates.size()) +
                                              " addresses, of which others may use any");
    return candidates;
}

bool listens(const addrinfo& address) {
    const Descriptor socket(::socket(address.ai_family,
                                     address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
                                     address.ai_protocol));
    if (socket.get() < 0)
        return false;
    if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0)
        return true;
    pollfd connected{socket.get(), POLLOUT, 0};
    if (errno != EINPROGRESS || ::poll(&connected, 1, kAnswerMs) != 1)
        return false;
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

} // namespace

bool awaitListener(const std::string& host, int port, milliseconds patience) {
    int error = 0; // the next connect reports it
    const Addresses addresses = addressesOf(host, port, 0, error);
    if (!addresses)
        return true;
    for (const auto end = steady_clock::now() + patience; steady_clock::now() < end;
         std::this_thread::sleep_for(kPause))
        for (const addrinfo* address = addresses.get(); address; address = address->ai_next)
            if (listens(*address))
                return true;
    return false;
}

Result<Descriptor> listenAt(const std::string& host, int port, bool isOneMachine) {
    const std::string what = "listen at " + placeName(host, port) + " for the other ranks: ";
    int unresolved = 0;
    const Addresses found = addressesOf(host, port, 0, unresolved);
    if (!found)
        return fail(ErrorCode::kNotFound, what + ::gai_strerror(unresolved));
    RM_ASSIGN_OR_RETURN(const auto candidates,
                        candidatesOf(found, what, isOneMachine || isUnmistakable(host)));
    for (const addrinfo* address : candidates) {
        Descriptor socket;
        const int error = listenOn(*address, socket);
        if (error == 0)
            return socket;
        if (error == EADDRINUSE)
            return fail(ErrorCode::kUnavailable,
                        what + "another program has this port there, perhaps rank 0 of another "
                               "run; end that one or take another port (launch.master_port, where "
                               "0 is a free one; without Ringmaster MASTER_PORT)");
        if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT)
            return failErrno(what.substr(0, what.size() - 2), error);
    }
    return fail(ErrorCode::kNotFound, what + "it is no address of this machine");
}

std::string placeName(const std::string& host, int port) {
    const bool isIPv6 = host.find(':') != std::string::npos;
    return (isIPv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

} // namespace rm
