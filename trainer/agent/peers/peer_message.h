// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"
#include "shared/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rm {

/// The messages between the agents of a run: JSON objects with a "type", each in one frame of
/// shared/io/frame.h, of at most kMaxPeerMessage bytes. A key that is not known is passed over.
inline constexpr size_t kMaxPeerMessage = 16 * 1024;

/// To the leader each second and on change: the state of a node's ranks.
struct PeerStatus {
    static constexpr const char* kType = "status";
    int32_t node = 0;
    int32_t ranks = 1;      ///< that the node has, or will have
    int32_t attempt = 0;    ///< the one that this tells of
    bool isFailing = false; ///< a rank has failed, and the others are being ended
    bool hasObeyed = false; ///< one ended as it was asked to: the run is not restarted
    bool hasEnded = true;   ///< none of its ranks lives; `end` says how
    AttemptEnded end;
    int64_t step = 0;       ///< the least that one of its ranks has done
    int64_t patienceNs = 0; ///< for one step, by the steps before it
    bool isBusy = false;    ///< one of them mayTakeLong()
    /// Its ranks do not get on (HangWatch). `culprit` -1: none of them is to blame as far as one
    /// can see there.
    struct Hang {
        bool isNoticed = false;
        bool isSure = false; ///< the rank's process is stopped
        int32_t culprit = -1;
        int64_t times = 0; ///< how often the limit has passed
        std::string why;
        bool operator==(const Hang&) const = default;
    } hang;
    /// The node can begin no attempt any more, as its part of the run was removed: in words, for
    /// people. Empty: it can. An agent of an earlier release does not tell it.
    std::string whyGone;
    bool operator==(const PeerStatus&) const = default;
};

/// From the leader: begin an attempt.
struct StartOrder {
    static constexpr const char* kType = "start";
    int32_t attempt = 1;
    std::vector<int32_t> members; ///< nodes that take part
    int32_t firstRank = 0;        ///< of the node that gets this
    int32_t worldSize = 1;
    int32_t masterPort = 0;
    std::string startFrom;
    bool startFromIsExact = false; ///< see NodePlan
    std::string storeNonce;
    int64_t restartsInARow = 0; ///< see NodePlan
    int64_t reachedStep = 0;    ///< see NodePlan
    bool operator==(const StartOrder&) const = default;
};

/// From the leader: end the ranks of that attempt.
struct EndOrder {
    static constexpr const char* kType = "end";
    int32_t attempt = 1;
    bool kill = false;
    std::string why;
    bool operator==(const EndOrder&) const = default;
};

/// From the leader: another attempt will follow when it can.
struct WaitOrder {
    static constexpr const char* kType = "wait";
    int32_t attempt = 1; ///< the one that has ended
    bool operator==(const WaitOrder&) const = default;
};

/// From the leader: there will be no other attempt.
struct OverOrder {
    static constexpr const char* kType = "over";
    std::optional<Outcome> outcome; ///< that a person asked for since the last one ended
    std::string why;                ///< how they asked, or why it does not go on; may be empty
    bool operator==(const OverOrder&) const = default;
};

/// From the leader each second.
struct LeaderAlive {
    static constexpr const char* kType = "alive";
    bool operator==(const LeaderAlive&) const = default;
};

/// From the leader: fetch that checkpoint from its node, so that it outlives that node.
struct FetchOrder {
    static constexpr const char* kType = "copy";
    std::string path; ///< absolute, there
    int32_t attempt = 1;
    int64_t step = 0;
    bool operator==(const FetchOrder&) const = default;
};

/// To the leader, as the first message on a connection of its own, on which frames of
/// shared/wire/CHECKPOINT.md follow.
struct FetchRequest {
    static constexpr const char* kType = "fetch";
    std::string path; ///< of the FetchOrder
    bool operator==(const FetchRequest&) const = default;
};

/// To the leader: how a FetchOrder ended.
struct FetchAnswer {
    static constexpr const char* kType = "copied";
    std::string path;
    std::string problem; ///< empty: the copy is there
    bool operator==(const FetchAnswer&) const = default;
};

using PeerMessage = std::variant<PeerStatus, StartOrder, EndOrder, WaitOrder, OverOrder,
                                 LeaderAlive, FetchOrder, FetchRequest, FetchAnswer>;

std::string encodePeerMessage(const PeerMessage& message);

/// kCorrupt: end the connection. kTooNew: a type that this release does not know, to be skipped.
Result<PeerMessage> parsePeerMessage(std::string_view text);

} // namespace rm
