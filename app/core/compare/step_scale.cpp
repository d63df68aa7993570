// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/step_scale.h"

#include "app/core/findings/text.h"
#include "app/core/store/run_metrics.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"
#include "shared/spec/step_cut.h"

#include <numeric>

namespace rm {

namespace {

constexpr int kMostAncestors = 8;
constexpr int kWorkBuckets = 64;

/// The unit of a run's work; tokens for a model that this release does not know.
WorkUnit unitOf(const RunSpec& spec) {
    const ModelFamily* family = findFamily(spec.model.type);
    const DataKind data = family ? family->data : DataKind::kText;
    if (data == DataKind::kPictures)
        return WorkUnit::kPictures;
    return data == DataKind::kPairs && usesField(spec, "train.batch_size") ? WorkUnit::kPairs
                                                                           : WorkUnit::kTokens;
}

/// nullopt: its steps differ in size.
std::optional<double> fixedWork(const RunSpec& spec, int ranks) {
    if (!usesField(spec, "train.batch_size"))
        return std::nullopt;
    const auto sizes = batchSizesOf(spec, ranks);
    const auto batches = accumulationOf(spec, ranks, sizes, std::nullopt);
    if (!batches)
        return std::nullopt;
    const int64_t samples = std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) * *batches;
    const int64_t each = unitOf(spec) == WorkUnit::kTokens ? spec.model.context : 1;
    return static_cast<double>(samples * each);
}

/// The mean of a step, from the rate and the time of the steps of rank 0.
std::optional<double> measuredWork(StoreReader& reader, const RunSummary& run) {
    const auto mean = [&](const std::string& metric) {
        double sum = 0, count = 0;
        for (const Bucket& bucket : reader.buckets(run.id, {metric, 0}, 0, INT64_MAX, kWorkBuckets))
            if (bucket.count > 0) {
                sum += static_cast<double>(bucket.mean) * static_cast<double>(bucket.count);
                count += static_cast<double>(bucket.count);
            }
        return count > 0 ? sum / count : 0;
    };
    const double perSecond = mean(throughputMetric(reader, run.id).name);
    const double seconds = mean(metricName(metric::kTrainStepMs)) / 1000;
    return perSecond > 0 && seconds > 0 ? std::optional(perSecond * seconds * run.ranks)
                                        : std::nullopt;
}

Result<WorkScale> workScale(StoreReader& reader, const RunSummary& run, int ancestors) {
    RM_ASSIGN_OR_RETURN(const RunSpec spec,
                        parseRunSpec(reader.specToml(run.id), run.id.toStdString()));
    auto perStep = fixedWork(spec, run.ranks);
    if (!perStep && findFamily(spec.model.type))
        perStep = measuredWork(reader, run);
    if (!perStep || *perStep <= 0)
        return fail(ErrorCode::kNotFound,
                    say("run.work-unknown", {{"run", run.name.toStdString()}}));
    WorkScale work{unitOf(spec), {*perStep, 0, 0}};
    const auto parent = reader.run(run.parentRun);
    if (!parent || ancestors == 0)
        return work;
    const auto before = workScale(reader, *parent, ancestors - 1);
    if (before && before->unit == work.unit) {
        work.scale.fromStep = run.parentStep;
        work.scale.before = before->scale.at(static_cast<double>(run.parentStep));
    }
    return work;
}

} // namespace

WorkUnit workUnit(StoreReader& reader, const QString& run) {
    const auto spec = parseRunSpec(reader.specToml(run), run.toStdString());
    return spec ? unitOf(*spec) : WorkUnit::kTokens;
}

Result<WorkScale> workScale(StoreReader& reader, const RunSummary& run) {
    return workScale(reader, run, kMostAncestors);
}

Result<StepScale> epochScale(StoreReader& reader, const RunSummary& run) {
    RM_ASSIGN_OR_RETURN(const RunSpec spec,
                        parseRunSpec(reader.specToml(run.id), run.id.toStdString()));
    if (spec.train.epochs == 0)
        return fail(ErrorCode::kNotFound,
                    say("run.counts-no-epochs", {{"run", run.name.toStdString()}}));
    if (run.totalSteps == 0)
        return fail(ErrorCode::kNotFound,
                    say("run.epochs-unknown", {{"run", run.name.toStdString()}}));
    return StepScale{static_cast<double>(spec.train.epochs) / static_cast<double>(run.totalSteps),
                     0, 0};
}

} // namespace rm
