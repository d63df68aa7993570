// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/runs/step_span.h"
#include "app/core/store/run_summary.h"
#include "app/ui/widgets/chip.h"
#include "shared/metrics/registry.h"

#include <QString>

namespace rm {

/// A state as a person reads it.
struct StateWords {
    QString text;
    Tone tone = Tone::kNeutral;
    bool operator==(const StateWords&) const = default;
};

/// "Running · attempt 2", "Running, node-b unreachable", "Paused at 38 412", "Failed before step
/// 1".
StateWords stateWords(const RunSummary& run);
/// The same with the live state: "Pausing, 3 of 4 ranks", "Held at 412", "Cancelling launch".
StateWords stateWords(const RunSummary& run, const LiveState& live);

/// Its ranks do not train yet, and the launch can be cancelled. A run that restarts by itself is
/// not launched: it is stopped.
bool isPreparing(const RunSummary& run, const LiveState& live);

/// One line per lost node: "node-b unreachable since 11:02; training goes on there; retrying",
/// and one per node that refuses the login.
QString linkLostText(const LiveState& live);

/// "2 nodes · 8 ranks · started 09:14"
QString placeWords(const RunSummary& run);
/// "steps 400 to 600", "step 400", "step 400 and later".
QString stepsWords(const StepSpan& span);
/// "gpt-tiny at 401": the origin of a branch; empty: the run is not a branch.
QString parentWords(const RunSummary& run);

/// "Tokens/s", "Images/s"
QString throughputWord(const MetricDef& metric);
QString phaseTitle(const MetricDef& phase); ///< "All-reduce"

/// "52 MB sent · 80 MB/s · 1 s left": of a transfer, as far as it is known.
QString amountWords(const Progress& progress);
/// "Send trainer to node-b", "Send trainer to 3 nodes"
QString stageWords(const Progress& progress);
/// "Send trainer to node-b: 210 MB of 403 MB · 52 MB sent · 80 MB/s · 1 s left": one line for all.
QString progressWords(const Progress& progress);

/// With a capital at its begin.
QString capitalized(const std::string& text);

bool canResume(RunStateKind state);

/// The node's name for people: "This computer" for the local one.
QString nodeTitle(const std::string& name);

} // namespace rm
