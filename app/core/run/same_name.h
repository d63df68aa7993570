// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store.h"
#include "shared/spec/run_spec.h"

#include <string>
#include <vector>

namespace rm {

/// "a run is called gpt already, gpt-1: ...": what to know before a run of `spec` is launched
/// beside `runs`, newest first. Empty: none has its name, or the launch would go on as that run.
std::string sameNameWords(const std::vector<RunSummary>& runs, const RunSpec& spec);

} // namespace rm
