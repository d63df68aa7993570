// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

namespace rm::test {

/// "gpu-01", ...
std::string demoNodeName(int number);

/// Adds `count` nodes as people have them, and answers their checks by what such machines' probes
/// report: every eighth cannot be reached, others have an old driver, a clock that is wrong, a full
/// disk, errors of a GPU, a run left over, or no GPU. The judging is the app's own.
Result<void> addDemoNodes(Fleet& fleet, int count);

/// Asks for a check of each.
void checkAll(Fleet& fleet);

} // namespace rm::test
