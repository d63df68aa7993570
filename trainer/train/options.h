// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <optional>
#include <string>

namespace rm {

/// The trainer's command line.
struct Options {
    std::string spec;
    std::string runDir = ".";
    std::string startFrom;    ///< checkpoint folder, needed on rank 0; empty: from scratch
    std::string device;       ///< empty: what the spec says
    bool saveInitial = false; ///< a checkpoint before the first step
};

/// nullopt: help or version was printed.
Result<std::optional<Options>> parseOptions(int argc, char** argv);

} // namespace rm
