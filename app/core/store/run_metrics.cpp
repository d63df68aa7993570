// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/run_metrics.h"

namespace rm {

namespace {

constexpr MetricId kValidation[] = {metric::kValidationBleu, metric::kValidationChrf,
                                    metric::kValidationCer,  metric::kValidationWer,
                                    metric::kValidationTop1, metric::kValidationTop5};

bool isReported(StoreReader& reader, const QString& run, const MetricDef& metric) {
    return reader.lastPoint(run, {metric.name, 0}).has_value();
}

} // namespace

const MetricDef& throughputMetric(StoreReader& reader, const QString& run) {
    const MetricDef& images = *findBuiltinMetric(metric::kTrainImagesPerS);
    return isReported(reader, run, images) ? images : *findBuiltinMetric(metric::kTrainTokensPerS);
}

std::vector<const MetricDef*> validationMetrics(StoreReader& reader, const QString& run) {
    std::vector<const MetricDef*> reported;
    for (const MetricId id : kValidation)
        if (const MetricDef* metric = findBuiltinMetric(id); isReported(reader, run, *metric))
            reported.push_back(metric);
    return reported;
}

std::vector<const MetricDef*> qualityMetrics(StoreReader& reader, const QString& run) {
    std::vector<const MetricDef*> metrics = validationMetrics(reader, run);
    std::erase_if(metrics, [unit = metrics.empty() ? std::string() : metrics.front()->unit](
                               const MetricDef* metric) { return metric->unit != unit; });
    return metrics;
}

} // namespace rm
