// SPDX-License-Identifier: Apache-2.0
#include "shared/io/control_group.h"
#include "shared/return_if_error.h"
#include "trainer/train/device/host_heap.h"
#include "trainer/train/measure/step_profile.h"
#include "trainer/train/measure/subcommands.h"
#include "trainer/train/session/options.h"
#include "trainer/train/session/session.h"
#include "trainer/train/session/subcommand_io.h"
#include "trainer/train/workloads/registry.h"

#include <CLI/CLI.hpp>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <thread>

namespace rm {
Result<void> stepProfileSubcommand(int argc, char** argv) {
    std::string path;
    std::string device = "auto";
    double seconds = 3;
    int localRanks = 1;
    CLI::App app("Measures a step of training without any other rank, with made-up data, for "
                 "forecasts of several: one JSON object. Data is not read.",
                 "ringmaster-trainer step-profile");
    app.add_option("SPEC", path, "Run spec (TOML); -: standard input")->required();
    app.add_option("--device", device, "auto, cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
    app.add_option("--local-ranks", localRanks, "Ranks that would share this machine's cores")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    app.add_option("--seconds", seconds, "How long")
        ->check(CLI::Range(0.1, 3600.0))
        ->capture_default_str();
    const auto continues = parseArguments(app, argc, argv);
    if (!continues || !*continues)
        return continues.map([](bool) {});
    RM_ASSIGN_OR_RETURN(const auto spec, specFrom(path));
    endWithReader();
    keepFreedMemory(); // as a run does
    RM_ASSIGN_OR_RETURN(const auto sizes, workloadOf(spec).dataSizes(spec));
    const int threads = threadsPerRank(spec, localRanks);
    RM_ASSIGN_OR_RETURN(const auto place, useDevice(device, 0, threads));
    configureDevice(place, spec, "");
    auto profile = profileStep(spec, sizes, place, std::chrono::duration<double>(seconds));
    profile.spareCores = std::max<int64_t>(0, givenCores() - int64_t{localRanks} * threads);
    std::printf("%s\n", toJson(profile).c_str());
    return {};
}

} // namespace rm
