// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/self_test/subcommand.h"

#include "shared/io/control_group.h"
#include "shared/io/home.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "trainer/train/formats/own_process.h"
#include "trainer/train/self_test/self_test.h"
#include "trainer/train/session/options.h"
#include "trainer/train/session/subcommand_io.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <thread>

namespace rm {
namespace {

struct SelfTestOptions {
    std::string device = "auto";
    int localRank = -1;
    bool goOn = false;
    bool json = false;
};

int hostThreads() {
    return givenCores();
}

/// Ends this process when a proof hangs, which then counts as failed.
void endAfterLongProof() {
    constexpr unsigned kLongestProofS = 45;
    ::alarm(kLongestProofS);
}

Result<void> goOn(const Device& device) {
    const std::string home = ringmasterHome();
    SelfTest test = keptOr(home, untested(device));
    Result<void> kept;
    showRest(device, proofs(), test, [&](const SelfTest& now) {
        endAfterLongProof();
        if (kept)
            kept = keep(home, now);
    });
    return kept;
}

/// The proofs that make sense on a processor. No fast path is switched off there, so the kept
/// result serves the check of the node alone.
SelfTest testCpu() {
    const Device cpu = useCpu(hostThreads());
    SelfTest test = untested(cpu);
    showRest(cpu, proofs(), test, [](const SelfTest&) {});
    (void)keep(ringmasterHome(), test);
    return test;
}

Result<SelfTest> testAnew(int localRank) {
    RM_ASSIGN_OR_RETURN(const auto device, useCuda(localRank));
    const SelfTest fresh = untested(device);
    const std::string home = ringmasterHome();
    std::error_code ignored;
    std::filesystem::remove(selfTestFile(home, fresh), ignored);
    return testedOnce(home, fresh, [localRank] {
        return runOwnProgram(
            {"self-test", "--device", "cuda", "--local-rank", std::to_string(localRank), "--go-on"},
            "test GPU " + std::to_string(localRank));
    });
}

Result<std::vector<SelfTest>> testAll(const SelfTestOptions& options) {
    if (options.device == "cpu")
        return std::vector{testCpu()};
    const auto first = useCuda(std::max(0, options.localRank));
    if (!first && options.device == "auto" && first.error().code == ErrorCode::kNotFound)
        return std::vector{testCpu()};
    if (!first)
        return tl::unexpected(first.error());
    const int count = first->plugin->probe().count;
    std::vector<SelfTest> tests;
    for (int rank = 0; rank < count; ++rank) {
        if (options.localRank >= 0 && rank != options.localRank)
            continue;
        RM_ASSIGN_OR_RETURN(auto test, testAnew(rank));
        tests.push_back(std::move(test));
    }
    return tests;
}

void print(const SelfTest& test) {
    std::printf("%s%s%s, %s\n", test.device.c_str(), test.driver.empty() ? "" : ", driver ",
                test.driver.c_str(), test.runtime.c_str());
    for (const SelfTestProof& proof : test.proofs)
        std::printf("  %s  %s: %s (%.1f s)\n", proof.held ? "ok    " : "FAILED", proof.name.c_str(),
                    proof.evidence.c_str(), static_cast<double>(proof.ms) / 1000);
}

void printJson(const std::vector<SelfTest>& tests) {
    NodeReport report; // its JSON has the same key
    report.selfTests = tests;
    std::printf("%s\n",
                dumpJson({{"self_tests", Json::parse(toJson(report)).at("self_tests")}}).c_str());
}

Result<void> verdictOf(const std::vector<SelfTest>& tests) {
    for (const SelfTest& test : tests)
        if (const auto texts = failureTexts(test); !texts.empty())
            return fail(ErrorCode::kUnavailable, texts.front());
    return {};
}

} // namespace

Result<void> selfTestSubcommand(int argc, char** argv) {
    SelfTestOptions options;
    CLI::App app("Compares what the devices of this machine compute with what is right, and keeps "
                 "the result for each GPU with its driver and libraries: training switches off "
                 "what failed. Training on a GPU does this by itself the first time.",
                 "ringmaster-trainer self-test");
    app.add_option("--device", options.device, "auto, cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
    app.add_option("--local-rank", options.localRank, "Only this GPU")->check(CLI::Range(0, 1024));
    app.add_flag("--go-on", options.goOn, "Only what was not tested yet, in this process")
        ->needs("--local-rank");
    app.add_flag("--json", options.json, "One JSON object; a failed proof is no error then");
    const auto parsed = parseArguments(app, argc, argv);
    if (!parsed || !*parsed)
        return parsed.map([](bool) {});
    if (options.goOn) {
        endWithReader(STDERR_FILENO); // the process that started this one reads it
        RM_ASSIGN_OR_RETURN(const auto device,
                            useDevice(options.device, options.localRank, hostThreads()));
        return goOn(device);
    }
    if (options.json)
        endWithReader();
    RM_ASSIGN_OR_RETURN(const auto tests, testAll(options));
    if (options.json) {
        printJson(tests);
        return {};
    }
    for (const SelfTest& test : tests)
        print(test);
    return verdictOf(tests);
}

} // namespace rm
