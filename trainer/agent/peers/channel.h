// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/node_plan.h"
#include "trainer/agent/peers/copy_relay.h"
#include "trainer/agent/peers/peer_link.h"

#include <asio/io_context.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace rm {

/// The leader's end of the channel between the agents of a run: listens at NodePlan::agentPort of
/// NodePlan::masterAddr alone.
class LeaderChannel {
public:
    struct Handlers {
        std::function<void(const PeerStatus&)> status;
        std::function<void(int32_t node, const std::string& why)> lost;
        std::function<void(const FetchAnswer&)> copied = [](const FetchAnswer&) {};
    };

    LeaderChannel(asio::io_context& io, Handlers handlers);
    ~LeaderChannel();

    Result<void> listen(const NodePlan& plan);
    /// kUnavailable: it is not linked.
    Result<void> send(int32_t node, const PeerMessage& message);
    void sendToAll(const PeerMessage& message);
    /// Has one of the linked nodes, always the first, fetch that checkpoint of this node, the only
    /// one that is given out. kUnavailable: none is linked.
    Result<void> offer(const FetchOrder& order);
    bool isAlone() const { return m_links.empty(); } ///< nobody is linked (yet)
    bool isRelaying() const { return m_relay != nullptr; }
    void hurry(); ///< no rank trains any more: see CopyRelay
    /// About once a second: drops links that are silent, tells the others that it lives.
    void tick(int64_t nowNs);
    bool isFlushed() const;

private:
    using Link = std::shared_ptr<PeerLink>;
    void accept();
    void onAccepted(asio::ip::tcp::socket socket);
    void onMessage(const Link& from, const PeerMessage& message);
    void onFetchRequest(const Link& from, const FetchRequest& request);
    void endRelay();
    void onClosed(const Link& link, const std::string& why);

    asio::io_context& m_io;
    asio::ip::tcp::acceptor m_acceptor;
    bool m_isAccepting = false;
    std::unique_ptr<asio::ssl::context> m_tls;
    Handlers m_handlers;
    int64_t m_nodes = 1;
    std::set<Link> m_strangers; ///< links that have not said yet which node they are
    std::map<int32_t, Link> m_links;
    std::string m_offered; ///< path of the checkpoint that may be fetched
    Link m_fetching;
    std::unique_ptr<CopyRelay> m_relay; ///< sends to m_fetching
    bool m_hurries = false;
};

/// A follower's end of the channel: connects to the leader, again and again.
class PeerChannel {
public:
    struct Handlers {
        std::function<void()> opened;
        std::function<void(const PeerMessage&)> order;
        std::function<void(const std::string& why)> lost;
    };

    PeerChannel(asio::io_context& io, Handlers handlers);
    ~PeerChannel();

    Result<void> begin(const NodePlan& plan);
    bool isOpen() const { return m_isOpen; }
    void send(const PeerMessage& message);
    /// About once a second.
    void tick(int64_t nowNs);
    bool isFlushed() const;

private:
    void connect(int64_t nowNs);

    asio::io_context& m_io;
    std::unique_ptr<asio::ssl::context> m_tls;
    Handlers m_handlers;
    asio::ip::tcp::endpoint m_leader;
    std::shared_ptr<PeerLink> m_link; ///< null: to be connected by the next tick
    bool m_isOpen = false;
};

} // namespace rm
