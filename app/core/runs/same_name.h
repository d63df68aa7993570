// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"

#include <string>
#include <vector>

namespace rm {

/// The runs of `runs` that have this name, in their order.
std::vector<RunSummary> calledSo(std::vector<RunSummary> runs, const QString& name);

/// "a run is called gpt already, gpt-1: ...": what to know before another of that name is made
/// beside `runs`, newest first. Empty: none has it.
std::string sameNameWords(std::vector<RunSummary> runs, const std::string& name);

} // namespace rm
