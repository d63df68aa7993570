// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/measures.h"

#include "shared/io/json_fields.h"

#include <array>

namespace rm {

namespace {

constexpr int64_t kMostMeasured = int64_t{1} << 50; ///< bytes, ranks and the like that make sense
constexpr FieldRule kSome = within(1, kMostMeasured);
constexpr FieldRule kTime = within(0, 32'000'000'000); ///< a year, in milliseconds

} // namespace

template <Either<SumTime> T, class Visit>
void fields(T& time, Visit&& visit) {
    visit("bytes", time.bytes, kSome);
    visit("seconds", time.seconds, kTime);
    visit("times", time.times, kSome);
    visit("cpu_seconds", time.cpuSeconds, kTime.optional());
}

template <Either<SumGroup> T, class Visit>
void fields(T& group, Visit&& visit) {
    visit("nodes", group.nodes, within(0, kMostMeasured));
    visit("ranks", group.ranks, kSome);
    visit("times", group.times);
}

template <Either<AllReduceReport> T, class Visit>
void fields(T& report, Visit&& visit) {
    visit("device", report.device);
    visit("fault", report.fault);
    visit("groups", report.groups);
}

template <Either<BucketTimes> T, class Visit>
void fields(T& bucket, Visit&& visit) {
    visit("bytes", bucket.bytes, kSome);
    visit("ready_ms", bucket.readyMs, kTime);
    visit("needed_ms", bucket.neededMs, kTime);
}

template <Either<StepProfile> T, class Visit>
void fields(T& profile, Visit&& visit) {
    visit("device", profile.device);
    visit("samples", profile.samples, kSome);
    visit("forward_ms", profile.forwardMs, kTime);
    visit("backward_ms", profile.backwardMs, kTime);
    visit("update_ms", profile.updateMs, kTime);
    visit("accumulation", profile.accumulation, kSome);
    visit("sharded", profile.sharded);
    visit("bytes_on_wire", profile.bytesOnWire, kSome);
    visit("buckets", profile.buckets);
    visit("spare_cores", profile.spareCores, within(0, kMostMeasured));
}

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
    return dumpJson(writeFields(report));
}

Result<AllReduceReport> parseAllReduceReport(const std::string& json, const std::string& source) {
    RM_ASSIGN_OR_RETURN(auto report, parseFields<AllReduceReport>(json, source));
    for (const SumGroup& group : report.groups)
        if (group.times.empty())
            return fail(ErrorCode::kCorrupt, "read " + source + ": a group has no times");
    return report;
}

std::string toJson(const StepProfile& profile) {
    return dumpJson(writeFields(profile));
}

Result<StepProfile> parseStepProfile(const std::string& json, const std::string& source) {
    return parseFields<StepProfile>(json, source);
}

/// nullptr: there is no such value.
const char* jsonWord(TryKind kind) {
    constexpr std::array kWords = {"text", "translation", "classes"};
    const auto at = static_cast<size_t>(kind);
    return at < kWords.size() ? kWords[at] : nullptr;
}

template <Either<TryAnswer::Class> T, class Visit>
void fields(T& one, Visit&& visit) {
    visit("name", one.name);
    visit("probability", one.probability, atLeast(0));
}

template <Either<TryAnswer> T, class Visit>
void fields(T& answer, Visit&& visit) {
    visit("kind", answer.kind);
    visit("text", answer.text);
    visit("classes", answer.classes);
    visit("tokens", answer.tokens, within(0, kMostMeasured));
    visit("step", answer.step, within(0, kMostMeasured));
    visit("seconds", answer.seconds, kTime);
    visit("device", answer.device);
}

std::string toJson(const TryAnswer& answer) {
    return dumpJson(writeFields(answer));
}

Result<TryAnswer> parseTryAnswer(const std::string& json, const std::string& source) {
    constexpr double kRounding = 1e-3;
    RM_ASSIGN_OR_RETURN(auto answer, parseFields<TryAnswer>(json, source));
    for (const TryAnswer::Class& each : answer.classes)
        if (each.probability > 1 + kRounding)
            return fail(ErrorCode::kCorrupt, "read " + source + ": a probability is above 1");
    return answer;
}

} // namespace rm
