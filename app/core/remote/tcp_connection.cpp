// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/tcp_connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace rm {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kHeadStart{250}; ///< of each address before the next one
constexpr milliseconds kStopLook{20};   ///< a stop makes no descriptor readable

using AddressInfo = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

AddressInfo infoOf(const std::string& address, const std::string& port, int family, int flags) {
    addrinfo hints{};
    hints.ai_flags = flags;
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    ::getaddrinfo(address.c_str(), port.empty() ? nullptr : port.c_str(), &hints, &found);
    return {found, &::freeaddrinfo};
}

/// Attempts that go on beside each other.
class Race {
public:
    Race(unsigned port, const std::vector<std::string>& from)
        : m_port(std::to_string(port))
        , m_from(from) {}

    void begin(const std::string& address) {
        const AddressInfo to = infoOf(address, m_port, AF_UNSPEC, AI_NUMERICHOST | AI_NUMERICSERV);
        if (!to)
            return;
        Descriptor attempt(::socket(to->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        const bool isBegun =
            attempt && isBound(attempt.get(), to->ai_family) &&
            (::connect(attempt.get(), to->ai_addr, to->ai_addrlen) == 0 || errno == EINPROGRESS);
        if (isBegun)
            m_attempts.push_back(std::move(attempt));
        else
            m_error = errno;
    }

    bool isOver() const { return m_attempts.empty(); }
    int error() const { return m_error; }

    /// Waits for the first that is connected; none: an attempt failed, or the time is over.
    Descriptor wait(milliseconds time) {
        std::vector<pollfd> fds;
        for (const Descriptor& attempt : m_attempts)
            fds.push_back({attempt.get(), POLLOUT, 0});
        ::poll(fds.data(), fds.size(), static_cast<int>(time.count()));
        for (size_t at = fds.size(); at-- > 0;)
            if (fds[at].revents != 0) {
                int error = 0;
                socklen_t size = sizeof error;
                ::getsockopt(fds[at].fd, SOL_SOCKET, SO_ERROR, &error, &size);
                Descriptor attempt = std::move(m_attempts[at]);
                m_attempts.erase(m_attempts.begin() + static_cast<std::ptrdiff_t>(at));
                if (error == 0)
                    return attempt;
                m_error = error;
            }
        return {};
    }

private:
    bool isBound(int socket, int family) const {
        if (m_from.empty())
            return true;
        errno = EADDRNOTAVAIL; // where there is none of that family
        return std::ranges::any_of(m_from, [&](const std::string& each) {
            const AddressInfo from = infoOf(each, {}, family, AI_NUMERICHOST);
            return from && ::bind(socket, from->ai_addr, from->ai_addrlen) == 0;
        });
    }

    std::string m_port;
    const std::vector<std::string>& m_from;
    std::vector<Descriptor> m_attempts;
    int m_error = ETIMEDOUT;
};

} // namespace

Result<Descriptor> connectToAny(const std::vector<std::string>& addresses, unsigned port,
                                const std::vector<std::string>& from, const Patience& patience) {
    Race race(port, from);
    auto next = addresses.begin();
    auto nextBegins = steady_clock::now();
    while (steady_clock::now() < patience.deadline && !patience.stop.stop_requested()) {
        if (next != addresses.end() && (race.isOver() || steady_clock::now() >= nextBegins)) {
            race.begin(*next++);
            nextBegins = steady_clock::now() + kHeadStart;
        }
        if (race.isOver() && next == addresses.end())
            return fail(ErrorCode::kUnavailable,
                        std::string("Failed to connect: ") + std::strerror(race.error()));
        Descriptor connected = race.wait(kStopLook);
        if (!connected)
            continue;
        const int yes = 1;
        ::setsockopt(connected.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        return connected;
    }
    return fail(ErrorCode::kUnavailable,
                std::string("Failed to connect: ") + std::strerror(ETIMEDOUT));
}

} // namespace rm
