// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "shared/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace rm {

/// The text of nodes.toml: one [[node]] table a node, with the keys name, host, user, port and
/// identity_file, of which only the first two must be there.
///
/// kInvalid names `source`, line, key and what is wrong.
Result<std::vector<Node>> parseNodes(std::string_view toml, const std::string& source);
std::string toToml(const std::vector<Node>& nodes);

} // namespace rm
