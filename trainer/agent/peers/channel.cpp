// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/channel.h"

#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "trainer/agent/peers/tls.h"

#include <asio/ip/address.hpp>
#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace rm {

namespace {

using asio::ip::tcp;

constexpr size_t kMostStrangers = 64;

Result<tcp::endpoint> leaderOf(const NodePlan& plan) {
    asio::error_code error;
    const auto address = asio::ip::make_address(plan.masterAddr, error);
    if (error)
        return fail(ErrorCode::kInvalid,
                    "talk to the run's other agents: " + plan.masterAddr + " is no address");
    return tcp::endpoint(address, static_cast<uint16_t>(plan.agentPort));
}

} // namespace

LeaderChannel::LeaderChannel(asio::io_context& io, Handlers handlers)
    : m_io(io)
    , m_acceptor(io)
    , m_handlers(std::move(handlers)) {}

LeaderChannel::~LeaderChannel() {
    for (const Link& link : m_strangers)
        link->drop();
    for (const auto& [node, link] : m_links)
        link->drop();
}

Result<void> LeaderChannel::listen(const NodePlan& plan) {
    RM_ASSIGN_OR_RETURN(m_tls, makeRunTls(plan.runId, plan.agentKey));
    RM_ASSIGN_OR_RETURN(const tcp::endpoint at, leaderOf(plan));
    m_nodes = plan.nodes();
    asio::error_code error;
    m_acceptor.open(at.protocol(), error);
    if (!error)
        m_acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && ::fcntl(m_acceptor.native_handle(), F_SETFD, FD_CLOEXEC) != 0)
        error = asio::error_code(errno, asio::error::get_system_category());
    if (!error)
        m_acceptor.bind(at, error);
    if (!error)
        m_acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
        asio::error_code ignored;
        m_acceptor.close(ignored);
        return failErrno("listen for the run's other agents on " + plan.masterAddr + " port " +
                             std::to_string(plan.agentPort),
                         error.value());
    }
    accept();
    return {};
}

void LeaderChannel::accept() {
    m_isAccepting = true;
    m_acceptor.async_accept([this](asio::error_code error, tcp::socket socket) {
        if (error == asio::error::operation_aborted)
            return; // this channel is gone, though its loop is not
        m_isAccepting = !error;
        if (error)
            return; // tick() tries again: it may be that there are too many open files
        onAccepted(std::move(socket));
        accept();
    });
}

void LeaderChannel::onAccepted(tcp::socket socket) {
    if (m_strangers.size() >= kMostStrangers)
        return;
    const auto link = std::make_shared<PeerLink>(std::move(socket), *m_tls);
    m_strangers.insert(link);
    std::weak_ptr<PeerLink> weak = link;
    const auto withLink = [weak](auto&& then) {
        if (const Link held = weak.lock())
            then(held);
    };
    link->accept({[] {},
                  [this, withLink](const PeerMessage& message) {
                      withLink([&](const Link& from) { onMessage(from, message); });
                  },
                  [this, withLink](const std::string& why) {
                      withLink([&](const Link& closed) { onClosed(closed, why); });
                  },
                  [this, withLink] {
                      withLink([&](const Link& drained) {
                          if (m_relay && m_fetching == drained)
                              m_relay->onDrained(monotonicNowNs());
                      });
                  }},
                 monotonicNowNs());
}

void LeaderChannel::onMessage(const Link& from, const PeerMessage& message) {
    if (const auto* request = std::get_if<FetchRequest>(&message))
        return onFetchRequest(from, *request);
    const bool isLinked =
        std::ranges::any_of(m_links, [&](const auto& entry) { return entry.second == from; });
    if (const auto* answer = std::get_if<FetchAnswer>(&message); answer && isLinked)
        return m_handlers.copied(*answer);
    const auto* status = std::get_if<PeerStatus>(&message);
    if (!status || status->node < 1 || status->node >= m_nodes)
        return;
    if (m_strangers.erase(from) > 0) {
        // One that connects anew has noticed before us that its link was cut.
        if (const Link old = std::exchange(m_links[status->node], from))
            old->drop();
    } else if (const auto known = m_links.find(status->node);
               known == m_links.end() || known->second != from) {
        return;
    }
    m_handlers.status(*status);
}

