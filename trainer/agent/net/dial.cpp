// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "trainer/agent/net/reach.h"
#include "trainer/agent/net/socket_address.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <time.h>

// Needs struct timespec.
#include <linux/errqueue.h>

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
    std::string greeting; ///< what was received of it
    size_t sent = 0;      ///< bytes of the payload
    size_t back = 0;
    DialAnswer answer;

    bool isSix() const { return address.family() == AF_INET6; }
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

/// Why the kernel sends nothing, which is a matter of this node alone.
std::string wordOf(int errnoValue) {
    switch (errnoValue) {
    case EINVAL:
        return "a route or rule of this node leads nowhere (blackhole)";
    case EHOSTUNREACH:
        return "a route or rule of this node says that it is unreachable";
    case EACCES:
        return "a route or rule of this node prohibits it";
    case EPERM:
        return "a policy of this node forbids it";
    case EADDRNOTAVAIL:
        return "no interface has an address to send from";
    default:
        return std::strerror(errnoValue);
    }
}

/// The answer of a machine by ICMP instead of a connection.
struct IcmpAnswer {
    bool isSix = false;
    int type = 0;
    int code = 0;
    SocketAddress by;
};

/// Asks the kernel to keep these; since Linux 5.8 it does also for connections that failed.
void keepIcmpAnswers(int socket, int family, bool keeps) {
    const int on = keeps;
    if (family == AF_INET6)
        ::setsockopt(socket, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
    else
        ::setsockopt(socket, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
}

std::optional<IcmpAnswer> icmpAnswerIn(cmsghdr& header) {
    const bool isFour = header.cmsg_level == IPPROTO_IP && header.cmsg_type == IP_RECVERR;
    const bool isSix = header.cmsg_level == IPPROTO_IPV6 && header.cmsg_type == IPV6_RECVERR;
    if ((!isFour && !isSix) || header.cmsg_len < CMSG_LEN(sizeof(sock_extended_err)))
        return std::nullopt;
    sock_extended_err error = {};
    std::memcpy(&error, CMSG_DATA(&header), sizeof error);
    if (error.ee_origin != SO_EE_ORIGIN_ICMP && error.ee_origin != SO_EE_ORIGIN_ICMP6)
        return std::nullopt;
    IcmpAnswer answer{isSix, error.ee_type, error.ee_code, {}};
    const size_t size = isSix ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    if (header.cmsg_len >= CMSG_LEN(sizeof error + size)) {
        std::memcpy(&answer.by.storage, CMSG_DATA(&header) + sizeof error, size);
        answer.by.size = static_cast<socklen_t>(size);
    }
    return answer;
}

std::optional<IcmpAnswer> icmpAnswerOn(int socket) {
    alignas(cmsghdr) std::array<char, 512> control;
    std::array<char, 128> sent; // the packet that is answered
    iovec part{sent.data(), sent.size()};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    if (::recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
        return std::nullopt;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header))
        if (const auto answer = icmpAnswerIn(*header))
            return answer;
    return std::nullopt;
}

struct IcmpWord {
    bool isSix;
    int type;
    int code;
    Reach reach;
    const char* word;
};

/// The codes of RFC 792, 1122, 1812 and 4443. Port unreachable: without a listener TCP sends RST,
/// so it is firewalls that answer so (as REJECT of iptables does unless one asks for another).
constexpr IcmpWord kIcmpWords[] = {
    {false, ICMP_DEST_UNREACH, ICMP_NET_UNREACH, Reach::kUnreachable, "network unreachable"},
    {false, ICMP_DEST_UNREACH, ICMP_HOST_UNREACH, Reach::kUnreachable, "host unreachable"},
    {false, ICMP_DEST_UNREACH, ICMP_PROT_UNREACH, Reach::kRejected, "protocol unreachable"},
    {false, ICMP_DEST_UNREACH, ICMP_PORT_UNREACH, Reach::kRejected, "port unreachable"},
    {false, ICMP_DEST_UNREACH, ICMP_NET_ANO, Reach::kRejected, "network prohibited"},
    {false, ICMP_DEST_UNREACH, ICMP_HOST_ANO, Reach::kRejected, "host prohibited"},
    {false, ICMP_DEST_UNREACH, ICMP_PKT_FILTERED, Reach::kRejected, "administratively prohibited"},
    {true, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOROUTE, Reach::kUnreachable, "no route"},
    {true, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_ADMIN, Reach::kRejected,
     "administratively prohibited"},
    {true, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_ADDR, Reach::kUnreachable, "address unreachable"},
    {true, ICMP6_DST_UNREACH, ICMP6_DST_UNREACH_NOPORT, Reach::kRejected, "port unreachable"},
    {true, ICMP6_DST_UNREACH, 5, Reach::kRejected, "source address prohibited"},
    {true, ICMP6_DST_UNREACH, 6, Reach::kRejected, "rejected by a route"},
};

/// Whether this machine tells itself that nobody answers ARP or neighbour discovery.
bool saysNoNeighbour(const IcmpAnswer& answer, const std::vector<InterfaceAddress>& interfaces) {
    const bool saysHost =
        answer.isSix ? answer.type == ICMP6_DST_UNREACH && answer.code == ICMP6_DST_UNREACH_ADDR
                     : answer.type == ICMP_DEST_UNREACH && answer.code == ICMP_HOST_UNREACH;
    return saysHost && std::ranges::any_of(interfaces, [&answer](const InterfaceAddress& item) {
               return item.address.hasSameHost(answer.by);
           });
}

void endNoNeighbour(Dial& dial, const std::vector<InterfaceAddress>& interfaces) {
    const std::string what = dial.isSix() ? "neighbour discovery" : "ARP";
    const std::string& by = dial.answer.interface;
    dial.end(Reach::kNoNeighbour,
             isOnLink(by, dial.address, interfaces)
                 ? "no machine in the network of " + by + " answers " + what + " for it"
                 : "the gateway that the routes name does not answer " + what);
}

void endAnswered(Dial& dial, const IcmpAnswer& answer) {
    const auto* found = std::ranges::find_if(kIcmpWords, [&answer](const IcmpWord& item) {
        return item.isSix == answer.isSix && item.type == answer.type && item.code == answer.code;
    });
    const bool isKnown = found != std::end(kIcmpWords);
    dial.answer.answeredBy = answer.by.host();
    dial.end(isKnown ? found->reach : Reach::kUnreachable,
             isKnown ? found->word
                     : "ICMP of type " + std::to_string(answer.type) + ", code " +
                           std::to_string(answer.code));
}

/// The result of a failed connection where the kernel does not say who answered: RST comes as
/// ECONNREFUSED, every ICMP answer of older kernels as one of many others.
Reach reachOf(int errnoValue) {
    switch (errnoValue) {
    case ECONNREFUSED:
        return Reach::kRefused;
    case ETIMEDOUT:
        return Reach::kDropped;
    default:
        return Reach::kUnreachable;
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
    keepIcmpAnswers(dial.socket.get(), dial.address.family(), true);
    if (::connect(dial.socket.get(), dial.address.get(), dial.address.size) != 0 &&
        errno != EINPROGRESS)
        dial.end(errno == ECONNREFUSED ? Reach::kRefused : Reach::kNoRoute, wordOf(errno));
}

int64_t pathMtu(const Dial& dial) {
    int mtu = 0;
    socklen_t size = sizeof mtu;
    const int got = dial.isSix()
                        ? ::getsockopt(dial.socket.get(), IPPROTO_IPV6, IPV6_MTU, &mtu, &size)
                        : ::getsockopt(dial.socket.get(), IPPROTO_IP, IP_MTU, &mtu, &size);
    return got == 0 ? mtu : 0;
}

void onConnected(Dial& dial, const std::vector<InterfaceAddress>& interfaces) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(dial.socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) {
        const auto icmp = icmpAnswerOn(dial.socket.get());
        if (!icmp)
            return dial.end(reachOf(error), std::strerror(error));
        return saysNoNeighbour(*icmp, interfaces) ? endNoNeighbour(dial, interfaces)
                                                  : endAnswered(dial, *icmp);
    }
    // From here on such an answer would end what TCP goes on with.
    keepIcmpAnswers(dial.socket.get(), dial.address.family(), false);
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

/// Somebody closed it, so that nothing is known of large packets.
void endCut(Dial& dial) {
    if (dial.back >= kSomePackets)
        return endPayload(dial);
    dial.end(Reach::kSilent, "it answers, and is broken off once data is sent");
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
    if (count == 0)
        return dial.end(Reach::kSilent, "it is connected, and closed again without a word");
    if (count < 0)
        return dial.end(Reach::kSilent, "it is connected, and then broken off without a word (" +
                                            std::string(std::strerror(errno)) + ")");
    if (!expected.starts_with(dial.greeting))
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
            return endCut(dial);
        dial.sent += static_cast<size_t>(std::max<ssize_t>(0, sent));
    }
    std::array<char, 16 * 1024> received;
    const ssize_t count = ::recv(dial.socket.get(), received.data(), received.size(), 0);
    if (count > 0)
        dial.back += static_cast<size_t>(count);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
        return endCut(dial);
    if (dial.back >= kPayloadBytes)
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
            onConnected(dial, m_interfaces);
        else if (dial.stage == Stage::kGreeted)
            onGreeting(dial);
        else
            onPayload(dial);
        const bool losesLarge = dial.answer.large == LargePackets::kLostThere ||
                                dial.answer.large == LargePackets::kLostBack;
        if (dial.answer.reach == Reach::kReached && !losesLarge)
            m_reachedNs.try_emplace(dial.target->group, monotonicNowNs());
    }

    /// Ends a dial. One that did not have its time, as others had to end first, proves nothing.
    void giveUp(Dial& dial) const {
        const int64_t endNs =
            dial.stage == Stage::kConnecting ? connectDeadline(dial) : deadline(dial);
        const bool isOwnTime = monotonicNowNs() >= endNs;
        if (dial.stage == Stage::kPayload && (isOwnTime || dial.back >= kSomePackets))
            return endPayload(dial);
        if (dial.stage == Stage::kPayload)
            return endReached(dial);
        if (dial.isOpen() && isOwnTime)
            return dial.stage == Stage::kConnecting
                       ? dial.end(Reach::kDropped, "nothing answered within " +
                                                       std::to_string(m_limits.connectMs) + " ms")
                       : dial.end(Reach::kSilent, "it is connected, and then nothing comes");
        if (dial.stage != Stage::kOver)
            dial.end(Reach::kUntried, "there was no time left");
    }

    std::vector<Dial> m_dials;
    const DialOrder& m_order;
    DialLimits m_limits;
    int64_t m_endNs;
    size_t m_mostOpen = roomForSockets(kMostOpen);
    std::vector<InterfaceAddress> m_interfaces = interfaceAddresses();
    size_t m_next = 0;                      ///< the first of those that wait
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
