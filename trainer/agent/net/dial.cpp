// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "trainer/agent/net/reach.h"
#include "trainer/agent/net/socket_address.h"

#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

namespace rm {

namespace {

constexpr int64_t kNsOfMs = 1'000'000;
constexpr size_t kPayloadBytes = 64 * 1024;
/// More than the largest packet that goes over an Ethernet, so that it cannot have been one small
/// packet; with less of it passed in time nothing is said against the path.
constexpr size_t kSomePackets = 4096;
constexpr size_t kMostOpen = 512; ///< dials at a time

enum class Stage { kWaiting, kConnecting, kGreeted, kPayload, kOver };

struct Dial {
    const DialTarget* target = nullptr;
    SocketAddress address;
    Stage stage = Stage::kWaiting;
    Descriptor socket;
    int64_t startNs = 0;
    int64_t connectedNs = 0;
    std::string greeting; ///< of what was received
    size_t sent = 0;      ///< of the payload
    size_t back = 0;
    DialAnswer answer;

    bool isOpen() const {
        return stage == Stage::kConnecting || stage == Stage::kGreeted || stage == Stage::kPayload;
    }
    void end(Reach reach, const std::string& error) {
        answer.reach = reach;
        answer.error = error;
        stage = Stage::kOver;
        socket = Descriptor();
    }
};

/// The interface by which the kernel would reach an address, or errno. Sends nothing.
struct OwnWay {
    std::string interface;
    int error = 0;
};

OwnWay ownWayTo(const SocketAddress& address, const std::vector<InterfaceAddress>& interfaces) {
    const Descriptor socket(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
    SocketAddress local;
    local.size = sizeof local.storage;
    if (!socket || ::connect(socket.get(), address.get(), address.size) != 0 ||
        ::getsockname(socket.get(), local.get(), &local.size) != 0)
        return {"", errno};
    const auto found = std::ranges::find_if(
        interfaces, [&local](const auto& item) { return item.address.hasSameHost(local); });
    return {found == interfaces.end() ? "" : found->interface, 0};
}

bool isOnLink(const std::string& interface, const SocketAddress& address,
              const std::vector<InterfaceAddress>& interfaces) {
    return std::ranges::any_of(interfaces, [&](const InterfaceAddress& item) {
        return item.interface == interface && item.hasInNetwork(address);
    });
}

std::string wordOf(int errnoValue) {
    // What the kernel says of a route of the type blackhole.
    return errnoValue == EINVAL ? "a route of this node leads nowhere"
                                : std::string(std::strerror(errnoValue));
}

Reach reachOf(int errnoValue) {
    switch (errnoValue) {
    case ECONNREFUSED:
        return Reach::kRefused;
    case ETIMEDOUT:
        return Reach::kDropped;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EACCES:
    case EPERM:
    case ENOPROTOOPT:
        return Reach::kRejected;
    default:
        return Reach::kNoRoute;
    }
}

/// Leaves by the interface that was asked for. The kernel routes what ranks send, so nothing else
/// is tried by an interface that it does not take, unless that is in the same network.
void begin(Dial& dial, const std::vector<InterfaceAddress>& interfaces) {
    const std::string& wanted = dial.target->interface;
    const OwnWay way = ownWayTo(dial.address, interfaces);
    dial.startNs = monotonicNowNs();
    dial.answer.interface = wanted.empty() ? way.interface : wanted;
    const bool isRouted = wanted.empty() || wanted == way.interface;
    if (way.error)
        return dial.end(Reach::kNoRoute, wordOf(way.error));
    if (!isRouted && !isOnLink(wanted, dial.address, interfaces))
        return dial.end(Reach::kNoRoute,
                        "its routes lead there by " +
                            (way.interface.empty() ? "another interface" : way.interface));
    dial.socket =
        Descriptor(::socket(dial.address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!dial.socket)
        return dial.end(Reach::kUntried, std::strerror(errno));
    if (!isRouted && ::setsockopt(dial.socket.get(), SOL_SOCKET, SO_BINDTODEVICE, wanted.c_str(),
                                  static_cast<socklen_t>(wanted.size())) != 0)
        return dial.end(Reach::kUntried, std::strerror(errno));
    dial.stage = Stage::kConnecting;
    if (::connect(dial.socket.get(), dial.address.get(), dial.address.size) != 0 &&
        errno != EINPROGRESS)
        dial.end(errno == ECONNREFUSED ? Reach::kRefused : Reach::kNoRoute, wordOf(errno));
}

int64_t pathMtu(const Dial& dial) {
    int mtu = 0;
    socklen_t size = sizeof mtu;
    const bool isSix = dial.address.family() == AF_INET6;
    const int got = isSix ? ::getsockopt(dial.socket.get(), IPPROTO_IPV6, IPV6_MTU, &mtu, &size)
                          : ::getsockopt(dial.socket.get(), IPPROTO_IP, IP_MTU, &mtu, &size);
    return got == 0 ? mtu : 0;
}

void onConnected(Dial& dial) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(dial.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error)
        return dial.end(reachOf(error), wordOf(error));
    dial.connectedNs = monotonicNowNs();
    dial.answer.microseconds = (dial.connectedNs - dial.startNs) / 1000;
    dial.stage = Stage::kGreeted;
}

void endReached(Dial& dial) {
    dial.answer.mtu = pathMtu(dial);
    dial.end(Reach::kReached, "");
}

/// Bytes of the payload that the other kernel has.
size_t arrived(const Dial& dial) {
    int queued = 0;
    if (::ioctl(dial.socket.get(), TIOCOUTQ, &queued) != 0)
        return 0;
    return dial.sent - std::min(dial.sent, static_cast<size_t>(std::max(0, queued)));
}

/// Some full packets each way are enough: a slow link need not bring all in time.
void endPayload(Dial& dial) {
    dial.answer.large = dial.back >= kSomePackets       ? LargePackets::kPassed
                        : arrived(dial) >= kSomePackets ? LargePackets::kLostBack
                                                        : LargePackets::kLostThere;
    endReached(dial);
}

void onGreeting(Dial& dial) {
    const std::string expected = dialGreeting(dial.target->token);
    std::array<char, 64> bytes;
    const size_t left = std::min(bytes.size(), expected.size() - dial.greeting.size());
    const ssize_t count = ::recv(dial.socket.get(), bytes.data(), left, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count > 0)
        dial.greeting.append(bytes.data(), static_cast<size_t>(count));
    if (count <= 0 || !expected.starts_with(dial.greeting))
        return dial.end(Reach::kStranger, "it is another program or machine that answers");
    if (dial.greeting != expected)
        return;
    if (!dial.target->large)
        return endReached(dial);
    dial.stage = Stage::kPayload;
}

void onPayload(Dial& dial) {
    static const std::array<char, 16 * 1024> bytes = {};
    if (dial.sent < kPayloadBytes) {
        const size_t left = std::min(bytes.size(), kPayloadBytes - dial.sent);
        const ssize_t sent = ::send(dial.socket.get(), bytes.data(), left, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return endPayload(dial);
        dial.sent += static_cast<size_t>(std::max<ssize_t>(0, sent));
    }
    std::array<char, 16 * 1024> received;
    const ssize_t count = ::recv(dial.socket.get(), received.data(), received.size(), 0);
    if (count > 0)
        dial.back += static_cast<size_t>(count);
    const bool isCut = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
    if (isCut || dial.back >= kPayloadBytes)
        endPayload(dial);
}

/// All dials of one call.
class Dialling {
public:
    Dialling(std::vector<Dial> dials, const DialOrder& order, const DialLimits& limits)
        : m_dials(std::move(dials))
        , m_order(order)
        , m_limits(limits)
        , m_endNs(monotonicNowNs() + limits.wholeMs * kNsOfMs) {}

    std::vector<DialAnswer> run() {
        while (monotonicNowNs() < m_endNs && beginSome())
            step();
        std::vector<DialAnswer> answers;
        for (Dial& dial : m_dials) {
            giveUp(dial);
            answers.push_back(std::move(dial.answer));
        }
        return answers;
    }

private:
    /// False: all are over.
    bool beginSome() {
        size_t open = 0;
        for (const Dial& dial : m_dials)
            open += dial.isOpen();
        for (; m_next < m_dials.size() && open < m_mostOpen; ++m_next) {
            begin(m_dials[m_next], m_interfaces);
            open += m_dials[m_next].isOpen();
        }
        return open > 0;
    }

    int64_t connectDeadline(const Dial& dial) const {
        return dial.startNs + m_limits.connectMs * kNsOfMs;
    }
    int64_t settleDeadline(const Dial& dial) const {
        const auto reached = m_reachedNs.find(dial.target->group);
        return m_order.settleMs < 0 || reached == m_reachedNs.end()
                   ? std::numeric_limits<int64_t>::max()
                   : reached->second + m_order.settleMs * kNsOfMs;
    }

    /// When this dial is given up.
    int64_t deadline(const Dial& dial) const {
        if (dial.stage != Stage::kConnecting)
            return dial.connectedNs + m_limits.exchangeMs * kNsOfMs;
        return std::min(connectDeadline(dial), settleDeadline(dial));
    }

    void step() {
        std::vector<pollfd> polls;
        std::vector<Dial*> open;
        int64_t nextNs = m_endNs;
        for (Dial& dial : m_dials) {
            if (!dial.isOpen())
                continue;
            const bool writes = dial.stage == Stage::kConnecting ||
                                (dial.stage == Stage::kPayload && dial.sent < kPayloadBytes);
            const bool reads = dial.stage != Stage::kConnecting;
            polls.push_back({dial.socket.get(),
                             static_cast<short>((writes ? POLLOUT : 0) | (reads ? POLLIN : 0)), 0});
            open.push_back(&dial);
            nextNs = std::min(nextNs, deadline(dial));
        }
        const int64_t leftMs = (nextNs - monotonicNowNs()) / kNsOfMs + 1;
        ::poll(polls.data(), polls.size(), static_cast<int>(std::max<int64_t>(0, leftMs)));
        for (size_t i = 0; i < polls.size(); ++i) {
            if (polls[i].revents)
                onReady(*open[i]);
            else if (monotonicNowNs() >= deadline(*open[i]))
                onLate(*open[i]);
        }
    }

    void onLate(Dial& dial) const {
        if (dial.stage == Stage::kConnecting && monotonicNowNs() < connectDeadline(dial))
            dial.end(Reach::kUntried, "another address of that node answered first");
        else
            giveUp(dial);
    }

    void onReady(Dial& dial) {
        if (dial.stage == Stage::kConnecting)
            onConnected(dial);
        else if (dial.stage == Stage::kGreeted)
            onGreeting(dial);
        else
            onPayload(dial);
        const bool losesLarge = dial.answer.large == LargePackets::kLostThere ||
                                dial.answer.large == LargePackets::kLostBack;
        if (dial.answer.reach == Reach::kReached && !losesLarge)
            m_reachedNs.try_emplace(dial.target->group, monotonicNowNs());
    }

    static void giveUp(Dial& dial) {
        switch (dial.stage) {
        case Stage::kConnecting:
            return dial.end(Reach::kDropped, std::strerror(ETIMEDOUT));
        case Stage::kGreeted:
            return dial.end(Reach::kStranger, "it is connected, and then nothing comes");
        case Stage::kPayload:
            return endPayload(dial);
        case Stage::kWaiting:
            return dial.end(Reach::kUntried, "there was no time left");
        case Stage::kOver:
            return;
        }
    }

    std::vector<Dial> m_dials;
    const DialOrder& m_order;
    DialLimits m_limits;
    int64_t m_endNs;
    size_t m_mostOpen = roomForSockets(kMostOpen);
    std::vector<InterfaceAddress> m_interfaces = interfaceAddresses();
    size_t m_next = 0;                      ///< of those that wait
    std::map<int64_t, int64_t> m_reachedNs; ///< by group: when its first way was found
};

} // namespace

Result<std::vector<DialAnswer>> dialAll(const DialOrder& order, const DialLimits& limits) {
    std::vector<Dial> dials;
    for (const DialTarget& target : order.targets) {
        const bool isSix = target.address.find(':') != std::string::npos;
        const std::string host = isSix ? "[" + target.address + "]" : target.address;
        const auto address = parseSocketAddress(host + ":" + std::to_string(target.port));
        if (!address)
            return failAs("dial", address.error());
        Dial dial;
        dial.target = &target;
        dial.address = *address;
        dials.push_back(std::move(dial));
    }
    return Dialling(std::move(dials), order, limits).run();
}

} // namespace rm