/// From then on the link is the relay's.
void LeaderChannel::onFetchRequest(const Link& from, const FetchRequest& request) {
    if (m_strangers.erase(from) == 0 || m_offered.empty() || request.path != m_offered)
        return from->drop();
    m_relay = std::make_unique<CopyRelay>(m_io, from);
    m_fetching = from;
    if (m_hurries)
        m_relay->hurry();
    if (!m_relay->begin(request.path, monotonicNowNs()))
        endRelay();
}

void LeaderChannel::endRelay() {
    m_fetching.reset();
    m_relay.reset();
}

void LeaderChannel::hurry() {
    m_hurries = true;
    if (m_relay)
        m_relay->hurry();
}

Result<void> LeaderChannel::offer(const FetchOrder& order) {
    if (m_links.empty())
        return fail(ErrorCode::kUnavailable, "no other agent can be reached");
    m_offered = order.path;
    return send(m_links.begin()->first, order);
}

void LeaderChannel::onClosed(const Link& link, const std::string& why) {
    m_strangers.erase(link);
    if (link == m_fetching)
        return endRelay();
    const auto found =
        std::ranges::find_if(m_links, [&](const auto& entry) { return entry.second == link; });
    if (found == m_links.end())
        return;
    const int32_t node = found->first;
    m_links.erase(found);
    m_handlers.lost(node, why);
}

Result<void> LeaderChannel::send(int32_t node, const PeerMessage& message) {
    const auto found = m_links.find(node);
    if (found == m_links.end())
        return fail(ErrorCode::kUnavailable, "the agent cannot be reached");
    const Link link = found->second;
    link->send(message);
    return {};
}

void LeaderChannel::sendToAll(const PeerMessage& message) {
    const auto links = m_links; // sending may close one
    for (const auto& [node, link] : links)
        link->send(message);
}

void LeaderChannel::tick(int64_t nowNs) {
    if (m_acceptor.is_open() && !m_isAccepting)
        accept();
    if (m_relay && m_relay->isOver(nowNs))
        endRelay();
    const auto strangers = m_strangers;
    for (const Link& link : strangers)
        link->tick(nowNs);
    const auto links = m_links;
    for (const auto& [node, link] : links)
        link->tick(nowNs);
    sendToAll(LeaderAlive{});
}

bool LeaderChannel::isFlushed() const {
    return std::ranges::all_of(m_links,
                               [](const auto& entry) { return entry.second->isFlushed(); });
}

PeerChannel::PeerChannel(asio::io_context& io, Handlers handlers)
    : m_io(io)
    , m_handlers(std::move(handlers)) {}

PeerChannel::~PeerChannel() {
    if (m_link)
        m_link->drop();
}

Result<void> PeerChannel::begin(const NodePlan& plan) {
    RM_ASSIGN_OR_RETURN(m_tls, makeRunTls(plan.runId, plan.agentKey));
    RM_ASSIGN_OR_RETURN(m_leader, leaderOf(plan));
    connect(monotonicNowNs());
    return {};
}

void PeerChannel::connect(int64_t nowNs) {
    if (!m_tls)
        return;
    m_link = std::make_shared<PeerLink>(tcp::socket(m_io), *m_tls);
    m_link->connect(m_leader,
                    {[this] {
                         m_isOpen = true;
                         m_handlers.opened();
                     },
                     [this](const PeerMessage& message) { m_handlers.order(message); },
                     [this](const std::string& why) {
                         m_link.reset();
                         if (std::exchange(m_isOpen, false))
                             m_handlers.lost(why);
                     }},
                    nowNs);
}

void PeerChannel::send(const PeerMessage& message) {
    if (m_link)
        m_link->send(message);
}

void PeerChannel::tick(int64_t nowNs) {
    if (m_link) {
        const auto link = m_link; // tick() may let go of it
        link->tick(nowNs);
    } else {
        connect(nowNs);
    }
}

bool PeerChannel::isFlushed() const {
    return !m_link || m_link->isFlushed();
}

} // namespace rm
