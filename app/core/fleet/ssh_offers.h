// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "app/core/remote/ssh_session.h"

#include <map>
#include <string>
#include <vector>

namespace rm {

/// A name of ~/.ssh/config as a node.
struct SshOffer {
    Node node;      ///< as it would be added: by that name, so that ssh_config goes on to decide
    SshRoute route; ///< where ssh_config leads to now
    std::string passes;  ///< the jump hosts on the way, or the proxy command; empty: none
    std::string known;   ///< the node that is there already, by that name or route; empty: none
    std::string problem; ///< why it cannot be added; empty: it can, unless it is `known`
};

/// The nodes, each by the route that leads to it. Takes some milliseconds for each.
std::map<std::string, std::string> routesTo(const std::vector<Node>& nodes);

/// A name of ~/.ssh/config against the nodes that there are and `known`, the routes to them. `ssh
/// -G` reads the configuration, as it does for a connection (ssh_config.h), and so runs the
/// commands of Match exec, but for no name that checkNode() refuses: not for the GUI's thread.
/// Takes some milliseconds.
SshOffer sshOffer(const std::string& alias, const std::vector<Node>& nodes,
                  const std::map<std::string, std::string>& known);

/// How many names are read at once: there may be commands of Match exec.
int sshOffersAtOnce();

/// sshOffer() of these names (sshAliases() has all).
std::vector<SshOffer> sshOffers(const std::vector<Node>& nodes,
                                const std::vector<std::string>& aliases);

/// The name of a node that is reached as `host`: ':' and '%' of IPv6 may not stand in it.
std::string nodeNameFor(const std::string& host);

} // namespace rm
