// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace rm {

/// The trainer's command line.
struct Options {
    std::string spec;
    std::string runDir = ".";
    std::string startFrom;    ///< checkpoint folder, needed on rank 0; empty: from scratch
    bool fallsBack = false;   ///< if that one is damaged: from the newest whole one before it
    std::string device;       ///< empty: what the spec says
    bool saveInitial = false; ///< a checkpoint before the first step
};

/// "ringmaster-trainer 0.2.0"
const char* trainerRelease();

/// nullopt: help or version was printed. `footer`: what --help says last.
Result<std::optional<Options>> parseOptions(int argc, char** argv, const std::string& footer);

/// Parses a command line, this one or that of a subcommand. false: help or version was printed and
/// there is nothing more to do. kInvalid says what is wrong with it.
Result<bool> parseArguments(CLI::App& app, int argc, char** argv);

} // namespace rm
