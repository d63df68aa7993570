// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

#include <string>
#include <vector>

namespace rm {

/// The text of checks.json: by name of a node, how it was reached and what its last check found.
/// What a person has to answer (a new host key, a password) is not kept: it is asked for anew.

/// The checks of those `nodes` whose connection settings have not changed since. Entries that are
/// damaged or of another format version are left out.
std::vector<NodeCheck> parseChecks(const std::string& json, const std::vector<Node>& nodes);

/// The way to a node in words, equal while it is reached alike.
std::string wayTo(const Node& node);

/// It says nothing of the node, but what a person has to answer first.
bool waitsForAPerson(const NodeCheck& check);

/// The text with the node's entry added or replaced by `check`.
std::string withCheck(const std::string& json, const Node& node, const NodeCheck& check);

} // namespace rm
