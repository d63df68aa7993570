// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/node_report.h"

#include <string>

namespace rm {

/// A machine that can train. "This computer" is always one (isLocal).
struct Node {
    std::string name; ///< unique, shown; [A-Za-z0-9._-], "this-computer" for the local one
    bool isLocal = false;
    std::string sshHost;      ///< ssh_config alias or address; the rest only overrides
    std::string user;         ///< empty: ssh_config or the login name
    int port = 0;             ///< 0: ssh_config or 22
    std::string identityFile; ///< empty: agent and ssh_config

    bool operator==(const Node&) const = default;
};

inline constexpr const char* kLocalNodeName = "this-computer";
/// The node that needs no SSH.
Node localNode();

} // namespace rm
