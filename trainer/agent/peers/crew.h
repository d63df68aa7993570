// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/spec/node_plan.h"
#include "shared/spec/run_spec.h"
#include "trainer/agent/peers/peer_message.h"

#include <asio/io_context.hpp>

#include <memory>
#include <optional>
#include <string>

namespace rm {

/// The beginning of the ids of pauses that the leader itself asks for.
inline constexpr const char* kRegroup = "regroup-";

/// The orders of the run's leader that a node carries out.
class CrewTarget {
public:
    virtual ~CrewTarget() = default;
    virtual void endAttempt(const EndOrder& order) = 0;
    virtual void startAttempt(const StartOrder& order) = 0;
    /// The attempt that has ended is to be followed by another one.
    virtual void awaitAttempt() = 0;
    virtual void leave(const OverOrder& order) = 0;
    /// Rank 0 is to pause all ranks.
    virtual void pauseRanks(const std::string& commandId) = 0;
    /// Whether rank 0 has applied that command.
    virtual bool hasDone(const std::string& commandId) = 0;
    virtual void journal(const Record& record) = 0;
    /// Instead of startAttempt(): the attempt ended before it began.
    virtual void failAttempt(const StartOrder& order, const Error& why) = 0;
};

/// A node's place among those of its run: the agent of node 0 leads, the others follow it; on one
/// node, it leads itself. Belongs to one event loop.
class Crew {
public:
    virtual ~Crew() = default;

    /// `plan` is that of the attempt which runs now.
    static std::unique_ptr<Crew> make(asio::io_context& io, const NodePlan& plan,
                                      const RunSpec& spec, CrewTarget& target);

    /// How this node's ranks are; at every change, and each second.
    virtual void onStatus(const PeerStatus& own) = 0;
    /// Acts on what has come; each second, and when a deadline has come.
    virtual void tick(int64_t nowNs) = 0;
    virtual std::optional<int64_t> nextDeadline() const { return std::nullopt; }
    /// A person ends the run while none of this node's ranks lives. `how`: what its end says of it.
    virtual void ask(Outcome outcome, const std::string& how) = 0;
    /// The ranks have obeyed a person who ended the run; they may have failed after that.
    virtual void onObeyed(Outcome, const std::string&) {}
    /// A person asks the ranks to pause or to stop.
    virtual void onPersonRequest() {}
    /// After CrewTarget::leave(), with how the attempt ended: the newest checkpoint may still get
    /// its copy on another node, for which the other calls go on as long as isCopying().
    virtual void copyLast(const AttemptEnded&) {}
    virtual bool isCopying() const { return false; }
    virtual void giveUpCopy() {}
    virtual bool isFlushed() const { return true; }
};

} // namespace rm
