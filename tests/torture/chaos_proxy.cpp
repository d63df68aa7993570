// SPDX-License-Identifier: Apache-2.0
#include "tests/torture/chaos_proxy.h"

#include "shared/io/clock.h"
#include "shared/io/descriptor.h"
#include "shared/return_if_error.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <deque>
#include <future>
#include <list>
#include <random>
#include <vector>

namespace rm::torture {
namespace {

constexpr int64_t kMostDelayNs = 100'000'000;
constexpr size_t kMostPiece = 16 << 10;
constexpr size_t kMostWaiting = 64; ///< pieces that wait in a direction before no more are read
constexpr int kLookMs = 5;
constexpr double kLeastBytes = 200, kMostBytes = 100e3; ///< of a connection before it ends

sockaddr_in addressOf(const ChaosProxy::Place& place) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(place.port));
    ::inet_pton(AF_INET, place.address.c_str(), &address.sin_addr);
    return address;
}

Descriptor newSocket(int flags = 0) {
    return Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

Result<Descriptor> listenIn(const std::string& space, const ChaosProxy::Place& here) {
    RM_ASSIGN_OR_RETURN(const auto file, openFile("/run/netns/" + space, O_RDONLY));
    if (::setns(file.get(), CLONE_NEWNET) != 0)
        return failErrno("enter " + space, errno);
    Descriptor listener = newSocket(SOCK_NONBLOCK);
    const sockaddr_in address = addressOf(here);
    const int yes = 1;
    ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener.get(), SOMAXCONN) != 0)
        return failErrno("listen on " + here.address, errno);
    return listener;
}

struct Piece {
    std::vector<char> bytes;
    int64_t dueNs = 0;
};

struct Direction {
    std::deque<Piece> waiting;
    bool isOver = false; ///< its sender says no more
};

struct Connection {
    std::array<Descriptor, 2> ends; ///< of who connected, and of the server
    std::array<Direction, 2> ways;  ///< from that end to the other
    bool hasFate = false;
    ChaosProxy::End fate = ChaosProxy::End::kClosed;
    int64_t bytesLeft = 0;
    bool isSilent = false;
};

} // namespace

class ChaosProxy::Loop {
public:
    Loop(ChaosProxy& proxy, Descriptor listener, const Place& there, uint32_t seed)
        : m_proxy(proxy)
        , m_listener(std::move(listener))
        , m_there(addressOf(there))
        , m_random(seed) {}

    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            waitForSome();
            accept();
            std::erase_if(m_connections, [this](Connection& one) { return !serve(one); });
        }
    }

