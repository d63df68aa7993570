// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/run_spec.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace rm {

/// "lr 5e-4": a setting as names of runs have it. The key is one of the schema.
std::string settingInName(const RunSpec& spec, std::string_view key);
/// At most as long as the name of a run may be.
std::string cutName(std::string name);

/// The name proposed for a branch: the parent's name and the changed settings, "gpt-tiny, lr 5e-4";
/// without changes "gpt-tiny, from 401".
std::string branchName(const RunSpec& parent, const RunSpec& branch, int64_t step);

} // namespace rm
