// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/dial.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <array>
#include <optional>

namespace rm {

namespace {

constexpr int64_t kMostPort = 65535;
constexpr std::array kReachNames = {"untried",     "reached",     "refused",  "no-route",
                                    "rejected",    "dropped",     "stranger", "silent",
                                    "unreachable", "no-neighbour"};
constexpr std::array kLargeNames = {"untried", "passed", "lost-there", "lost-back"};

template <class Value, size_t count>
std::optional<Value> valueOfName(const std::array<const char*, count>& names,
                                 std::string_view name) {
    const auto found = std::ranges::find(names, name);
    return found == names.end() ? std::nullopt
                                : std::optional(static_cast<Value>(found - names.begin()));
}

std::optional<int64_t> portAt(const Json& object, const char* key, int64_t least) {
    const auto port = intAt(object, key);
    return port && *port >= least && *port <= kMostPort ? port : std::nullopt;
}

std::optional<DialTarget> dialTargetFrom(const Json& json) {
    const auto address = textAt(json, "address"), interface = textAt(json, "interface"),
               token = textAt(json, "token");
    const auto port = portAt(json, "port", 1), group = intAt(json, "group");
    const auto large = boolAt(json, "large");
    if (!address || !interface || !token || !port || !group || !large)
        return std::nullopt;
    return DialTarget{*address, *port, *interface, *token, *group, *large};
}

std::optional<DialAnswer> dialAnswerFrom(const Json& json) {
    const auto reach = reachOfName(textAt(json, "reach").value_or(""));
    const auto large = largePacketsOfName(textAt(json, "large_packets").value_or(""));
    const auto microseconds = intAt(json, "microseconds"), mtu = intAt(json, "mtu");
    const auto interface = textAt(json, "interface"), error = textAt(json, "error"),
               answeredBy = textAt(json, "answered_by");
    if (!reach || !large || !microseconds || !mtu || !interface || !error || !answeredBy)
        return std::nullopt;
    return DialAnswer{*reach, *large, *interface, *microseconds, *mtu, *error, *answeredBy};
}

} // namespace

std::string toJson(const OpenPorts& ports) {
    return dumpJson({{"port", ports.port},
                     {"next", ports.next},
                     {"samples", ports.samples},
                     {"range", {ports.rangeFirst, ports.rangeLast}},
                     {"token", ports.token}});
}

Result<OpenPorts> parseOpenPorts(const std::string& text) {
    RM_ASSIGN_OR_RETURN(const Json json, parseJson(text, "the agent's answer to listen"));
    const auto bad = [] {
        return fail(ErrorCode::kCorrupt, "listen: the agent's answer names no ports");
    };
    const auto port = portAt(json, "port", 1), next = portAt(json, "next", 0);
    const auto token = textAt(json, "token");
    const Json* samples = arrayAt(json, "samples");
    const Json* range = arrayAt(json, "range");
    if (!port || !next || !token || !samples || !range || range->size() != 2)
        return bad();
    OpenPorts ports{*port, *next, {}, 0, 0, *token};
    const auto isPort = [](const Json& item) {
        return item.is_number_integer() && item >= 0 && item <= kMostPort;
    };
    if (!std::ranges::all_of(*samples, isPort) || !std::ranges::all_of(*range, isPort))
        return bad();
    for (const Json& item : *samples)
        ports.samples.push_back(item.get<int64_t>());
    ports.rangeFirst = range->at(0).get<int64_t>();
    ports.rangeLast = range->at(1).get<int64_t>();
    return ports;
}

std::string toJson(const DialOrder& order) {
    Json targets = Json::array();
    for (const DialTarget& target : order.targets)
        targets.push_back({{"address", target.address},
                           {"port", target.port},
                           {"interface", target.interface},
                           {"token", target.token},
                           {"group", target.group},
                           {"large", target.large}});
    return dumpJson({{"targets", std::move(targets)}, {"settle_ms", order.settleMs}});
}

Result<DialOrder> parseDialOrder(const std::string& text) {
    RM_ASSIGN_OR_RETURN(const Json json, parseJson(text, "the order to dial"));
    const Json* targets = arrayAt(json, "targets");
    const auto settleMs = intAt(json, "settle_ms");
    if (!targets || !settleMs || *settleMs < -1 || targets->size() > kMostDials)
        return fail(ErrorCode::kInvalid, "dial: the order needs settle_ms and up to 8192 targets");
    DialOrder order{{}, *settleMs};
    for (const Json& item : *targets) {
        const auto target = dialTargetFrom(item);
        if (!target)
            return fail(ErrorCode::kInvalid, "dial: target " +
                                                 std::to_string(order.targets.size()) +
                                                 " lacks a part or has a port that is none");
        order.targets.push_back(*target);
    }
    return order;
}

std::string toJson(const std::vector<DialAnswer>& answers) {
    Json list = Json::array();
    for (const DialAnswer& answer : answers)
        list.push_back({{"reach", reachName(answer.reach)},
                        {"large_packets", largePacketsName(answer.large)},
                        {"interface", answer.interface},
                        {"microseconds", answer.microseconds},
                        {"mtu", answer.mtu},
                        {"error", answer.error},
                        {"answered_by", answer.answeredBy}});
    return dumpJson(list);
}

Result<std::vector<DialAnswer>> parseDialAnswers(const std::string& text, size_t count) {
    RM_ASSIGN_OR_RETURN(const Json json, parseJson(text, "the agent's answer to dial"));
    std::vector<DialAnswer> answers;
    if (json.is_array() && json.size() == count)
        for (const Json& item : json)
            if (const auto answer = dialAnswerFrom(item))
                answers.push_back(*answer);
    if (!json.is_array() || answers.size() != count)
        return fail(ErrorCode::kCorrupt, "dial: the agent did not answer for each of " +
                                             std::to_string(count) + " addresses");
    return answers;
}

const char* reachName(Reach reach) {
    return kReachNames[static_cast<size_t>(reach)];
}

std::optional<Reach> reachOfName(std::string_view name) {
    return valueOfName<Reach>(kReachNames, name);
}

const char* largePacketsName(LargePackets large) {
    return kLargeNames[static_cast<size_t>(large)];
}

std::optional<LargePackets> largePacketsOfName(std::string_view name) {
    return valueOfName<LargePackets>(kLargeNames, name);
}

std::string dialGreeting(const std::string& token) {
    return "ringmaster " + token + "\n";
}

} // namespace rm
