// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/control/order.h"

#include "shared/return_if_error.h"

#include <charconv>

namespace rm {
namespace {

constexpr int64_t kMaxSteps = 1'000'000'000'000;

Result<Order> parseSet(const Command& command) {
    Order order;
    order.kind = CommandKind::kSet;
    for (const auto& [key, value] : command.args) {
        RM_ASSIGN_OR_RETURN(const auto number, parseLiveSetting(key, value));
        order.set[key] = number;
    }
    if (command.args.empty())
        return fail(ErrorCode::kInvalid, "nothing to set");
    return order;
}

/// A command whose only argument is a number of steps: `usual` of them unless it is said.
Result<Order> parseSteps(const Command& command, int64_t usual, int64_t most) {
    Order order;
    order.kind = command.kind;
    order.steps = usual;
    for (const auto& [key, value] : command.args) {
        const char* end = value.data() + value.size();
        const auto parsed = std::from_chars(value.data(), end, order.steps);
        if (key != "steps" || parsed.ec != std::errc() || parsed.ptr != end || order.steps < 1 ||
            order.steps > most)
            return fail(ErrorCode::kInvalid,
                        std::string(commandKindName(command.kind)) + " with " + key + " = \"" +
                            value + "\": it takes steps = 1 to " + std::to_string(most));
    }
    return order;
}

} // namespace

Result<Order> parseOrder(const Command& command) {
    if (!isKnown(command.kind) || !rowOf(command.kind).isForRanks)
        return fail(ErrorCode::kInvalid,
                    std::string(commandKindName(command.kind)) + ": not a command for ranks");
    if (command.kind == CommandKind::kSet)
        return parseSet(command);
    if (command.kind == CommandKind::kStep)
        return parseSteps(command, 1, kMaxSteps);
    if (command.kind == CommandKind::kTrace)
        return parseSteps(command, kUsualTraceSteps, kMostTraceSteps);
    Order order;
    order.kind = command.kind;
    return order;
}

} // namespace rm
