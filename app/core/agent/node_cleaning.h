// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/deployed.h"

#include <string>

namespace rm {

/// How a node is rid of what was deployed there and is not needed any more.
struct NodeCleaning {
    bool isPreview = true;   ///< only say what would go
    bool withRecent = false; ///< also what was used within the last day, though not just now
    bool operator==(const NodeCleaning&) const = default;
};

/// A DeployedItem's kind in words: "trainer".
inline const char* deployedWord(const std::string& kind) {
    if (kind == "agents")
        return "agent";
    if (kind == "bundles")
        return "trainer";
    return kind == "data" ? "staged data" : "loose files";
}

} // namespace rm
