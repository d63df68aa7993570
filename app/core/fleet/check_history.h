// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"

#include <string>
#include <vector>

namespace rm {

/// What a check of a node found, as kept: the text of `checks/NAME.json`, the newest last.
inline constexpr size_t kKeptChecks = 20;

/// One thing about a machine that is not as it was.
struct NodeChange {
    std::string text;    ///< "driver 535.183.01 became 550.127.05"
    bool isLess = false; ///< something is gone or smaller, which nobody may have meant
    bool operator==(const NodeChange&) const = default;
};

/// System, driver, processor, memory, GPUs, interfaces and sizes of disks; not what is free, which
/// always changes.
std::vector<NodeChange> changesBetween(const NodeReport& before, const NodeReport& now);

/// The newest first, each with its changes since the last one before it that reached the same
/// machine. What is damaged or of another format version counts as not there.
std::vector<PastCheck> parseHistory(const std::string& json);

/// The text with this check added, and without the oldest ones that are too many. A check that
/// waits for a person's answer, or is there already, changes nothing.
std::string withPastCheck(const std::string& json, const Node& node, const NodeCheck& check);

/// Adds a row to a check that says what has changed since the last one in `json` that reached the
/// same machine; none, if nothing has.
void addChanges(NodeCheck& check, const Node& node, const std::string& json);

} // namespace rm
