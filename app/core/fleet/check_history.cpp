// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_history.h"

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

void compareTexts(Changes& changes, const std::string& what, const std::string& before,
                  const std::string& now) {
    if (before == now)
        return;
    if (now.empty())
        changes.push_back({what + ' ' + before + " is gone", true});
    else
        changes.push_back(
            {before.empty() ? "new " + what + ' ' + now : what + ' ' + before + " became " + now,
             false});
}

void compareSizes(Changes& changes, const std::string& what, int64_t before, int64_t now,
                  std::string (*words)(int64_t) = memoryWords) {
    if (isAnotherSize(before, now))
        changes.push_back({what + ' ' + words(before) + " became " + words(now), now < before});
}

/// Calls `both(before, now)` for what stands in both lists under the same key.
template <class Thing, class Both>
void compareLists(Changes& changes, const std::map<std::string, const Thing*>& before,
                  const std::map<std::string, const Thing*>& now, Both both) {
    for (const auto& [key, thing] : before)
        if (!now.contains(key))
            changes.push_back({key + " is gone", true});
    for (const auto& [key, thing] : now) {
        const auto old = before.find(key);
        if (old == before.end())
            changes.push_back({"new: " + key, false});
        else
            both(key, *old->second, *thing);
    }
}

std::map<std::string, const GpuReport*> byKey(const std::vector<GpuReport>& gpus) {
    std::map<std::string, const GpuReport*> keyed;
    for (size_t at = 0; at < gpus.size(); ++at)
        keyed["GPU " + gpus[at].name + ' ' +
              (gpus[at].uuid.empty() ? "number " + std::to_string(at) : gpus[at].uuid)] = &gpus[at];
    return keyed;
}

std::map<std::string, const InterfaceReport*> byKey(const std::vector<InterfaceReport>& all) {
    std::map<std::string, const InterfaceReport*> keyed;
    for (const InterfaceReport& interface : all)
        if (interface.name != "lo" && !interface.address.starts_with("fe80:"))
            keyed["interface " + interface.name + ' ' + interface.address + '/' +
                  std::to_string(interface.prefix)] = &interface;
    return keyed;
}

std::map<std::string, const DiskReport*> byKey(const std::vector<DiskReport>& disks) {
    std::map<std::string, const DiskReport*> keyed;
    for (const DiskReport& disk : disks)
        keyed["disk " + disk.path] = &disk;
    return keyed;
}

void compareInterfaces(Changes& changes, const std::string& key, const InterfaceReport& before,
                       const InterfaceReport& now) {
    const auto speed = [](const InterfaceReport& interface) {
        return interface.speedMbit < 0 ? std::string("unknown speed")
                                       : std::to_string(interface.speedMbit) + " Mbit/s";
    };
    if (before.up != now.up)
        changes.push_back({key + (now.up ? " is up again" : " is down"), !now.up});
    if (before.speedMbit != now.speedMbit)
        changes.push_back({key + ": " + speed(before) + " became " + speed(now),
                           now.speedMbit < before.speedMbit});
}

/// Why a check was not a good one; empty: it was.
std::string problemOf(const NodeCheck& check) {
    const auto worst = std::ranges::max_element(check.rows, {}, &CheckRow::state);
    const bool isGood = worst == check.rows.end() || worst->state == CheckRow::State::kGood;
    if (isGood)
        return check.failure ? check.failure->error.message : std::string();
    return worst->title + ": " + worst->evidence;
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
    compareTexts(changes, "driver", before.driver, now.driver);
    compareLists(changes, byKey(before.gpus), byKey(now.gpus),
                 [&](const std::string& key, const GpuReport& old, const GpuReport& gpu) {
                     compareSizes(changes, "memory of " + key, old.memoryBytes, gpu.memoryBytes);
                 });
    compareTexts(changes, "system", before.os, now.os);
    compareTexts(changes, "kernel", before.kernel, now.kernel);
    compareTexts(changes, "glibc", before.glibc, now.glibc);
    compareTexts(changes, "processor", before.cpuModel, now.cpuModel);
    if (before.cores != now.cores)
        changes.push_back(
            {std::to_string(before.cores) + " cores became " + std::to_string(now.cores),
             now.cores < before.cores});
    compareSizes(changes, "memory", before.memoryBytes, now.memoryBytes);
    compareLists(
        changes, byKey(before.interfaces), byKey(now.interfaces),
        [&](const std::string& key, const InterfaceReport& old, const InterfaceReport& interface) {
            compareInterfaces(changes, key, old, interface);
        });
    compareLists(changes, byKey(before.disks), byKey(now.disks),
                 [&](const std::string& key, const DiskReport& old, const DiskReport& disk) {
                     compareSizes(changes, key, old.totalBytes, disk.totalBytes, bytesWords);
                 });
    compareTexts(changes, "folder of Ringmaster", before.home, now.home);
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
    row.id = "changes";
    row.title = "Since the last check";
    for (const NodeChange& change : changesBetween(*before, *check.report)) {
        row.evidence += (row.evidence.empty() ? "" : "; ") + change.text;
        if (change.isLess)
            row.state = CheckRow::State::kWarning;
    }
    if (row.state == CheckRow::State::kWarning) {
        row.cause = "something is gone or smaller, which may be a fault that nobody has seen";
        row.fix = "look at it on the machine; if it is meant so, nothing is to be done: the next "
                  "check compares with this one";
    }
    if (!row.evidence.empty())
        check.rows.push_back(std::move(row));
}

} // namespace rm
