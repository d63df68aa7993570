// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/requests/launch.h"
#include "app/core/launch/launcher.h"
#include "app/core/runs/procedure_context.h"
#include "app/core/store/run_summary.h"
#include "shared/spec/run_spec.h"

#include <QString>

#include <optional>
#include <vector>

namespace rm {

/// Where a new run starts from; default: from scratch.
struct Origin {
    QString parentRun;
    int64_t parentStep = 0;
    std::string checkpoint;                          ///< folder on the node of rank 0
    bool isExact = true;                             ///< see NodePlan::startFromIsExact
    std::optional<StepsBefore> steps = std::nullopt; ///< those that made it
    QString sameAs = {};                             ///< see LaunchRequest
};

/// Checks, records the run under `id` (see newRunId()), deploys and starts it: its id. Where a
/// node has too little memory (see Launcher::whatIsTooLarge()) and that is to be refused, the run
/// is not recorded: kExhausted, and `tooLarge` says the same. A failure of the check and of that
/// leaves no trace; a later one leaves the run as failed with the message, or as stopped when the
/// token was cancelled, and nothing running.
Result<QString> launchRun(const ProcedureContext& context, const QString& id,
                          const CheckedSpec& spec, const std::vector<PlacedParty>& nodes,
                          const Origin& origin, IfTooLarge ifTooLarge);

/// The checkpoint that a branch starts from, and the branch's spec.
struct BranchPointOf {
    QString parent;
    std::string checkpoint;          ///< see findCheckpoint(); empty: the newest that is whole
    std::optional<CheckedSpec> spec; ///< nullopt: see specOfBranch()
};

/// launchRun() from a checkpoint of another run, which is brought to the first of `nodes`
/// (bringCheckpoint()) and verified there. Where none was named, one that is damaged or nowhere any
/// more is passed over for the newest before it, which an event of the new run says.
Result<QString> branchRun(const ProcedureContext& context, const QString& id,
                          const BranchPointOf& from, const std::vector<PlacedParty>& nodes,
                          IfTooLarge ifTooLarge);

/// The next attempt of a run that has ended, from resumePoint(), which is brought to the first of
/// `nodes` (bringCheckpoint()). What lives of it on nodes that were declared lost is ended first
/// where that can be done at once. A checkpoint that was named (`which`) is verified
/// first; the newest, if it is damaged, is replaced on its node by the newest whole one before it.
/// On failure the run keeps the state that it had; the attempt's number is used up once a node may
/// have seen it. Too little memory is refused as by launchRun().
Result<QString> resumeRun(const ProcedureContext& context, const RunSummary& run,
                          const std::vector<PlacedParty>& nodes, const std::string& which,
                          IfTooLarge ifTooLarge);

} // namespace rm
