// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/deployed.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <limits>

namespace rm {

namespace {

constexpr size_t kLongestItem = 400;
constexpr size_t kLongestHome = 4096;

Json jsonOfItem(const DeployedItem& item) {
    return {{"kind", item.kind},
            {"name", item.name},
            {"bytes", item.bytes},
            {"used_ns", item.usedNs},
            {"kept_for", item.keptFor}};
}

Result<DeployedItem> itemFrom(const Json& json) {
    const auto kind = textAt(json, "kind"), name = textAt(json, "name"),
               keptFor = textAt(json, "kept_for");
    const auto bytes = intAt(json, "bytes"), usedNs = intAt(json, "used_ns");
    if (!kind || !name || !keptFor || !bytes || !usedNs || *bytes < 0 ||
        kind->size() + name->size() + keptFor->size() > kLongestItem)
        return fail(ErrorCode::kCorrupt, "read what is deployed: an item is not as expected");
    return DeployedItem{*kind, *name, *bytes, *usedNs, *keptFor};
}

/// The figures are a node's, so that their sum may be too large.
int64_t bytesOf(const DeployedReport& report, bool needed) {
    int64_t bytes = 0;
    for (const DeployedItem& item : report.items)
        if (item.keptFor.empty() != needed)
            bytes += std::min(item.bytes, std::numeric_limits<int64_t>::max() - bytes);
    return bytes;
}

} // namespace

std::string toJson(const DeployedReport& report) {
    Json items = Json::array();
    for (const DeployedItem& item : report.items)
        items.push_back(jsonOfItem(item));
    return dumpJson({{"home", report.home}, {"items", items}});
}

Result<DeployedReport> parseDeployedReport(std::string_view text) {
    RM_ASSIGN_OR_RETURN(const Json json, parseJson(text, "what is deployed"));
    const auto home = textAt(json, "home");
    const Json* items = arrayAt(json, "items");
    if (!home || items == nullptr || home->size() > kLongestHome || items->size() > kMostDeployed)
        return fail(ErrorCode::kCorrupt, "read what is deployed: it names no home and no items");
    DeployedReport report{*home, {}};
    for (const Json& each : *items) {
        RM_ASSIGN_OR_RETURN(DeployedItem item, itemFrom(each));
        report.items.push_back(std::move(item));
    }
    return report;
}

int64_t unneededBytes(const DeployedReport& report) {
    return bytesOf(report, false);
}

int64_t neededBytes(const DeployedReport& report) {
    return bytesOf(report, true);
}

} // namespace rm
