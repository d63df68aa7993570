// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/io/random_hex.h"
#include "shared/return_if_error.h"
#include "trainer/agent/net/reach.h"
#include "trainer/agent/net/socket_address.h"
#include "trainer/agent/posix/fd.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <list>

namespace rm {

namespace {

constexpr int kTries = 16; // a port may be free on one address only
constexpr int kLastPort = 65535;
constexpr int64_t kClientNs = 10'000'000'000;
constexpr size_t kMostClients = 900;
constexpr size_t kMostEchoed = 100 * 1024;

// errno when the address cannot be bound; 0 otherwise.
int bindOne(const SocketAddress& address, std::vector<Descriptor>& sockets) {
    Descriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd)
        return errno;
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address.family() == AF_INET6)
        ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
    if (::bind(fd.get(), address.get(), address.size) != 0 || ::listen(fd.get(), SOMAXCONN) != 0)
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
    std::vector<Descriptor> own;
    Result<int> bound = bindAll(port, own);
    for (int i = 1; !bound && port == 0 && i < kTries; ++i) {
        own.clear();
        bound = bindAll(0, own);
    }
    if (bound)
        std::ranges::move(own, std::back_inserter(sockets));
    return bound;
}

uint32_t randomNumber() {
    uint32_t number = 0;
    return ::getrandom(&number, sizeof number, 0) == sizeof number ? number : 0;
}

struct PortRange {
    int first = 32768;
    int last = 60999;
};

/// The range of IPv4, which Linux uses for IPv6, too.
PortRange ephemeralRange() {
    PortRange range;
    const auto text = readFile("/proc/sys/net/ipv4/ip_local_port_range");
    int first = 0, last = 0;
    if (text && std::sscanf(text->c_str(), "%d %d", &first, &last) == 2 && first > 0 &&
        first <= last && last <= kLastPort)
        range = {first, last};
    return range;
}

/// One about a quarter into the range, one at three quarters: a firewall may let a part of it
/// through. Fewer if they are taken.
std::vector<int64_t> bindSamples(int count, const PortRange& range,
                                 std::vector<Descriptor>& sockets) {
    std::vector<int64_t> ports;
    const int size = range.last - range.first + 1;
    for (int i = 0; i < count; ++i) {
        const int begin = range.first + size / 8 + i * size / 2;
        for (int t = 0; t < kTries; ++t) {
            const auto within = static_cast<uint32_t>(std::max(1, size / 4));
            const int port = begin + static_cast<int>(randomNumber() % within);
            if (bindSomePort(port, sockets)) {
                ports.push_back(port);
                break;
            }
        }
    }
    return ports;
}

Result<OpenPorts> openPorts(const ListenOrder& order, std::vector<Descriptor>& sockets) {
    Result<int> port = bindSomePort(static_cast<int>(order.port), sockets);
    if (!port && order.orAny)
        port = bindSomePort(0, sockets);
    if (!port)
        return tl::unexpected(port.error());
    OpenPorts ports;
    ports.port = *port;
    ports.token = randomHex(16);
    if (order.next) {
        // Next to a port that a person chose, as a firewall may let a range through.
        const int wanted = order.port > 0 && *port < kLastPort ? *port + 1 : 0;
        Result<int> next = bindSomePort(wanted, sockets);
        if (!next && wanted > 0)
            next = bindSomePort(0, sockets);
        if (!next)
            return tl::unexpected(next.error());
        ports.next = *next;
    }
    const PortRange range = ephemeralRange();
    ports.rangeFirst = range.first;
    ports.rangeLast = range.last;
    ports.samples = bindSamples(order.samples, range, sockets);
    return ports;
}

bool isClosed(int fd) {
    std::array<std::byte, 256> ignored;
    const Result<size_t> count = readAvailable(fd, ignored, "stdin");
    return !count || *count == 0;
}

/// A connection: first the greeting, then whatever came goes back.
struct Client {
    Descriptor socket;
    int64_t endNs = 0;
    std::string out; ///< to be sent
    size_t echoed = 0;

    short events() const { return out.empty() ? POLLIN : POLLOUT; }
    /// False: it is over.
    bool go() {
        if (out.empty()) {
            std::array<char, 16 * 1024> bytes;
            const ssize_t count = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
            if (count <= 0)
                return count < 0 && (errno == EAGAIN || errno == EINTR);
            echoed += static_cast<size_t>(count);
            out.assign(bytes.data(), static_cast<size_t>(count));
        }
        const ssize_t sent = ::send(socket.get(), out.data(), out.size(), MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        out.erase(0, static_cast<size_t>(sent));
        return echoed < kMostEchoed;
    }
};

/// Everything that is open, until it is told to end.
class Listening {
public:
    Listening(std::vector<Descriptor> sockets, std::string greeting, int inputFd)
        : m_sockets(std::move(sockets))
        , m_greeting(std::move(greeting))
        , m_inputFd(inputFd) {}

    /// Serves until it is told to end. False: the time was over before.
    bool run(int64_t endNs) {
        while (step(endNs)) {
            if (monotonicNowNs() >= endNs)
                return false;
            m_clients.remove_if([now = monotonicNowNs()](const Client& client) {
                return !client.socket || now >= client.endNs;
            });
        }
        return true;
    }

private:
    bool step(int64_t endNs) {
        std::vector<pollfd> polls = {{m_inputFd, POLLIN, 0}};
        const bool takes = m_clients.size() < m_mostClients;
        for (const Descriptor& socket : m_sockets)
            polls.push_back({socket.get(), static_cast<short>(takes ? POLLIN : 0), 0});
        const size_t firstClient = polls.size();
        for (const Client& client : m_clients) {
            polls.push_back({client.socket.get(), client.events(), 0});
            endNs = std::min(endNs, client.endNs);
        }
        const int64_t leftMs = (endNs - monotonicNowNs()) / 1'000'000 + 1;
        if (::poll(polls.data(), polls.size(), static_cast<int>(std::max<int64_t>(0, leftMs))) < 0)
            return errno == EINTR;
        if (polls[0].revents && isClosed(m_inputFd))
            return false;
        size_t i = firstClient;
        for (Client& client : m_clients)
            if (polls[i++].revents && !client.go())
                client.socket = Descriptor();
        for (i = 1; i < firstClient; ++i)
            if (polls[i].revents)
                accept(polls[i].fd);
        return true;
    }

    void accept(int fd) {
        Descriptor socket(::accept4(fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket)
            return;
        Client client{std::move(socket), monotonicNowNs() + kClientNs, m_greeting};
        if (client.go())
            m_clients.push_back(std::move(client));
    }

    std::vector<Descriptor> m_sockets;
    std::string m_greeting;
    int m_inputFd;
    std::list<Client> m_clients;
    size_t m_mostClients = roomForSockets(kMostClients);
};

} // namespace

Result<void> listenForDials(const ListenOrder& order, int seconds, int inputFd, int outputFd) {
    std::vector<Descriptor> sockets;
    RM_ASSIGN_OR_RETURN(const OpenPorts ports, openPorts(order, sockets));
    if (const auto written = writeText(outputFd, toJson(ports) + "\n", "stdout"); !written)
        return written;
    const bool wasEnded = Listening(std::move(sockets), dialGreeting(ports.token), inputFd)
                              .run(monotonicNowNs() + seconds * INT64_C(1'000'000'000));
    if (!wasEnded)
        return fail(ErrorCode::kUnavailable,
                    "listen for other nodes: " + std::to_string(seconds) + " s were over before");
    return {};
}

} // namespace rm
