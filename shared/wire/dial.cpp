// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/dial.h"

#include "shared/wire/network_fields.h"

#include <array>

namespace rm {

namespace {

constexpr std::array kReachNames = {"untried",     "reached",     "refused",  "no-route",
                                    "rejected",    "dropped",     "stranger", "silent",
                                    "unreachable", "no-neighbour"};
constexpr std::array kLargeNames = {"untried", "passed", "lost-there", "lost-back"};

/// nullptr: there is no such value.
template <class Value, size_t count>
const char* wordIn(const std::array<const char*, count>& words, Value value) {
    const auto at = static_cast<size_t>(value);
    return at < count ? words[at] : nullptr;
}

} // namespace

const char* jsonWord(Reach reach) {
    return wordIn(kReachNames, reach);
}

const char* jsonWord(LargePackets large) {
    return wordIn(kLargeNames, large);
}

template <Either<OpenPorts> T, class Visit>
void fields(T& ports, Visit&& visit) {
    portFields(ports, visit);
    visit("next", ports.next, within(0, 65535));
    visit("token", ports.token);
}

template <Either<DialTarget> T, class Visit>
void fields(T& target, Visit&& visit) {
    visit("address", target.address);
    visit("port", target.port, within(1, 65535));
    visit("interface", target.interface);
    visit("token", target.token);
    visit("group", target.group);
    visit("large", target.large);
}

template <Either<DialOrder> T, class Visit>
void fields(T& order, Visit&& visit) {
    visit("targets", order.targets, upTo(kMostDials));
    visit("settle_ms", order.settleMs, atLeast(-1));
}

std::string toJson(const OpenPorts& ports) {
    return dumpJson(writeFields(ports));
}

Result<OpenPorts> parseOpenPorts(const std::string& text) {
    return parseFields<OpenPorts>(text, "the agent's answer to listen");
}

std::string toJson(const DialOrder& order) {
    return dumpJson(writeFields(order));
}

Result<DialOrder> parseDialOrder(const std::string& text) {
    return parseFields<DialOrder>(text, "the order to dial").map_error([](Error error) {
        error.code = ErrorCode::kInvalid;
        return error;
    });
}

std::string toJson(const std::vector<DialAnswer>& answers) {
    return dumpJson(json_fields::write(answers));
}

Result<std::vector<DialAnswer>> parseDialAnswers(const std::string& text, size_t count) {
    const std::string source = "the agent's answer to dial";
    RM_ASSIGN_OR_RETURN(const Json json, parseJson(text, source));
    if (!json.is_array() || json.size() != count)
        return fail(ErrorCode::kCorrupt, "dial: the agent did not answer for each of " +
                                             std::to_string(count) + " addresses");
    std::vector<DialAnswer> answers;
    if (const auto fault = json_fields::faultIn(json, answers, FieldRule()))
        return fail(ErrorCode::kCorrupt, "read " + source + ": \"" + *fault + "\" makes no sense");
    return answers;
}

std::string dialGreeting(const std::string& token) {
    return "ringmaster " + token + "\n";
}

} // namespace rm
