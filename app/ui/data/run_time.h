// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/store/store_reader.h"

#include <optional>
#include <vector>

namespace rm {

/// Whether a step of both makes the same computation on the same amount of data.
bool isSameWork(const RunSpec& a, const RunSpec& b);

/// How long the steps of `spec` take on these nodes, from the newest run that did the same work
/// there; nullopt: none did. Worker thread.
std::optional<double> secondsLike(StoreReader& reader, const RunSpec& spec,
                                  const std::vector<Placement>& nodes);

} // namespace rm
