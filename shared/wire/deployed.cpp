// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/deployed.h"

#include "shared/io/json_fields.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <limits>

namespace rm {

namespace {

constexpr size_t kLongestItem = 400;
constexpr size_t kLongestHome = 4096;
constexpr size_t kLongestReason = 2 * kLongestHome; ///< may name a path
constexpr size_t kLongestId = 64;

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

// Paths and names are as they are: the code that shows them makes them printable. Earlier releases
// had no label, path and starter of an item, and only home and items of a report.

template <Either<DeployedItem> T, class Visit>
void fields(T& item, Visit&& visit) {
    visit("kind", item.kind, upTo(kLongestItem));
    visit("name", item.name, upTo(kLongestItem));
    visit("bytes", item.bytes, atLeast(0));
    visit("used_ns", item.usedNs);
    visit("kept_for", item.keptFor, upTo(kLongestReason));
    visit("label", item.label, upTo(kLongestItem).optional());
    visit("path", item.path, upTo(kLongestHome).optional());
    visit("started_by", item.startedBy, upTo(kLongestItem).optional());
}

template <Either<DeployedReport> T, class Visit>
void fields(T& report, Visit&& visit) {
    visit("home", report.home, upTo(kLongestHome));
    visit("home_id", report.homeId, upTo(kLongestId).optional());
    visit("state_id", report.stateId, upTo(kLongestId).optional());
    visit("state", report.stateDir, upTo(kLongestHome).optional());
    visit("items", report.items, upTo(kMostDeployed));
    visit("in_the_way", report.inTheWay, kOptional);
    visit("failure", report.failure, kOptional);
}

bool isBeginOfSha256(std::string_view text) {
    constexpr size_t kShortest = 8, kLongest = 64;
    return text.size() >= kShortest && text.size() <= kLongest &&
           text.find_first_not_of("0123456789abcdef") == text.npos;
}

std::string toJson(const DeployedReport& report) {
    return dumpJson(writeFields(report));
}

Result<DeployedReport> parseDeployedReport(std::string_view text) {
    RM_ASSIGN_OR_RETURN(auto report, parseFields<DeployedReport>(text, "what is deployed"));
    for (std::string* line : {&report.inTheWay, &report.failure})
        *line = plainLine(*line);
    for (const DeployedItem& item : report.items)
        if (item.kind.size() + item.name.size() + item.label.size() > kLongestItem)
            return fail(ErrorCode::kCorrupt, "read what is deployed: an item is too long");
    for (DeployedItem& item : report.items)
        for (std::string* line : {&item.keptFor, &item.label, &item.startedBy})
            *line = plainLine(*line);
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
