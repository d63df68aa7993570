// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/live_state.h"

#include <string>
#include <vector>

namespace rm {

/// When a command takes longer than this, the person is told why.
inline constexpr int64_t kCommandPatienceNs = 3'000'000'000;

/// Which rank or unreachable node the run waits for: "rank 1 on node-b is behind: in forward after
/// step 47 for 12 s". Empty: all get on, or nothing is known.
std::string whoIsBehind(const LiveState& live);

/// Whether a node of the run cannot be reached: what its ranks do is not known, and the run may
/// well go on.
bool isAnyDown(const LiveState& live);

/// Why what a node of the run sends cannot be stored on this computer; empty: it can be.
std::string whyUnstored(const LiveState& live);

/// Why a command is not to be sent now. One that writes a checkpoint: the disk of a node's run
/// folder is full, so its answer could not be written either. A pause or stop: a rank cannot write
/// its journal, and would lose what it keeps in memory. Empty: it may be sent, or no rank lives.
std::string whyNotNow(const LiveState& live, CommandKind kind);

/// One line for each node whose disk is full, and for each rank that cannot write what it measures:
/// "rank 0 on node-a cannot write its journal: its disk is full (kept in memory, written when that
/// is mended)".
std::vector<std::string> journalProblems(const LiveState& live);

/// One line for each node whose link stands and that has not been heard of for some seconds, so
/// that what is known of its ranks is as old: it died, or its link is down, which is known after 10
/// s.
std::vector<std::string> silentNodes(const LiveState& live, int64_t wallNs);

/// Why the pending command has no effect yet and, if `requested` is another command, why that one
/// has none. Empty: no command is pending, or it is younger than kCommandPatienceNs. `nowNs`:
/// CLOCK_MONOTONIC. `wallNs`: as of silentNodes().
std::string commandDelay(const LiveState& live, int64_t nowNs, int64_t wallNs,
                         std::optional<CommandKind> requested = {});

/// What a person who waits for the pending command may do.
struct DelayAdvice {
    std::string words;
    bool isKill = false; ///< not while all ranks get on, or a node is silent
};
DelayAdvice delayAdvice(const LiveState& live, int64_t wallNs);

/// The run is held, isAnyDown(), or its ranks have been in one phase for much longer than a step
/// takes. A remaining time cannot be estimated then.
bool standsStill(const LiveState& live, double stepMs);

} // namespace rm
