// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store.h"
#include "shared/metrics/registry.h"

#include <vector>

namespace rm {

/// What a run's speed is counted in: the metric of ours in the panel "throughput" that it reports;
/// before the first step, train/tokens_per_s.
MetricDef throughputMetric(StoreReader& reader, const QString& run);

/// What validation measured besides the loss, by place.
std::vector<MetricDef> validationMetrics(StoreReader& reader, const QString& run);

/// The first of them and those of its unit.
std::vector<MetricDef> qualityMetrics(StoreReader& reader, const QString& run);

} // namespace rm
