// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/control/order.h"

#include "shared/spec/run_spec.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace rm {
namespace {

enum Word : size_t { kPreempts, kKind, kSteps, kHas, kLr, kClip, kLogEvery, kShut };
constexpr int64_t kHasLr = 1;
constexpr int64_t kHasClip = 2;
constexpr int64_t kHasLogEvery = 4;

std::string quoted(const std::string& key, const std::string& value) {
    return key + " = \"" + value + "\"";
}

Result<double> numberIn(const std::string& key, const std::string& value, double min, double max) {
    double number = 0;
    const char* end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end)
        return fail(ErrorCode::kInvalid, quoted(key, value) + ": not a number");
    if (!(number >= min && number <= max)) {
        char bounds[80];
        std::snprintf(bounds, sizeof bounds, ": allowed is %g to %g", min, max);
        return fail(ErrorCode::kInvalid, quoted(key, value) + bounds);
    }
    return number;
}

Result<void> parseSetting(Order& order, const std::string& key, const std::string& value) {
    const auto schema = specSchema();
    const auto field = std::find_if(schema.begin(), schema.end(),
                                    [&](const SpecField& one) { return one.key == key; });
    const bool known = key == "optimizer.lr" || key == "optimizer.clip" || key == "train.log_every";
    if (!known || field == schema.end())
        return fail(ErrorCode::kInvalid, key + " cannot be set while a run trains; possible are "
                                               "optimizer.lr, optimizer.clip, train.log_every");
    const auto number = numberIn(key, value, field->min, field->max);
    if (!number)
        return tl::unexpected(number.error());
    if (key == "optimizer.lr")
        order.lr = *number;
    else if (key == "optimizer.clip")
        order.clip = *number;
    else
        order.logEvery = static_cast<int64_t>(*number);
    return {};
}

Result<Order> parseSet(const Command& command) {
    Order order;
    order.kind = CommandKind::kSet;
    for (const auto& [key, value] : command.args)
        if (const auto parsed = parseSetting(order, key, value); !parsed)
            return tl::unexpected(parsed.error());
    if (command.args.empty())
        return fail(ErrorCode::kInvalid, "nothing to set");
    return order;
}

Result<Order> parseStep(const Command& command) {
    constexpr double kMaxSteps = 1e12;
    Order order;
    order.kind = CommandKind::kStep;
    order.steps = 1;
    for (const auto& [key, value] : command.args) {
        if (key != "steps")
            return fail(ErrorCode::kInvalid, "unknown argument " + quoted(key, value));
        const auto number = numberIn(key, value, 1, kMaxSteps);
        if (!number)
            return tl::unexpected(number.error());
        order.steps = static_cast<int64_t>(*number);
    }
    return order;
}

} // namespace

Result<Order> parseOrder(const Command& command) {
    switch (command.kind) {
    case CommandKind::kSet:
        return parseSet(command);
    case CommandKind::kStep:
        return parseStep(command);
    case CommandKind::kHold:
    case CommandKind::kContinue:
    case CommandKind::kPause:
    case CommandKind::kCheckpoint:
    case CommandKind::kValidate:
    case CommandKind::kSample:
    case CommandKind::kStop: {
        Order order;
        order.kind = command.kind;
        return order;
    }
    case CommandKind::kKill:
        break; // the agents' business
    }
    return fail(ErrorCode::kInvalid,
                std::string(commandKindName(command.kind)) + ": not a command for ranks");
}

OrderWords packOrder(const Order& order) {
    OrderWords words{};
    words[kPreempts] = order.preempt ? 1 : 0;
    words[kShut] = order.shut ? 1 : 0;
    words[kKind] = order.kind ? static_cast<int64_t>(*order.kind) + 1 : 0;
    words[kSteps] = order.steps;
    words[kHas] =
        (order.lr ? kHasLr : 0) | (order.clip ? kHasClip : 0) | (order.logEvery ? kHasLogEvery : 0);
    words[kLr] = std::bit_cast<int64_t>(order.lr.value_or(0.0));
    words[kClip] = std::bit_cast<int64_t>(order.clip.value_or(0.0));
    words[kLogEvery] = order.logEvery.value_or(0);
    return words;
}

Order unpackOrder(const OrderWords& words) {
    Order order;
    order.preempt = words[kPreempts] > 0;
    order.shut = words[kShut] > 0;
    if (words[kKind] > 0)
        order.kind = static_cast<CommandKind>(words[kKind] - 1);
    order.steps = words[kSteps];
    if (words[kHas] & kHasLr)
        order.lr = std::bit_cast<double>(words[kLr]);
    if (words[kHas] & kHasClip)
        order.clip = std::bit_cast<double>(words[kClip]);
    if (words[kHas] & kHasLogEvery)
        order.logEvery = words[kLogEvery];
    return order;
}

} // namespace rm
