// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace rm {

/// What a run has on a node.
struct RunFolder {
    std::string node;
    std::string path;
    int64_t bytes = 0;        ///< 0: there is none
    int checkpoints = 0;      ///< in it
    std::string problem = {}; ///< why it is not known; of a node of an earlier attempt alone
    std::string stateId = {}; ///< the same where nodes share the folder of runs; empty: unknown
    /// An earlier node that shares it, for which what is in it counts; empty: for this one.
    std::string sameAs = {};
    bool operator==(const RunFolder&) const = default;
};

} // namespace rm
