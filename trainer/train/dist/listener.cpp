// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/dist/listener.h"

#include "shared/io/descriptor.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <thread>

namespace rm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPause{5};
constexpr int kAnswerMs = 200; ///< wait for an answer, then try again

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

void awaitListener(const std::string& host, int port, milliseconds patience) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0)
        return; // the next connect reports the error
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, &freeaddrinfo);
    for (const auto end = steady_clock::now() + patience; steady_clock::now() < end;
         std::this_thread::sleep_for(kPause))
        for (const addrinfo* address = found; address; address = address->ai_next)
            if (listens(*address))
                return;
}

} // namespace rm
