// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/estimate_verb.h"

#include "trainer/train/memory/estimate_report.h"
#include "trainer/train/session.h"
#include "trainer/train/verbs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace rm {
namespace {

constexpr int kMostRanks = 1 << 20;

struct EstimateOptions {
    std::string spec;
    std::string device;
    int ranks = 0;
    bool json = false;
    bool findBatch = false;
    int64_t memory = 0;
};

void addOptions(CLI::App& app, EstimateOptions& options) {
    app.add_option("SPEC", options.spec, "Run spec (TOML)")->required();
    app.add_option("--ranks", options.ranks,
                   "Ranks of the run; else launch.ranks, or one. launch.ranks of them share a "
                   "machine, or all")
        ->check(CLI::Range(1, kMostRanks));
    app.add_option("--device", options.device, "auto, cpu or cuda, instead of the spec's")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    app.add_flag("--json", options.json, "One JSON object");
    auto* find = app.add_flag("--find-batch", options.findBatch,
                              "Also the largest train.batch_size or batch_tokens that fits");
    app.add_option("--memory", options.memory,
                   "With --find-batch: bytes for one rank (a GPU's, a rank's share of a machine); "
                   "else nine tenths of what is free now. 24GB and 24GiB are understood")
        ->needs(find)
        ->transform(CLI::AsSizeValue(false));
}

Result<Device> openDevice(const RunSpec& spec, const EstimateOptions& options, int localRanks) {
    auto device = useDevice(options.device.empty() ? spec.launch.device : options.device, 0,
                            threadsPerRank(spec, localRanks));
    if (device)
        configureDevice(*device, spec, "");
    return device;
}

Result<EstimateReport> estimate(RunSpec spec, const EstimateOptions& options) {
    const auto wanted = static_cast<int>(spec.launch.ranks);
    const int ranks = options.ranks > 0 ? options.ranks : std::max(1, wanted);
    const int localRanks = wanted > 0 ? std::min(wanted, ranks) : ranks;
    spec = withAccumulation(std::move(spec), ranks);
    const auto sizes = dataSizesOf(spec);
    if (!sizes)
        return tl::unexpected(sizes.error());
    const auto device = openDevice(spec, options, localRanks);
    if (!device)
        return tl::unexpected(device.error());
    const int64_t samples = samplesOf(spec);
    EstimateReport report;
    const int64_t free = device->plugin->memory().free;
    const auto forecast = MemoryForecast::make(spec, *sizes, ranks, *device, samples);
    report.name = spec.name;
    report.device = device->plugin->deviceName();
    report.ranks = ranks;
    report.localRanks = device->isCpu() ? localRanks : 1;
    report.batchKey = batchKeyOf(spec);
    report.batchValue = batchValueOf(spec, samples);
    report.assumed = sizes->assumed;
    report.estimate = forecast.at(samples);
    report.freeBytes = free / report.localRanks;
    if (!options.findBatch)
        return report;
    const auto found = findBatch(spec, *sizes, ranks, *device, forecast,
                                 options.memory > 0 ? options.memory : safeShare(report.freeBytes));
    if (!found)
        return tl::unexpected(found.error());
    report.found = *found;
    return report;
}

} // namespace

Result<void> estimateVerb(int argc, char** argv) {
    EstimateOptions options;
    CLI::App app("Says what one rank of a run needs in memory, without training: it rehearses a "
                 "step with made-up data and few samples, so it needs room for the weights, the "
                 "gradients and those. Data is not read.",
                 "ringmaster-trainer estimate");
    addOptions(app, options);
    const auto goesOn = parseArguments(app, argc, argv);
    if (!goesOn || !*goesOn)
        return goesOn.map([](bool) {});
    const auto spec = readSpec(options.spec);
    if (!spec)
        return tl::unexpected(spec.error());
    const auto report = estimate(*spec, options);
    if (!report)
        return failAs("estimate " + options.spec, report.error());
    std::fputs((options.json ? toJson(*report) : toText(*report)).c_str(), stdout);
    return {};
}

} // namespace rm
