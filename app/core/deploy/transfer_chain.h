// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/receive.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace rm {

/// Who gets a tree from whom when several nodes lack it: the first from this computer, each of the
/// others from the one before it in the chain, which passes on what it gets. Nodes that have the
/// tree already come first, so that this computer need not send it at all. A node that loses the
/// one before it goes on with those further ahead, and with this computer when none is left or the
/// first two that it tried could not be reached. Shared by the threads of the nodes; thread-safe.
class TransferChain {
public:
    using Clock = std::chrono::steady_clock;
    /// So long the first wait for the others to say what they have.
    static constexpr std::chrono::seconds kGather{3};
    /// Behind the one before it by so much, a node is too slow to pass things on; and so long
    /// nothing may come from one that has it all.
    static constexpr std::chrono::seconds kSlow{10};

    struct Party {
        std::string name;
        std::vector<std::string> addresses; ///< by which other nodes may reach it
    };
    struct Source {
        size_t node = 0;
        std::string name;
        Fetch fetch;
    };

    explicit TransferChain(std::vector<Party> parties,
                           std::function<Clock::time_point()> now = &Clock::now);

    const Serve& order() const { return m_order; } ///< the key of this transfer

    /// `node` serves at `port` (0: will, when asked to) and has `held` bytes of the tree.
    void join(size_t node, int port, int64_t held, bool isWhole);
    void progress(size_t node, int64_t held);
    /// Where to get the rest: none means from this computer. Blocks for kGather, or until a node
    /// serves that was asked to.
    std::optional<Source> sourceFor(size_t node, const std::stop_token& stop);
    /// Its source is too slow while another would do.
    bool isSourceSlow(size_t node) const;
    /// `node` will not ask its source again. `gained`: bytes that came from it.
    void leaveSource(size_t node, int64_t gained);
    /// It has the tree now, or, where it gave up, nobody gets anything from it.
    void finish(size_t node, bool isWhole);
    /// Blocks until all that joined have finished, and for kGather for others; or until `node` is
    /// to serve: then true. (Others may wait behind a transfer that waits for this one.)
    bool isToServe(size_t node, const std::stop_token& stop);
    /// It will not serve any more.
    void leave(size_t node);

private:
    struct Moment {
        Clock::time_point when;
        int64_t held = 0;
    };
    struct Member {
        Party party;
        bool hasJoined = false;
        bool isOver = false;      ///< nothing will change about it any more
        bool isWhole = false;     ///< it has all of the tree
        bool isRequested = false; ///< to serve
        bool hasLeft = false;
        int port = 0;
        int unreached = 0; ///< sources from which nothing came
        std::optional<size_t> source;
        Clock::time_point sourceSince; ///< when it got that one
        std::set<size_t> left;         ///< sources that it will not ask again
        std::vector<Moment> history;   ///< of what it holds
    };
    bool canServe(const Member& member) const;
    void place(size_t node);
    std::optional<size_t> nearestAhead(size_t node) const;
    void remember(Member& member, int64_t held);
    bool isSlow(const Member& member, const Member& ahead) const;
    bool standsStill(const Member& member) const;

    const std::function<Clock::time_point()> m_now;
    const Serve m_order;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::vector<Member> m_members;
    std::vector<size_t> m_line; ///< the chain so far
};

/// The place of one node in a chain, on its thread. Gives it up when destroyed, unless it finished.
class ChainPlace {
public:
    ChainPlace(std::shared_ptr<TransferChain> chain, size_t node)
        : m_chain(std::move(chain))
        , m_node(node) {}
    ~ChainPlace() {
        if (!m_isFinished)
            m_chain->finish(m_node, false);
    }
    ChainPlace(const ChainPlace&) = delete;
    ChainPlace& operator=(const ChainPlace&) = delete;

    TransferChain& chain() { return *m_chain; }
    size_t node() const { return m_node; }
    void finish() {
        m_isFinished = true;
        m_chain->finish(m_node, true);
    }

private:
    std::shared_ptr<TransferChain> m_chain;
    size_t m_node;
    bool m_isFinished = false;
};

} // namespace rm
