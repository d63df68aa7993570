// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/run_spec.h"

#include <cstdint>
#include <string>

namespace rm {

/// The name proposed for a branch: the parent's name and the changed settings, "gpt-tiny, lr 5e-4";
/// without changes "gpt-tiny, from 401".
std::string branchName(const RunSpec& parent, const RunSpec& branch, int64_t step);

} // namespace rm
