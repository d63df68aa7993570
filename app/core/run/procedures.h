// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/host_worker.h"
#include "app/core/launch/launcher.h"
#include "app/core/run/engine.h"
#include "app/core/run/launch_permit.h"
#include "app/core/run/writer_thread.h"
#include "shared/spec/run_spec.h"

#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace rm {

/// Code of the event of an attempt that trains on CPUs while GPUs stay idle.
inline constexpr const char* kIdleGpusEvent = "idle-gpus";

/// What a procedure below works with. Shared with the thread that runs it.
struct ProcedureContext {
    std::shared_ptr<WriterThread> writer;
    std::shared_ptr<HostPool> hosts;
    QString database;
    std::shared_ptr<LaunchPermit> permit;
    std::vector<Node> nodes;                                           ///< all that are known
    std::function<void(const QString& run, const Progress&)> progress; ///< any thread
    std::function<void(const QString& run)> changed; ///< the run's summary changed; any thread
    /// A sentence that says why a new run was not launched: a node has too little memory. Any
    /// thread.
    std::function<void(const QString& run, const QString& why)> tooLarge;
};

/// Where a new run starts from; default: from scratch.
struct Origin {
    QString parentRun;
    int64_t parentStep = 0;
    std::string checkpoint;                          ///< folder on the node of rank 0
    bool isExact = true;                             ///< see NodePlan::startFromIsExact
    std::optional<StepsBefore> steps = std::nullopt; ///< that it was made by
};

/// Checks, records the run under `id` (see newRunId()), deploys and starts it: its id. Where a
/// node has too little memory (see Launcher::whatIsTooLarge()) and that is to be refused, the run
/// is not recorded: kExhausted, and `tooLarge` says the same. A failure of the check and of that
/// leaves no trace; a later one leaves the run as failed with the message, or as stopped when the
/// permit was cancelled, and nothing running.
Result<QString> launchRun(const ProcedureContext& context, const QString& id,
                          const CheckedSpec& spec, const std::vector<PlacedParty>& nodes,
                          const Origin& origin, IfTooLarge ifTooLarge);

/// What a branch starts from.
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
/// have seen it.
Result<QString> resumeRun(const ProcedureContext& context, const RunSummary& run,
                          const std::vector<PlacedParty>& nodes, const std::string& which);

/// Copies what a node has of a run and the database has not, of attempts that count: those that
/// were asked for with it. Its part of the run has ended. Blocks.
Result<void> fetchRest(const ProcedureContext& context, const Node& node, const QString& run,
                       std::stop_token unwanted);

/// The same of those nodes of a run that answer at once, if it has ended: its agents may have
/// copied the last checkpoint since it was followed. Blocks for a few seconds at most.
void fetchLate(const ProcedureContext& context, StoreReader& reader, const QString& run);

/// Ends what lives of a run on a node that was declared lost, copies what it has of it
/// (fetchRest()), and stores that this is done. True: something lived.
Result<bool> endGivenUp(const ProcedureContext& context, const Node& node,
                        const GivenUpNode& givenUp, std::stop_token unwanted);

/// Removes a checkpoint of an abandoned line from the node where it was saved. kInvalid: it is of
/// the living line.
Result<void> removeCheckpoint(const ProcedureContext& context, const QString& run,
                              const std::string& which);

/// Compares every byte of a checkpoint (see findCheckpoint()) with its manifest, in each place
/// where it lies, and stores when all of them were whole. The error is that of verdictOf();
/// kCorrupt: what is wrong, or that it is not there any more.
Result<void> verifyCheckpoint(const ProcedureContext& context, const QString& run,
                              const std::string& which);

/// kNotFound: it is not in the list of nodes (any more).
Result<Node> nodeCalled(const ProcedureContext& context, const std::string& name);

/// A checkpoint of `run` that isSomewhere(): newestLiving() (`which` empty), that
/// of a step (of the living line, else of the one abandoned line that has it: kInvalid when there
/// are several) or that in a folder of this name. kNotFound names the steps there are.
Result<StoredCheckpoint> findCheckpoint(StoreReader& reader, const QString& run,
                                        const std::string& which);

} // namespace rm
