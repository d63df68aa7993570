// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace rm {

/// What a trainer needs of the libraries that come from the node. Empty texts: not known, as where
/// this installation has no trainer for the runtime.
struct NeededVersions {
    std::string glibc;     ///< "2.34"
    std::string libstdcxx; ///< a GLIBCXX: "3.4.30"
    bool operator==(const NeededVersions&) const = default;
};

/// By the files of trainerBundle(runtime), which are looked through once. Any thread.
NeededVersions neededByTrainer(const std::string& runtime);

} // namespace rm
