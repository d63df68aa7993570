// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_history.h"

#include "app/core/findings/text.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/fleet/checks_file.h"
#include "shared/amounts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <map>

namespace rm {

namespace {

using OrderedJson = nlohmann::ordered_json;
using Changes = std::vector<NodeChange>;

constexpr int kHistoryVersion = 1;

/// A kernel that takes a few pages more is no other memory.
bool isAnotherSize(int64_t before, int64_t now) {
    constexpr int64_t kPart = 100;
    return std::abs(now - before) > std::max(before, now) / kPart;
}

std::string becameWords(const std::string& before, const std::string& now) {
    return say("change.became", {{"before", before}, {"now", now}});
}

std::string goneWords(const std::string& thing) {
    return say("change.gone", {{"thing", thing}});
}

/// `phrase` says what has the value.
void compareTexts(Changes& changes, std::string_view phrase, const std::string& before,
                  const std::string& now) {
    if (before == now)
        return;
    const auto named = [&](const std::string& value) { return say(phrase, {{"value", value}}); };
    if (now.empty())
        changes.push_back({goneWords(named(before)), true});
    else if (before.empty())
        changes.push_back({say("change.new", {{"thing", named(now)}}), false});
    else
        changes.push_back({becameWords(named(before), now), false});
}

/// `named` says what has the size, which `words` made.
template <class Named>
void compareSizes(Changes& changes, int64_t before, int64_t now, std::string (*words)(int64_t),
                  Named named) {
    if (isAnotherSize(before, now))
        changes.push_back({becameWords(named(words(before)), words(now)), now < before});
}

/// Calls `both(before, now)` for what stands in both lists under the same key.
template <class Thing, class Both>
void compareLists(Changes& changes, const std::map<std::string, const Thing*>& before,
                  const std::map<std::string, const Thing*>& now, Both both) {
    for (const auto& [key, thing] : before)
        if (!now.contains(key))
            changes.push_back({goneWords(key), true});
    for (const auto& [key, thing] : now) {
        const auto old = before.find(key);
        if (old == before.end())
            changes.push_back({say("change.added", {{"thing", key}}), false});
        else
            both(key, *old->second, *thing);
    }
}

std::map<std::string, const GpuReport*> byKey(const std::vector<GpuReport>& gpus) {
    std::map<std::string, const GpuReport*> keyed;
    for (size_t at = 0; at < gpus.size(); ++at) {
        const GpuReport& gpu = gpus[at];
        const std::string id = gpu.uuid.empty()
                                   ? say("change.gpu-number", {{"number", std::to_string(at)}})
                                   : gpu.uuid;
        keyed[say("change.gpu", {{"name", gpu.name}, {"id", id}})] = &gpu;
    }
    return keyed;
}

std::map<std::string, const InterfaceReport*> byKey(const std::vector<InterfaceReport>& all) {
    std::map<std::string, const InterfaceReport*> keyed;
    for (const InterfaceReport& interface : all)
        if (interface.name != "lo" && !interface.address.starts_with("fe80:"))
            keyed[say("change.interface",
                      {{"name", interface.name},
                       {"address", interface.address + '/' + std::to_string(interface.prefix)}})] =
                &interface;
    return keyed;
}

std::map<std::string, const DiskReport*> byKey(const std::vector<DiskReport>& disks) {
    std::map<std::string, const DiskReport*> keyed;
    for (const DiskReport& disk : disks)
        keyed[say("change.disk", {{"path", disk.path}})] = &disk;
    return keyed;
}

void compareInterfaces(Changes& changes, const std::string& key, const InterfaceReport& before,
                       const InterfaceReport& now) {
    const Value name{"interface", key};
    const auto speed = [](const InterfaceReport& interface) {
        return interface.speedMbit < 0
                   ? say("change.unknown-speed")
                   : say("change.speed", {{"mbit", std::to_string(interface.speedMbit)}});
    };
    if (before.up != now.up)
        changes.push_back(
            {say(now.up ? "change.interface-up" : "change.interface-down", {name}), !now.up});
    if (before.speedMbit != now.speedMbit)
        changes.push_back(
            {say("change.interface-speed", {name, {"before", speed(before)}, {"now", speed(now)}}),
             now.speedMbit < before.speedMbit});
}

/// Why a check was not a good one; empty: it was.
std::string problemOf(const NodeCheck& check) {
    const auto worst = std::ranges::max_element(check.rows, {}, &CheckRow::state);
    const bool isGood = worst == check.rows.end() || worst->state == CheckRow::State::kGood;
    if (isGood)
        return check.failure ? check.failure->error.message : std::string();
    return say("check.problem", {{"title", worst->title}, {"evidence", worst->evidence}});
}

/// The list of checks in the text, as far as it is one.
OrderedJson checksIn(const std::string& json) {
    const OrderedJson all = OrderedJson::parse(json, nullptr, false);
    const bool isKnown = all.is_object() && all.contains("checks") && all["checks"].is_array() &&
                         all.contains("version") && all["version"] == kHistoryVersion;
    return isKnown ? all["checks"] : OrderedJson::array();
}

std::string textOf(const OrderedJson& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

int64_t numberOf(const OrderedJson& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

std::optional<NodeReport> reportOf(const OrderedJson& object) {
    const auto found = object.find("report");
    if (found == object.end())
        return std::nullopt;
    auto report =
        parseNodeReport(found->dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
    return report ? std::optional(std::move(*report)) : std::nullopt;
}

/// The report without what differs at each check and is compared with nothing.
NodeReport lasting(NodeReport report) {
    for (GpuReport& gpu : report.gpus)
        gpu.processes.clear();
    report.runs.clear();
    report.selfTests.clear();
    report.otherAgents.clear();
    return report;
}

/// The newest report of that machine.
std::optional<NodeReport> lastReport(const OrderedJson& checks, const std::string& way) {
    for (auto check = checks.rbegin(); check != checks.rend(); ++check)
        if (check->is_object() && textOf(*check, "reached_by") == way)
            if (auto report = reportOf(*check))
                return report;
    return std::nullopt;
}

} // namespace

std::vector<NodeChange> changesBetween(const NodeReport& before, const NodeReport& now) {
    Changes changes;
    compareTexts(changes, "change.driver", before.driver, now.driver);
    compareLists(changes, byKey(before.gpus), byKey(now.gpus),
                 [&](const std::string& key, const GpuReport& old, const GpuReport& gpu) {
                     compareSizes(
                         changes, old.memoryBytes, gpu.memoryBytes, memoryWords,
                         [&](const std::string& size) {
                             return say("change.gpu-memory", {{"gpu", key}, {"size", size}});
                         });
                 });
    compareTexts(changes, "change.system", before.os, now.os);
    compareTexts(changes, "change.kernel", before.kernel, now.kernel);
    compareTexts(changes, "change.glibc", before.glibc, now.glibc);
    compareTexts(changes, "change.processor", before.cpuModel, now.cpuModel);
    if (before.cores != now.cores)
        changes.push_back(
            {becameWords(say("change.cores", {{"count", std::to_string(before.cores)}}),
                         std::to_string(now.cores)),
             now.cores < before.cores});
    compareSizes(changes, before.memoryBytes, now.memoryBytes, memoryWords,
                 [](const std::string& size) {
                     return say("change.memory", {{"size", size}});
                 });
    compareLists(
        changes, byKey(before.interfaces), byKey(now.interfaces),
        [&](const std::string& key, const InterfaceReport& old, const InterfaceReport& interface) {
            compareInterfaces(changes, key, old, interface);
        });
    compareLists(changes, byKey(before.disks), byKey(now.disks),
                 [&](const std::string& key, const DiskReport& old, const DiskReport& disk) {
                     compareSizes(
                         changes, old.totalBytes, disk.totalBytes, bytesWords,
                         [&](const std::string& size) {
                             return say("change.disk-size", {{"disk", key}, {"size", size}});
                         });
                 });
    compareTexts(changes, "change.home", before.home, now.home);
    return changes;
}

std::vector<PastCheck> parseHistory(const std::string& json) {
    std::vector<PastCheck> past;
    std::map<std::string, NodeReport> last; // by the way to the machine
    for (const OrderedJson& each : checksIn(json)) {
        if (!each.is_object())
            continue;
        PastCheck check{numberOf(each, "checked_ns"),
                        each.value("ready", OrderedJson()) == true,
                        textOf(each, "problem"),
                        reportOf(each),
                        {}};
        const std::string way = textOf(each, "reached_by");
        if (const auto before = last.find(way); check.report && before != last.end())
            for (NodeChange& change : changesBetween(before->second, *check.report))
                check.changes.push_back(std::move(change.text));
        if (check.report)
            last.insert_or_assign(way, *check.report);
        past.push_back(std::move(check));
    }
    std::ranges::reverse(past);
    return past;
}

std::string withPastCheck(const std::string& json, const Node& node, const NodeCheck& check) {
    OrderedJson checks = checksIn(json);
    const bool isThere = std::ranges::any_of(checks, [&](const OrderedJson& each) {
        return each.is_object() && numberOf(each, "checked_ns") == check.checkedNs;
    });
    if (!isThere && !waitsForAPerson(check)) {
        OrderedJson added = {{"reached_by", wayTo(node)},
                             {"checked_ns", check.checkedNs},
                             {"ready", check.ready},
                             {"problem", problemOf(check)}};
        if (check.report)
            added["report"] = OrderedJson::parse(toJson(lasting(*check.report)));
        checks.push_back(std::move(added));
    }
    while (checks.size() > kKeptChecks)
        checks.erase(checks.begin());
    const OrderedJson all = {{"version", kHistoryVersion}, {"checks", std::move(checks)}};
    return all.dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + '\n';
}

void addChanges(NodeCheck& check, const Node& node, const std::string& json) {
    const auto before = check.report ? lastReport(checksIn(json), wayTo(node)) : std::nullopt;
    if (!before)
        return;
    CheckRow row;
    for (const NodeChange& change : changesBetween(*before, *check.report))
        addFinding(row, change.isLess ? "changes.less" : "changes", {{"change", change.text}});
    if (!row.id.empty())
        check.rows.push_back(std::move(row));
}

} // namespace rm
