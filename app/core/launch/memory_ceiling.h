// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/plan.h"

#include <string>
#include <vector>

namespace rm {

/// Bytes that a rank of this run certainly does not need: several times what it does need. Made of
/// the spec alone in no time. What is below it on every node need not be estimated before a launch,
/// which would take longer than the launch of a small run itself.
int64_t memoryCeiling(const RunSpec& spec);

/// Whether ranks[i] ranks on `device` of nodes[i] could need more than the probe found free, for
/// any i. What the probe did not find out is enough.
bool mayBeTooLarge(const RunSpec& spec, const std::vector<PlacedNode>& nodes,
                   const std::vector<int>& ranks, const std::string& device);

} // namespace rm
