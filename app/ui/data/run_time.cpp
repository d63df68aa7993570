// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/run_time.h"

#include "app/core/runs/parts_of_run.h"
#include "app/core/store/run_metrics.h"
#include "app/core/store/store_reader.h"

#include <algorithm>

namespace rm {

namespace {

constexpr int kMostLookedAt = 30;

bool isThere(const RunSummary& run, const RunSpec& spec, const std::vector<Placement>& nodes) {
    const auto isSame = [&spec](const Placement& was, const Placement& now) {
        const int64_t ranks = now.ranks > 0 ? now.ranks : spec.launch.ranks;
        return was.node == now.node && (ranks == 0 || was.ranks == ranks);
    };
    return std::ranges::equal(placementsOf(run.nodes), nodes, isSame);
}

/// The steps of a run of `spec`, where those of its epochs are known from `run`, whose spec is
/// `its`.
std::optional<double> stepsAs(const RunSummary& run, const RunSpec& its, const RunSpec& spec) {
    if (const auto known = knownSteps(spec))
        return static_cast<double>(*known);
    if (its.train.epochs == 0 || run.totalSteps == 0 || its.data.train != spec.data.train)
        return std::nullopt;
    return static_cast<double>(run.totalSteps) * static_cast<double>(spec.train.epochs) /
           static_cast<double>(its.train.epochs);
}

} // namespace

bool isSameWork(const RunSpec& a, const RunSpec& b) {
    const auto workOf = [](const RunSpec& spec) {
        RunSpec work;
        work.model = spec.model;
        work.model.startFrom = {};
        work.data.tokenizer = spec.data.tokenizer;
        work.data.vocabSize = spec.data.vocabSize;
        work.train = spec.train;
        work.train.steps = 1;
        work.train.epochs = 0;
        work.train.patience = 0;
        work.train.watch = {};
        work.train.logEvery = 1;
        work.optimizer.type = spec.optimizer.type;
        work.launch.device = spec.launch.device;
        return work;
    };
    return workOf(a) == workOf(b);
}

std::optional<double> secondsLike(StoreReader& reader, const RunSpec& spec,
                                  const std::vector<Placement>& nodes) {
    int lookedAt = 0;
    for (const RunSummary& run : reader.runs()) {
        if (run.trainedSteps() == 0 || !isThere(run, spec, nodes))
            continue;
        if (++lookedAt > kMostLookedAt)
            break;
        const auto its = parseRunSpec(reader.specToml(run.id), run.id.toStdString());
        if (!its || !isSameWork(*its, spec))
            continue;
        const auto steps = stepsAs(run, *its, spec);
        const StepTimes all = stepTimes(reader, run.id);
        const double stepMs = all.steps > 0 ? all.ms / static_cast<double>(all.steps) : 0;
        if (steps && stepMs > 0)
            return *steps * stepMs / 1000;
    }
    return std::nullopt;
}

} // namespace rm
