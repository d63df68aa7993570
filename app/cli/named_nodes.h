// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/plan.h"

#include <string>
#include <vector>

namespace rm::cli {

/// The names that were typed, with "@GROUP" replaced by its nodes; each once. kNotFound: no node is
/// in that group. Other names are not looked up.
Result<std::vector<std::string>> namedNodes(const std::vector<Node>& nodes,
                                            const std::vector<std::string>& typed);

/// What `--node` names: "NAME[:RANKS]" or "@GROUP[:RANKS]", none being this computer. A node that
/// is named itself, too, has the ranks that are given there. kInvalid: no such text.
Result<std::vector<Placement>> namedPlacements(const std::vector<Node>& nodes,
                                               const std::vector<std::string>& typed);

/// The names of these nodes, in their order.
std::vector<std::string> namesOf(const std::vector<Placement>& placements);

} // namespace rm::cli
