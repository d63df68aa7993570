// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/memory/estimate_subcommand.h"

#include "shared/exit_code.h"
#include "shared/return_if_error.h"
#include "trainer/train/device/host_heap.h"
#include "trainer/train/memory/estimate_report.h"
#include "trainer/train/session/failure.h"
#include "trainer/train/session/options.h"
#include "trainer/train/session/session.h"
#include "trainer/train/session/subcommand_io.h"
#include "trainer/train/workloads/registry.h"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace rm {
namespace {

constexpr int kMostRanks = 1 << 20;

struct EstimateOptions {
    std::string spec;
    std::string device;
    int ranks = 0;
    int localRanks = 0;
    bool json = false;
    bool advise = false;
    bool findBatch = false;
    int64_t memory = 0;
};

void addOptions(CLI::App& app, EstimateOptions& options) {
    app.add_option("SPEC", options.spec, "Run spec (TOML); -: standard input")->required();
    app.add_option("--ranks", options.ranks, "Ranks of the run; else launch.ranks, or one")
        ->check(CLI::Range(1, kMostRanks));
    app.add_option("--local-ranks", options.localRanks,
                   "Ranks on this machine; else launch.ranks, or all")
        ->check(CLI::Range(1, kMostRanks));
    app.add_option("--device", options.device, "auto, cpu or cuda, instead of the spec's")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    app.add_flag("--json", options.json, "One JSON object");
    app.add_flag("--advise", options.advise, "If it does not fit, say what would");
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

/// Shows on stderr, every half second while it lives, what is being done.
class Patience {
public:
    explicit Patience(std::string what)
        : m_thread([what = std::move(what)](const std::stop_token& stop) { show(what, stop); }) {}

private:
    static void show(const std::string& what, const std::stop_token& stop) {
        constexpr std::chrono::milliseconds kInterval(500);
        std::mutex mutex;
        std::condition_variable_any stopped;
        std::unique_lock lock(mutex);
        for (auto passed = kInterval;; passed += kInterval) {
            if (stopped.wait_for(lock, stop, kInterval, [&] { return stop.stop_requested(); }))
                return;
            std::fprintf(stderr, "%s: %.1f s\n", what.c_str(),
                         std::chrono::duration<double>(passed).count());
        }
    }

    std::jthread m_thread;
};

/// One estimate, from the spec to the report.
class Estimation {
public:
    Estimation(RunSpec spec, const EstimateOptions& options)
        : m_options(options)
        , m_ranks(options.ranks > 0 ? options.ranks
                                    : std::max(1, static_cast<int>(spec.launch.ranks)))
        , m_localRanks(localRanksOf(spec))
        , m_spec(withAccumulation(std::move(spec), m_ranks))
        , m_batch(workloadOf(m_spec).microBatch(m_spec)) {}

    Result<EstimateReport> run() {
        RM_ASSIGN_OR_RETURN(const auto sizes, workloadOf(m_spec).dataSizes(m_spec));
        RM_ASSIGN_OR_RETURN(const auto device, openDevice(m_spec, m_options, m_localRanks));
        m_sizes = sizes;
        m_device = device;
        const int64_t free = m_device.plugin->memory().free;
        describe(free);
        const MemoryEstimate least = leastMemory(m_spec, m_sizes, m_ranks, m_device);
        const auto forecast = least.total() <= free || free == 0 ? rehearse(free) : std::nullopt;
        if (forecast)
            return completed(*forecast);
        m_report.estimate = least;
        m_report.isLeast = true;
        if (m_options.findBatch)
            return fail(ErrorCode::kExhausted, "find a batch: there is no room to rehearse it; " +
                                                   whatNeedsLess(m_spec, m_ranks, true));
        if (m_options.advise)
            m_report.advice = whatNeedsLess(m_spec, m_ranks, true);
        return m_report;
    }

private:
    int localRanksOf(const RunSpec& spec) const {
        const auto wanted = static_cast<int>(spec.launch.ranks);
        if (m_options.localRanks > 0)
            return std::min(m_options.localRanks, m_ranks);
        return wanted > 0 ? std::min(wanted, m_ranks) : m_ranks;
    }

    void describe(int64_t free) {
        m_report.name = m_spec.name;
        m_report.device = m_device.plugin->deviceName();
        m_report.ranks = m_ranks;
        m_report.localRanks = m_device.isCpu() ? m_localRanks : 1;
        m_report.batchKey = m_batch.key;
        m_report.batchValue = m_batch.samples * m_batch.valueOfOne;
        m_report.assumed = m_sizes.assumed;
        m_report.freeBytes = free / m_report.localRanks;
    }

    /// nullopt: there is not enough memory for it.
    std::optional<MemoryForecast> rehearse(int64_t free) const {
        if (m_device.isCpu() && free > 0)
            limitMemory(free);
        try {
            return MemoryForecast::make(m_spec, m_sizes, m_ranks, m_device, m_batch.samples);
        } catch (const std::exception& error) {
            if (endingOf(error).code != ExitCode::kExhausted)
                throw;
            return std::nullopt;
        }
    }

    Result<EstimateReport> completed(const MemoryForecast& forecast) {
        m_report.estimate = forecast.at(m_batch.samples);
        if (m_options.advise && !m_report.fits())
            m_report.advice = whatWouldFit(m_spec, m_sizes, m_ranks, m_device, forecast,
                                           safeShare(m_report.freeBytes));
        if (!m_options.findBatch)
            return m_report;
        RM_ASSIGN_OR_RETURN(
            const auto found,
            findBatch(m_spec, m_sizes, m_ranks, m_device, forecast,
                      m_options.memory > 0 ? m_options.memory : safeShare(m_report.freeBytes)));
        m_report.found = found;
        return m_report;
    }

    const EstimateOptions& m_options;
    int m_ranks;
    int m_localRanks;
    RunSpec m_spec;
    MicroBatch m_batch;
    DataSizes m_sizes;
    Device m_device;
    EstimateReport m_report;
};

} // namespace

Result<void> estimateSubcommand(int argc, char** argv) {
    EstimateOptions options;
    CLI::App app("Says what one rank of a run needs in memory, without training: it rehearses a "
                 "step with made-up data. On a CPU no more than a small model's is computed, and "
                 "seconds suffice; on a GPU that needs room for the weights, the gradients and a "
                 "few samples. Data is not read.",
                 "ringmaster-trainer estimate");
    addOptions(app, options);
    const auto continues = parseArguments(app, argc, argv);
    if (!continues || !*continues)
        return continues.map([](bool) {});
    RM_ASSIGN_OR_RETURN(const auto spec, specFrom(options.spec));
    if (options.json)
        endWithReader();
    keepFreedMemory(); // as a run does
    std::optional<Patience> patience;
    if (!options.json || isatty(STDERR_FILENO))
        patience.emplace("estimate " + spec.name + ": rehearsing a step");
    const auto report = Estimation(spec, options).run();
    patience.reset();
    if (!report)
        return failAs("estimate " + options.spec, report.error());
    std::fputs((options.json ? toJson(*report) : toText(*report)).c_str(), stdout);
    return {};
}

} // namespace rm
