// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/launcher.h"
#include "app/core/runs/live_state.h"
#include "app/core/runs/procedure_context.h"
#include "app/core/store/store_reader.h"
#include "shared/spec/run_spec.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// Code of the event that says what a launch with checkpoint.on_existing = "resume" has found.
inline constexpr const char* kEarlierRunEvent = "earlier-run";

/// The newest checkpoint of a run of the launch's name, from which the launch goes on.
struct EarlierRun {
    QString run;            ///< its id here; empty: it is not known here
    std::string checkpoint; ///< of a run not known here: its folder on the first node
    int64_t step = 0;
    std::string differences; ///< keys in which the specs differ; empty: in none that counts
    std::string words;       ///< what that leads to, for people

    /// The launch becomes the next attempt of that run.
    bool isSame() const { return !run.isEmpty() && differences.empty(); }
};

/// The runs of the launch's name that save where it would and have not ended, as far as is known
/// here. What they saved since is on their nodes alone, so that they are followed first.
std::vector<RunSummary> openEarlierRuns(StoreReader& reader, const RunSpec& spec);

/// Whether one of these runs is read to its end, after it was followed for `waitedNs`. nullopt: not
/// all that it saved is known here yet. kInvalid: it is alive, and a launch that goes on from it
/// would train beside it; see resumesByItself().
/// kUnavailable, kDenied: a node of it cannot be read.
std::optional<Result<void>> caughtUp(const RunSummary& run, const LiveState& live, int64_t nowNs,
                                     int64_t waitedNs);

/// What to tell of a run whose agents have begun a next attempt, which was not known `before`, if
/// the launch asks for no more than that: the same settings on the same nodes. nullopt: it
/// asks for more, or they have not begun one. After caughtUp().
std::optional<std::string> resumesByItself(StoreReader& reader, const RunSpec& spec,
                                           const std::vector<Placement>& nodes,
                                           const RunSummary& before);

/// Looks in checkpoint.directory on all of `nodes`; where the spec names none, among the runs that
/// are known here. nullopt: there is nothing to go on from. kInvalid: it has not ended, or a run
/// that is not known here has its checkpoints on a node that is not the first. Blocks.
Result<std::optional<EarlierRun>> findEarlierRun(const ProcedureContext& context,
                                                 const QString& shownFor, const RunSpec& spec,
                                                 const std::vector<PlacedParty>& nodes);

} // namespace rm
