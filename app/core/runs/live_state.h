// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/progress.h"
#include "shared/wire/messages.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The live side of a run: what the links say right now. Never stored.
/// It holds the newest RunState of each node; what the database has of the run is in RunSummary,
/// which outlives this.
struct LiveState {
    enum class Link {
        kNone,
        kConnecting,
        kLive,
        kLost, ///< being retried
        /// Login refused: retried once a check of the node succeeds, and by itself where its host
        /// key is not the right one, as no login is tried then.
        kRefused,
        /// It answers, but what it sends cannot be stored on this computer, whose disk is full:
        /// being retried.
        kUnstored,
        /// It answers, but says that nothing of the run is there, where something was: being
        /// retried, as a folder may be away for a moment, or a name lead to another machine.
        kMissing,
    };
    struct NodeLink {
        std::string node;
        Link link = Link::kNone;
        QString why;             ///< kLost, kRefused, kUnstored, kMissing: the error in words
        int64_t lostSinceNs = 0; ///< kLost, kRefused, kMissing
        std::optional<RunState> state;
        int64_t heardNs = 0; ///< when it was last heard from; 0: never
    };
    std::vector<NodeLink> nodes;
    /// Command in flight: "pausing, 3 of 4 ranks" is made of it and the ranks' phases. While
    /// `launching`: kStop once the launch is cancelled.
    std::optional<CommandKind> pending;
    int64_t pendingSinceNs = 0; ///< CLOCK_MONOTONIC
    bool held = false;
    /// How far its launch is; set while this process launches it and its ranks do not train yet.
    std::optional<Progress> launching;
};

/// Nothing is heard of the run through such a link, which is tried again by itself.
inline bool isRetried(LiveState::Link link) {
    return link == LiveState::Link::kLost || link == LiveState::Link::kMissing;
}

/// Nothing is heard of the run through such a link.
inline bool isDown(LiveState::Link link) {
    return isRetried(link) || link == LiveState::Link::kRefused;
}

/// Whether ranks of the newest attempt there run.
bool livesOn(const RunState& state);

/// Since when an unreachable node has not been heard from.
int64_t unreachableSinceNs(const LiveState::NodeLink& link);

/// How long a command is kept for a node that cannot be reached: an older one is not sent any more,
/// as a person who has forgotten it must not be surprised. A kill that was done on a node of the
/// run already is sent to the others whenever they can be reached.
inline constexpr int64_t kCommandKeptNs = 3600 * int64_t{1'000'000'000};

} // namespace rm
