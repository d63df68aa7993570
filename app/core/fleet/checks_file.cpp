// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/checks_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace rm {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kVersion = 2;
constexpr int kVersionOfThreeTexts = 1; ///< a row was [state, title, detail]

OrderedJson rowJson(const CheckRow& row) {
    OrderedJson out = {{"id", row.id},       {"state", static_cast<int>(row.state)},
                       {"title", row.title}, {"evidence", row.evidence},
                       {"cause", row.cause}, {"fix", row.fix}};
    if (row.action)
        out["action"] = {static_cast<int>(row.action->kind), row.action->label,
                         row.action->argument};
    return out;
}

OrderedJson checkJson(const Node& node, const NodeCheck& check) {
    OrderedJson rows = OrderedJson::array();
    for (const CheckRow& row : check.rows)
        rows.push_back(rowJson(row));
    OrderedJson out = {{"version", kVersion},
                       {"reached_by", wayTo(node)},
                       {"checked_ns", check.checkedNs},
                       {"ready", check.ready},
                       {"round_trip_us", check.roundTripUs},
                       {"rows", rows}};
    if (check.report)
        out["report"] = OrderedJson::parse(toJson(*check.report));
    return out;
}

CheckRow::State stateFrom(const OrderedJson& json) {
    return static_cast<CheckRow::State>(std::clamp(json.get<int>(), 0, 2));
}

/// Others wait for a person, or are of a later release.
bool isKept(CheckAction::Kind kind) {
    return kind == CheckAction::Kind::kCopyCommand || kind == CheckAction::Kind::kEndLeftovers ||
           kind == CheckAction::Kind::kRemoveAgents || kind == CheckAction::Kind::kSelfTest;
}

CheckRow rowFrom(const OrderedJson& json, int version) {
    const auto text = [&json](const auto& key) { return json.at(key).template get<std::string>(); };
    if (version == kVersionOfThreeTexts)
        return {{}, stateFrom(json.at(0)), text(1), text(2), {}, {}};
    CheckRow row{text("id"),    stateFrom(json.at("state")),
                 text("title"), text("evidence"),
                 text("cause"), text("fix")};
    if (json.contains("action")) {
        const OrderedJson& action = json.at("action");
        const auto kind = static_cast<CheckAction::Kind>(action.at(0).get<int>());
        if (isKept(kind))
            row.action = {kind, action.at(1).get<std::string>(), action.at(2).get<std::string>()};
    }
    return row;
}

/// nullopt: of another version, or the node was reached another way. Throws if it is no check.
std::optional<NodeCheck> checkFrom(const OrderedJson& json, const Node& node) {
    const int version = json.at("version").get<int>();
    if (version < kVersionOfThreeTexts || version > kVersion ||
        json.at("reached_by") != wayTo(node))
        return std::nullopt;
    NodeCheck check;
    check.node = node.name;
    check.checkedNs = json.at("checked_ns").get<int64_t>();
    check.ready = json.at("ready").get<bool>();
    check.roundTripUs = json.at("round_trip_us").get<int64_t>();
    for (const OrderedJson& row : json.at("rows"))
        check.rows.push_back(rowFrom(row, version));
    if (json.contains("report"))
        if (auto report = parseNodeReport(json.at("report").dump()))
            check.report = std::move(*report);
    return check;
}

} // namespace

std::string wayTo(const Node& node) {
    return node.user + '@' + node.sshHost + ':' + std::to_string(node.port) + ' ' +
           node.identityFile + (node.jumpHost.empty() ? "" : " through " + node.jumpHost);
}

bool waitsForAPerson(const NodeCheck& check) {
    return check.failure && check.failure->need != ConnectFailure::Need::kNothing;
}

std::vector<NodeCheck> parseChecks(const std::string& json, const std::vector<Node>& nodes) {
    const OrderedJson all = OrderedJson::parse(json, nullptr, false);
    std::vector<NodeCheck> checks;
    for (const Node& node : nodes) {
        if (!all.is_object() || !all.contains(node.name))
            continue;
        try {
            if (auto check = checkFrom(all.at(node.name), node))
                checks.push_back(std::move(*check));
        } catch (const OrderedJson::exception&) {
            continue; // no exception of nlohmann leaves this function
        }
    }
    return checks;
}

std::string withCheck(const std::string& json, const Node& node, const NodeCheck& check) {
    OrderedJson all = OrderedJson::parse(json, nullptr, false);
    if (!all.is_object())
        all = OrderedJson::object();
    if (waitsForAPerson(check))
        all.erase(node.name);
    else
        all[node.name] = checkJson(node, check);
    // A node may report a path that is not UTF-8.
    return all.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
}

} // namespace rm
