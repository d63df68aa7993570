// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/run_metrics.h"

#include "app/core/store/store_reader.h"
#include "shared/spec/model_family.h"
#include "shared/spec/run_spec.h"

#include <algorithm>

namespace rm {

MetricDef throughputMetric(StoreReader& reader, const QString& run) {
    const std::string& panel = builtinMetric(metric::kTrainTokensPerS).panel;
    for (const MetricDef& metric : reader.metrics(run))
        if (metric.panel == panel && findBuiltinMetric(metric.name))
            return metric;
    const auto spec = parseRunSpec(reader.specToml(run), run.toStdString());
    const bool arePictures = spec && familyOf(*spec).data == DataKind::kPictures;
    return builtinMetric(arePictures ? metric::kTrainImagesPerS : metric::kTrainTokensPerS);
}

StepTimes stepTimes(StoreReader& reader, const QString& run) {
    constexpr int kBuckets = 256;
    StepTimes times;
    const SeriesKey key{metricName(metric::kTrainStepMs), 0};
    for (const Bucket& bucket : reader.buckets(run, key, 0, INT64_MAX, kBuckets))
        if (bucket.count > 0) {
            times.ms += static_cast<double>(bucket.mean) * static_cast<double>(bucket.count);
            times.steps += bucket.count;
        }
    return times;
}

std::vector<MetricDef> validationMetrics(StoreReader& reader, const QString& run) {
    std::vector<MetricDef> metrics = reader.metrics(run);
    std::erase_if(metrics, [](const MetricDef& metric) {
        return !metric.name.starts_with("validation/") || metric.id == metric::kValidationLoss;
    });
    std::ranges::stable_sort(metrics, {}, [](const MetricDef& metric) {
        return std::pair(!findBuiltinMetric(metric.name), metric.place);
    });
    return metrics;
}

std::vector<MetricDef> qualityMetrics(StoreReader& reader, const QString& run) {
    std::vector<MetricDef> metrics = validationMetrics(reader, run);
    const std::string unit = metrics.empty() ? std::string() : metrics.front().unit;
    std::erase_if(metrics, [&unit](const MetricDef& metric) { return metric.unit != unit; });
    return metrics;
}

} // namespace rm
