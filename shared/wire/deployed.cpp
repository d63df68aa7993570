// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/deployed.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <limits>

namespace rm {

namespace {

constexpr size_t kLongestItem = 400;
constexpr size_t kLongestHome = 4096;
constexpr size_t kLongestReason = 2 * kLongestHome; ///< may name a path
constexpr size_t kLongestId = 64;

Json jsonOfItem(const DeployedItem& item) {
    return {{"kind", item.kind},      {"name", item.name},           {"bytes", item.bytes},
            {"used_ns", item.usedNs}, {"kept_for", item.keptFor},    {"label", item.label},
            {"path", item.path},      {"started_by", item.startedBy}};
}

Result<DeployedItem> itemFrom(const Json& json) {
    const auto kind = textAt(json, "kind"), name = textAt(json, "name"),
               keptFor = textAt(json, "kept_for");
    // Earlier releases had none of these.
    std::string label = plainLine(textAt(json, "label").value_or(""));
    std::string path = textAt(json, "path").value_or("");
    std::string startedBy = plainLine(textAt(json, "started_by").value_or(""));
    const auto bytes = intAt(json, "bytes"), usedNs = intAt(json, "used_ns");
    if (!kind || !name || !keptFor || !bytes || !usedNs || *bytes < 0 ||
        kind->size() + name->size() + label.size() > kLongestItem ||
        keptFor->size() > kLongestReason || path.size() > kLongestHome ||
        startedBy.size() > kLongestItem)
        return fail(ErrorCode::kCorrupt, "read what is deployed: an item is not as expected");
    // Paths and names are as they are: the code that shows them makes them printable.
    return DeployedItem{*kind,
                        *name,
                        *bytes,
                        *usedNs,
                        plainLine(*keptFor),
                        std::move(label),
                        std::move(path),
                        std::move(startedBy)};
}

/// The figures are a node's, so that their sum may be too large.
template <class Counts>
int64_t bytesOf(const DeployedReport& report, Counts counts) {
    int64_t bytes = 0;
    for (const DeployedItem& item : report.items)
        if (counts(item))
            bytes += std::min(item.bytes, std::numeric_limits<int64_t>::max() - bytes);
    return bytes;
}

} // namespace

bool isBeginOfSha256(std::string_view text) {
    constexpr size_t kShortest = 8, kLongest = 64;
    return text.size() >= kShortest && text.size() <= kLongest &&
           text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string toJson(const DeployedReport& report) {
    Json items = Json::array();
    for (const DeployedItem& item : report.items)
        items.push_back(jsonOfItem(item));
    return dumpJson({{"home", report.home},
                     {"home_id", report.homeId},
                     {"state_id", report.stateId},
                     {"state", report.stateDir},
                     {"items", items},
                     {"in_the_way", report.inTheWay},
                     {"failure", report.failure}});
}

Result<DeployedReport> parseDeployedReport(std::string_view text) {
    RM_ASSIGN_OR_RETURN(const Json json, parseJson(text, "what is deployed"));
    const auto home = textAt(json, "home");
    const Json* items = arrayAt(json, "items");
    if (!home || items == nullptr || home->size() > kLongestHome || items->size() > kMostDeployed)
        return fail(ErrorCode::kCorrupt, "read what is deployed: it names no home and no items");
    DeployedReport report{*home,
                          {},
                          plainLine(textAt(json, "in_the_way").value_or("")),
                          textAt(json, "home_id").value_or(""),
                          textAt(json, "state_id").value_or(""),
                          textAt(json, "state").value_or(""),
                          plainLine(textAt(json, "failure").value_or(""))};
    if (report.stateDir.size() > kLongestHome)
        return fail(ErrorCode::kCorrupt, "read what is deployed: a path is too long");
    if (report.homeId.size() > kLongestId || report.stateId.size() > kLongestId)
        return fail(ErrorCode::kCorrupt, "read what is deployed: an id is too long");
    for (const Json& each : *items) {
        RM_ASSIGN_OR_RETURN(DeployedItem item, itemFrom(each));
        report.items.push_back(std::move(item));
    }
    return report;
}

int64_t unneededBytes(const DeployedReport& report) {
    return bytesOf(report, [](const DeployedItem& item) { return item.keptFor.empty(); });
}

int64_t neededBytes(const DeployedReport& report) {
    return bytesOf(report, [](const DeployedItem& item) { return !item.keptFor.empty(); });
}

int64_t bytesOfKind(const DeployedReport& report, std::string_view kind) {
    return bytesOf(report, [kind](const DeployedItem& item) { return item.kind == kind; });
}

} // namespace rm
