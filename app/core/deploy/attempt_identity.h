// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace rm {

/// What makes two attempts of one spec alike, as texts that are compared as a whole. Empty: it is
/// not known.
struct AttemptIdentity {
    std::string trainer; ///< "0.1.0 cpu 3f2a8c1d9b7e6045": release, runtime and digest
    std::string data;    ///< "12 files, 1.2 GB, 3f2a8c1d9b7e6045", as the first node has them
    bool operator==(const AttemptIdentity&) const = default;
};

} // namespace rm
