// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A rank as seen from outside, by its board and its process.
struct SeenRank {
    int32_t rank = 0;
    int64_t step = 0;
    Phase phase = Phase::kStarting;
    bool isStopped = false; ///< by SIGSTOP or a debugger
    Board::Collectives main = {}, side = {};

    /// Collectives begun, in both groups. All ranks begin the same ones in the same order.
    uint64_t begun() const { return main.begun + side.begun; }
    /// Whether one that it began has not ended; nullopt: that is not known here.
    std::optional<bool> isWaiting() const;
};

/// Whether its work may take any time: it starts, is held, or is in a validation or a checkpoint,
/// unless it waits there for other ranks.
bool mayTakeLong(const SeenRank& rank);

SeenRank seenRank(int32_t rank, const Board::Status& status, bool isStopped);

/// Why ranks do not get on. A plain value that can be made of any set of ranks: those of a node, or
/// of all nodes.
struct Hang {
    enum class Cause {
        kStopped,  ///< the named ones are stopped processes
        kAbsent,   ///< the named ones did not come to a collective in which others are
        kBusy,     ///< the named ones wait for nobody, and are all in the same place
        kTransfer, ///< all came to a collective, but its bytes do not: the network
        kElsewhere ///< none of these ranks is to blame, as far as is known
    };
    Cause cause = Cause::kElsewhere;
    std::vector<SeenRank> named;   ///< the ranks to blame; one that waits is never among them
    std::optional<SeenRank> ahead; ///< one that has come farthest, if others have not
    int64_t step = 0;              ///< the last that all have done
    int64_t sinceNs = 0;           ///< CLOCK_MONOTONIC; when the last step ended
};

/// Names the ranks to blame if these ranks, at least one, do not get on.
Hang judgeHang(const std::vector<SeenRank>& ranks);

/// One sentence for a person: who, in what phase, and what the others wait for. `node`: the name of
/// the ranks' node.
std::string describeHang(const Hang& hang, const std::string& node, int64_t nowNs);

} // namespace rm
