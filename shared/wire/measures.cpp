// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/measures.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <cmath>

namespace rm {
namespace {

constexpr int64_t kMost = int64_t{1} << 50; ///< bytes, ranks and the like that make sense

/// Thrown for what has the right type and makes no sense; caught with nlohmann's own.
struct Senseless : std::runtime_error {
    using std::runtime_error::runtime_error;
};

int64_t wholeAt(const Json& json, const char* key, int64_t least) {
    const Json& value = json.at(key);
    const bool fits = value.is_number_integer() &&
                      !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{kMost});
    if (!fits || value.get<int64_t>() < least || value.get<int64_t>() > kMost)
        throw Senseless(std::string(key) + " is no number that makes sense");
    return value.get<int64_t>();
}

double timeAt(const Json& json, const char* key) {
    const auto value = json.at(key).get<double>();
    constexpr double kYear = 3.2e10; // in milliseconds
    if (!std::isfinite(value) || value < 0 || value > kYear)
        throw Senseless(std::string(key) + " is no time that makes sense");
    return value;
}

/// Parses with `read`, which may throw.
template <class Read>
auto parseWith(const std::string& json, const std::string& source, const Read& read)
    -> Result<decltype(read(Json()))> {
    RM_ASSIGN_OR_RETURN(const auto parsed, parseJson(json, source));
    try {
        return read(parsed);
    } catch (const std::exception& error) {
        return fail(ErrorCode::kCorrupt, "read " + source + ": " + error.what());
    }
}

SumGroup groupFrom(const Json& json) {
    SumGroup group;
    for (const Json& node : json.at("nodes")) {
        if (!node.is_number_integer() || node.get<int64_t>() < 0 || node.get<int64_t>() > kMost)
            throw Senseless("nodes holds something else than numbers of nodes");
        group.nodes.push_back(node.get<int64_t>());
    }
    group.ranks = wholeAt(json, "ranks", 1);
    for (const Json& time : json.at("times"))
        group.times.push_back({wholeAt(time, "bytes", 1), timeAt(time, "seconds"),
                               wholeAt(time, "times", 1),
                               time.contains("cpu_seconds") ? timeAt(time, "cpu_seconds") : 0});
    if (group.times.empty())
        throw Senseless("a group has no times");
    return group;
}

} // namespace

double latencyOf(const SumGroup& group) {
    return group.times.front().seconds;
}

double busBandwidthOf(const SumGroup& group, const SumTime& time) {
    const auto ranks = static_cast<double>(group.ranks);
    return time.seconds > 0
               ? static_cast<double>(time.bytes) / time.seconds * 2 * (ranks - 1) / ranks
               : 0;
}

double busBandwidthOf(const SumGroup& group) {
    return busBandwidthOf(group, group.times.back());
}

std::string toJson(const AllReduceReport& report) {
    Json groups = Json::array();
    for (const SumGroup& group : report.groups) {
        Json times = Json::array();
        for (const SumTime& time : group.times)
            times.push_back({{"bytes", time.bytes},
                             {"seconds", time.seconds},
                             {"times", time.times},
                             {"cpu_seconds", time.cpuSeconds}});
        groups.push_back({{"nodes", group.nodes}, {"ranks", group.ranks}, {"times", times}});
    }
    return dumpJson({{"device", report.device}, {"fault", report.fault}, {"groups", groups}});
}

Result<AllReduceReport> parseAllReduceReport(const std::string& json, const std::string& source) {
    return parseWith(json, source, [](const Json& parsed) {
        AllReduceReport report;
        report.device = parsed.at("device").get<std::string>();
        report.fault = parsed.at("fault").get<std::string>();
        for (const Json& group : parsed.at("groups"))
            report.groups.push_back(groupFrom(group));
        return report;
    });
}

std::string toJson(const StepProfile& profile) {
    Json buckets = Json::array();
    for (const BucketTimes& bucket : profile.buckets)
        buckets.push_back({{"bytes", bucket.bytes},
                           {"ready_ms", bucket.readyMs},
                           {"needed_ms", bucket.neededMs}});
    return dumpJson({{"device", profile.device},
                     {"samples", profile.samples},
                     {"forward_ms", profile.forwardMs},
                     {"backward_ms", profile.backwardMs},
                     {"update_ms", profile.updateMs},
                     {"accumulation", profile.accumulation},
                     {"sharded", profile.sharded},
                     {"bytes_on_wire", profile.bytesOnWire},
                     {"buckets", buckets},
                     {"spare_cores", profile.spareCores}});
}

Result<StepProfile> parseStepProfile(const std::string& json, const std::string& source) {
    return parseWith(json, source, [](const Json& parsed) {
        StepProfile profile;
        profile.device = parsed.at("device").get<std::string>();
        profile.samples = wholeAt(parsed, "samples", 1);
        profile.forwardMs = timeAt(parsed, "forward_ms");
        profile.backwardMs = timeAt(parsed, "backward_ms");
        profile.updateMs = timeAt(parsed, "update_ms");
        profile.accumulation = wholeAt(parsed, "accumulation", 1);
        profile.sharded = parsed.at("sharded").get<bool>();
        profile.bytesOnWire = wholeAt(parsed, "bytes_on_wire", 1);
        for (const Json& bucket : parsed.at("buckets"))
            profile.buckets.push_back({wholeAt(bucket, "bytes", 1), timeAt(bucket, "ready_ms"),
                                       timeAt(bucket, "needed_ms")});
        profile.spareCores = wholeAt(parsed, "spare_cores", 0);
        return profile;
    });
}

} // namespace rm
