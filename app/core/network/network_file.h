// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/network/network_matrix.h"
#include "shared/result.h"

#include <string>

namespace rm {

/// The last measurement of this user, `$XDG_STATE_HOME/ringmaster/network.json`: one JSON object,
/// as `ringmaster nodes network --json` prints it in `matrix`.

std::string networkPath(const std::string& stateDir); ///< of that file

std::string toJson(const NetworkMatrix& matrix);
/// kCorrupt: something else, or trials of nodes that there are not. kTooNew: of a later release.
/// `source` names the file.
Result<NetworkMatrix> parseNetworkMatrix(const std::string& json,
                                         const std::string& source = "network.json");

/// `stateDir` is made when missing.
Result<void> keepNetwork(const std::string& stateDir, const NetworkMatrix& matrix);
/// kNotFound: nothing was measured yet.
Result<NetworkMatrix> keptNetwork(const std::string& stateDir);

/// keptNetwork(), without nodes where there is none or it cannot be read.
NetworkMatrix lastNetwork(const std::string& stateDir);

} // namespace rm
