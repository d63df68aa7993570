// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/alignment.h"

#include "app/core/findings/text.h"
#include "shared/metrics/registry.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>

namespace rm {

namespace {

using Operator = RunFilter::Operator;

constexpr int kAlignmentBuckets = 256;

bool isOrder(Operator is) {
    return is == Operator::kLess || is == Operator::kAtMost || is == Operator::kGreater ||
           is == Operator::kAtLeast;
}

/// Never of NaN.
bool holds(Operator is, double value, double limit) {
    switch (is) {
    case Operator::kLess:
        return value < limit;
    case Operator::kAtMost:
        return value <= limit;
    case Operator::kGreater:
        return value > limit;
    case Operator::kAtLeast:
        return value >= limit;
    default:
        return false;
    }
}

bool mayHold(const Alignment& alignment, const Bucket& bucket) {
    const bool isBelow = alignment.is == Operator::kLess || alignment.is == Operator::kAtMost;
    return bucket.count > 0 &&
           holds(alignment.is, static_cast<double>(isBelow ? bucket.min : bucket.max),
                 alignment.value);
}

std::optional<int64_t> firstPassing(StoreReader& reader, const QString& run,
                                    const Alignment& alignment) {
    const SeriesKey key{alignment.metric, 0};
    const auto buckets = reader.buckets(run, key, 0, INT64_MAX, kAlignmentBuckets);
    const auto bucket =
        std::ranges::find_if(buckets, [&](const Bucket& each) { return mayHold(alignment, each); });
    if (bucket == buckets.end())
        return std::nullopt;
    for (const Point& point : reader.points(run, key, bucket->firstStep, bucket->lastStep))
        if (holds(alignment.is, static_cast<double>(point.value), alignment.value))
            return point.step;
    return std::nullopt;
}

Result<int64_t> stepOfBranch(const RunSummary& run, const std::vector<RunSummary>& all) {
    if (!run.parentRun.isEmpty())
        return run.parentStep;
    std::optional<int64_t> first;
    for (const RunSummary& other : all)
        if (other.parentRun == run.id)
            first = std::min(first.value_or(other.parentStep), other.parentStep);
    if (first)
        return *first;
    return fail(ErrorCode::kNotFound, say("run.no-branch", {{"run", run.name.toStdString()}}));
}

std::string signOf(Operator is) {
    return is == Operator::kLess      ? "<"
           : is == Operator::kAtMost  ? "<="
           : is == Operator::kGreater ? ">"
                                      : ">=";
}

} // namespace

Result<Alignment> parseAlignment(const std::string& text) {
    const auto refuse = [&] {
        return fail(ErrorCode::kInvalid, say("run.no-alignment", {{"text", plainLine(text)}}));
    };
    const auto filter = parseRunFilter(text);
    if (!filter || !filter->words.empty() || filter->conditions.size() != 1)
        return refuse();
    const RunFilter::Condition& condition = filter->conditions.front();
    const std::string metric =
        condition.key == "loss" ? metricName(metric::kTrainLoss) : condition.key;
    if (!isOrder(condition.is) || !condition.number || !isValidMetricName(metric))
        return refuse();
    return Alignment{Alignment::At::kValue, metric, condition.is, *condition.number};
}

Result<int64_t> alignedStep(StoreReader& reader, const RunSummary& run,
                            const std::vector<RunSummary>& all, const Alignment& alignment) {
    switch (alignment.at) {
    case Alignment::At::kStart:
        return 0;
    case Alignment::At::kBranch:
        return stepOfBranch(run, all);
    case Alignment::At::kValue:
        break;
    }
    if (const auto step = firstPassing(reader, run.id, alignment))
        return *step;
    return fail(ErrorCode::kNotFound,
                say("run.never-passes", {{"run", run.name.toStdString()},
                                         {"metric", alignment.metric},
                                         {"sign", signOf(alignment.is)},
                                         {"value", plainNumber(alignment.value)}}));
}

} // namespace rm