private:
    int64_t random(int64_t first, int64_t last) {
        return std::uniform_int_distribution<int64_t>(first, last)(m_random);
    }

    // Those that wait to be written are looked at whenever it wakes.
    void waitForSome() {
        std::vector<pollfd> all{{m_listener.get(), POLLIN, 0}};
        for (const Connection& one : m_connections)
            for (size_t end = 0; end < 2; ++end)
                if (!one.isSilent && canRead(one.ways[end]))
                    all.push_back({one.ends[end].get(), POLLIN, 0});
        ::poll(all.data(), all.size(), kLookMs);
    }

    static bool canRead(const Direction& way) {
        return !way.isOver && way.waiting.size() < kMostWaiting;
    }

    void accept() {
        Descriptor near(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!near)
            return;
        Descriptor far = newSocket();
        // Near by: it is refused or accepted at once.
        if (::connect(far.get(), reinterpret_cast<const sockaddr*>(&m_there), sizeof m_there) != 0)
            return;
        Connection& one = m_connections.emplace_back();
        one.ends = {std::move(near), std::move(far)};
    }

    /// False: it has ended.
    bool serve(Connection& one) {
        if (m_proxy.m_isHostile && !one.hasFate)
            decide(one);
        if (one.isSilent)
            return !isLeft(one);
        for (size_t end = 0; end < 2; ++end) {
            if (canRead(one.ways[end]) && !read(one, end))
                return false;
            if (!write(one, end))
                return false;
            if (m_proxy.m_isHostile && one.hasFate && one.bytesLeft <= 0)
                return strike(one);
        }
        return !(one.ways[0].isOver && one.ways[1].isOver);
    }

    void decide(Connection& one) {
        one.hasFate = true;
        if (m_fates.empty()) {
            m_fates = {End::kClosed, End::kReset, End::kSilent};
            std::ranges::shuffle(m_fates, m_random);
        }
        one.fate = m_fates.back();
        m_fates.pop_back();
        const double share = std::uniform_real_distribution<double>(0, 1)(m_random);
        one.bytesLeft = std::llround(kLeastBytes * std::pow(kMostBytes / kLeastBytes, share));
    }

    bool strike(Connection& one) {
        ++m_proxy.m_ended[static_cast<size_t>(one.fate)];
        if (one.fate == End::kSilent)
            return one.isSilent = true;
        const linger atOnce{one.fate == End::kReset, 0};
        for (const Descriptor& end : one.ends)
            ::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &atOnce, sizeof atOnce);
        return false;
    }

    /// Whether either end has given up a connection on which nothing comes.
    static bool isLeft(const Connection& one) {
        for (const Descriptor& end : one.ends) {
            pollfd state{end.get(), POLLRDHUP, 0};
            if (::poll(&state, 1, 0) > 0)
                return true;
        }
        return false;
    }

    bool read(Connection& one, size_t end) {
        std::vector<char> bytes(static_cast<size_t>(random(1, kMostPiece)));
        const ssize_t got = ::recv(one.ends[end].get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR;
        one.ways[end].isOver = got == 0;
        bytes.resize(static_cast<size_t>(got));
        const int64_t delay = m_proxy.m_isHostile ? random(0, kMostDelayNs) : 0;
        if (got > 0)
            one.ways[end].waiting.push_back({std::move(bytes), monotonicNowNs() + delay});
        return true;
    }

    bool write(Connection& one, size_t end) {
        Direction& way = one.ways[end];
        const int to = one.ends[1 - end].get();
        while (!way.waiting.empty() && way.waiting.front().dueNs <= monotonicNowNs()) {
            std::vector<char>& bytes = way.waiting.front().bytes;
            const size_t size = one.hasFate && m_proxy.m_isHostile
                                    ? std::min(bytes.size(), static_cast<size_t>(one.bytesLeft))
                                    : bytes.size();
            const ssize_t sent = ::send(to, bytes.data(), size, MSG_DONTWAIT | MSG_NOSIGNAL);
            if (sent < 0)
                return errno == EAGAIN || errno == EINTR;
            one.bytesLeft -= sent;
            bytes.erase(bytes.begin(), bytes.begin() + sent);
            if (bytes.empty())
                way.waiting.pop_front();
            if (one.hasFate && one.bytesLeft <= 0)
                return true;
        }
        if (way.isOver && way.waiting.empty())
            ::shutdown(to, SHUT_WR);
        return true;
    }

    ChaosProxy& m_proxy;
    Descriptor m_listener;
    sockaddr_in m_there;
    std::mt19937 m_random;
    std::vector<End> m_fates; ///< of the next connections: no kind is long in coming
    std::list<Connection> m_connections;
};

Result<std::unique_ptr<ChaosProxy>> ChaosProxy::start(const std::string& space, const Place& here,
                                                      const Place& there, uint32_t seed) {
    std::unique_ptr<ChaosProxy> proxy(new ChaosProxy);
    std::promise<Result<void>> isThere;
    auto answer = isThere.get_future();
    // A thread of its own, as it stays in that namespace.
    proxy->m_thread = std::jthread([self = proxy.get(), space, here, there, seed,
                                    isThere = std::move(isThere)](std::stop_token stop) mutable {
        auto listener = listenIn(space, here);
        const bool isListening = listener.has_value();
        isThere.set_value(isListening ? Result<void>() : tl::unexpected(listener.error()));
        if (isListening)
            Loop(*self, std::move(*listener), there, seed).run(stop);
    });
    RM_RETURN_IF_ERROR(answer.get());
    return proxy;
}

ChaosProxy::~ChaosProxy() = default;

} // namespace rm::torture
