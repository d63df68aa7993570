// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace rm {

/// What a person, a rule or the run itself wants from a live run. Stored and sent: never renumber.
enum class CommandKind : uint8_t {
    kHold = 0,
    kContinue = 1,
    kStep = 2,  ///< args: "steps", at most kMostCommandSteps; then hold again
    kPause = 3, ///< checkpoint, exit, free the devices
    kCheckpoint = 4,
    kValidate = 5,
    kSample = 6,
    kSet = 7,    ///< args: live keys of the spec (shared/spec/live_settings.h) = value
    kStop = 8,   ///< end at the next boundary, without a checkpoint
    kKill = 9,   ///< SIGKILL by each node's agent
    kTrace = 10, ///< args: "steps", at most kMostTraceSteps; every rank records them
};

/// Steps of one kStep.
inline constexpr int64_t kMostCommandSteps = 1'000'000'000'000;

/// Steps of one trace, and how many it has unless it is said.
inline constexpr int64_t kMostTraceSteps = 200;
inline constexpr int64_t kUsualTraceSteps = 20;

/// What agents, ranks and app know of a kind of command.
struct CommandRow {
    CommandKind kind;
    const char* name;              ///< in files and on the command line
    const char* help;              ///< for the terminal, one line
    bool isForRanks = true;        ///< they obey it at a step boundary; false: the agents do it
    bool endsAttempt = false;      ///< the ranks end, for now or for good
    bool writesCheckpoint = false; ///< it needs room on the disk of the run's folder
    bool isAboutHolding = false;   ///< the last of these says whether the ranks hold
};

/// One row for each kind, in their order.
std::span<const CommandRow> commandRows();
/// `kind` is known.
const CommandRow& rowOf(CommandKind kind);
bool isKnown(CommandKind kind);

const char* commandKindName(CommandKind kind); ///< "hold", "continue", ...; "unknown"
std::optional<CommandKind> commandKindNamed(std::string_view name);

} // namespace rm
