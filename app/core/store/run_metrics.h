// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store.h"
#include "shared/metrics/registry.h"

#include <vector>

namespace rm {

/// What a run's speed is counted in: train/images_per_s where its ranks report that, else
/// train/tokens_per_s.
const MetricDef& throughputMetric(StoreReader& reader, const QString& run);

/// What validation measured besides the loss: those of BLEU, chrF, CER, WER, top-1 and top-5 that
/// the run reports.
std::vector<const MetricDef*> validationMetrics(StoreReader& reader, const QString& run);

/// The first of them and those of its unit, which can share an axis.
std::vector<const MetricDef*> qualityMetrics(StoreReader& reader, const QString& run);

} // namespace rm
