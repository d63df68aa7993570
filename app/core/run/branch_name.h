// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/run_spec.h"

#include <cstdint>
#include <string>

namespace rm {

/// The name proposed for a branch of a run: the parent's and what its spec changes, "gpt-tiny, lr
/// 5e-4"; where it changes nothing "gpt-tiny, from 401".
std::string branchName(const RunSpec& parent, const RunSpec& branch, int64_t step);

} // namespace rm
