// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/session/options.h"

#include "shared/return_if_error.h"

#include <CLI/CLI.hpp>

namespace rm {

const char* trainerRelease() {
    return "ringmaster-trainer " RINGMASTER_VERSION;
}

Result<std::optional<Options>> parseOptions(int argc, char** argv, const std::string& footer) {
    Options options;
    CLI::App app("One rank of a training run. Rank, world and master come from torchrun's "
                 "environment variables, or from those of srun; without them it trains alone.",
                 "ringmaster-trainer");
    app.footer(footer);
    app.set_version_flag("--version", trainerRelease());
    app.add_option("--spec", options.spec, "Run spec (TOML)")->required();
    app.add_option("--run-dir", options.runDir, "Where journal, board and checkpoints go")
        ->capture_default_str();
    app.add_option("--start-from", options.startFrom, "Checkpoint folder to go on from");
    app.add_flag("--fall-back", options.fallsBack,
                 "If that checkpoint is damaged, go on from the newest whole one before it");
    app.add_option("--device", options.device, "auto, cpu or cuda, instead of the spec's")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    app.add_flag("--save-initial", options.saveInitial, "Checkpoint before the first step");
    RM_ASSIGN_OR_RETURN(const auto continues, parseArguments(app, argc, argv));
    if (!continues)
        return std::nullopt;
    return options;
}

Result<bool> parseArguments(CLI::App& app, int argc, char** argv) {
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& wish) { // CLI11 reports by exception
        app.exit(wish);
        return false;
    } catch (const CLI::ParseError& error) {
        return fail(ErrorCode::kInvalid,
                    std::string("read command line: ") + error.what() + " (see --help)");
    }
    return true;
}

} // namespace rm
