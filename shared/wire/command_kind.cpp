// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/command_kind.h"

#include <algorithm>
#include <cstddef>

namespace rm {
namespace {

using enum CommandKind;

constexpr CommandRow kRows[] = {
    {.kind = kHold,
     .name = "hold",
     .help = "Hold all ranks at the next step; the devices stay taken",
     .isAboutHolding = true},
    {.kind = kContinue, .name = "continue", .help = "Go on after hold", .isAboutHolding = true},
    {.kind = kStep,
     .name = "step",
     .help = "While held: do N steps and hold again",
     .isAboutHolding = true},
    {.kind = kPause,
     .name = "pause",
     .help = "Checkpoint, end the ranks and free the devices",
     .endsAttempt = true,
     .writesCheckpoint = true},
    {.kind = kCheckpoint,
     .name = "checkpoint",
     .help = "Write a checkpoint at the next step",
     .writesCheckpoint = true},
    {.kind = kValidate, .name = "validate", .help = "Validate at the next step"},
    {.kind = kSample, .name = "sample", .help = "Generate a sample at the next step"},
    {.kind = kSet,
     .name = "set",
     .help = "Change a setting of a live run",
     .writesCheckpoint = true}, // of what it was before
    {.kind = kStop,
     .name = "stop",
     .help = "End the run at the next step, without a checkpoint",
     .endsAttempt = true},
    {.kind = kKill,
     .name = "kill",
     .help = "End the ranks at once, also hanging ones",
     .isForRanks = false,
     .endsAttempt = true},
    {.kind = kTrace, .name = "trace", .help = "Record what every rank does in the next steps"},
};

} // namespace

std::span<const CommandRow> commandRows() {
    return kRows;
}

const CommandRow& rowOf(CommandKind kind) {
    return kRows[static_cast<size_t>(kind)];
}

bool isKnown(CommandKind kind) {
    return static_cast<size_t>(kind) < std::size(kRows);
}

const char* commandKindName(CommandKind kind) {
    return isKnown(kind) ? rowOf(kind).name : "unknown";
}

std::optional<CommandKind> commandKindNamed(std::string_view name) {
    const auto* found = std::ranges::find(kRows, name, &CommandRow::name);
    return found == std::end(kRows) ? std::nullopt : std::optional(found->kind);
}

} // namespace rm
