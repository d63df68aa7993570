// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "shared/metrics/registry.h"

#include <vector>

namespace rm {

/// The metric of a run's speed: the one of Ringmaster's panel "throughput" that the run reports;
/// before the first step that of its model.
MetricDef throughputMetric(StoreReader& reader, const QString& run);

/// What the steps of rank 0 took, all of them.
struct StepTimes {
    double ms = 0;
    int64_t steps = 0;
};
StepTimes stepTimes(StoreReader& reader, const QString& run);

/// Validation metrics other than the loss, by place.
std::vector<MetricDef> validationMetrics(StoreReader& reader, const QString& run);

/// The first of them and the others with the same unit.
std::vector<MetricDef> qualityMetrics(StoreReader& reader, const QString& run);

} // namespace rm
