// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/metrics/registry.h"

#include <string>

namespace rm {

/// What people read for the metric wherever it stands alone: the words of one of Ringmaster's own,
/// "Tokens a second"; of a run's own its name and unit.
std::string titleOf(const MetricDef& metric);

} // namespace rm
