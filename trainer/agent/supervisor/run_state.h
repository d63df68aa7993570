// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/messages.h"

#include <string>

namespace rm {

/// The state of a run right now, by its files, its boards and its lock; works with and without a
/// supervisor.
RunState readRunState(const std::string& runDir);

/// Whether a person would see a difference: steps and the phases within a step do not count.
bool differsVisibly(const RunState& a, const RunState& b);

} // namespace rm
