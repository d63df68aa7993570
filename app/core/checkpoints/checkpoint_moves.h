// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/checkpoints/checkpoint_copier.h"
#include "app/core/checkpoints/checkpoint_orders.h"
#include "app/core/launch/launcher.h"
#include "app/core/runs/procedure_context.h"
#include "app/core/store/store_reader.h"
#include "shared/checkpoint/compare.h"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace rm {

// Each call blocks until its nodes have answered, or until the answer is not wanted any more.

/// How the first node of an attempt comes to a checkpoint.
struct CheckpointWay {
    std::string folder;              ///< on that node, where it lies or is looked for
    std::optional<std::string> from; ///< the node that has to send it; nullopt: it lies there
    std::string sourceFolder;        ///< on that one
    int64_t bytes = 0;
    std::optional<StepsBefore> steps = std::nullopt; ///< those that made it, where it was found
};

/// Looks on `first`, then where it was saved, then for copies of it, last for those that agents
/// have made since the run was followed. kUnavailable names every place and why it cannot be taken
/// from there; so does kNotFound, where all of them have answered. If it was saved on `first` and
/// is whole neither there nor elsewhere, the answer is its folder: what the attempt makes of that
/// is said at ResumeRequest.
Result<CheckpointWay> wayTo(const ProcedureContext& context, const QString& run,
                            const StoredCheckpoint& checkpoint, const Node& first,
                            std::stop_token stop);

/// A node that has the checkpoint, and the folder there.
struct CheckpointSpot {
    Node node;
    std::string folder;
};
/// Looks where it was saved, then for its copies. Errors are those of wayTo().
Result<CheckpointSpot> whereItLies(const ProcedureContext& context, const QString& run,
                                   const StoredCheckpoint& checkpoint, std::stop_token stop);

/// The steps that an attempt of the same run goes on from.
std::optional<StepsBefore> stepsOfResume(const CheckpointWay& way);

/// The newest of the living line before `checkpoint` that isSomewhere().
std::optional<StoredCheckpoint> olderThan(StoreReader& reader, const QString& run,
                                          const StoredCheckpoint& checkpoint);

/// The checkpoint that an attempt which starts on `first` goes on from.
struct ResumePoint {
    struct Gone {
        int64_t step = 0;
        std::string why;
    };
    StoredCheckpoint checkpoint;
    CheckpointWay way;
    std::vector<Gone> gone; ///< newer ones that are nowhere any more, the newest first
};

/// The checkpoint of findCheckpoint(). In place of the newest (`which` empty), if all its places
/// have answered that they do not have it any more, the newest before it that is still somewhere;
/// else the errors of wayTo(), which tell what else can be done.
Result<ResumePoint> resumePoint(const ProcedureContext& context, StoreReader& reader,
                                const QString& run, const std::string& which, const Node& first,
                                std::stop_token stop);

/// The folder of a checkpoint on `first`, and whether every byte of it was just verified.
/// bringCheckpoint() moves it there if it lay elsewhere; `started`: the run that waits for it.
struct BroughtCheckpoint {
    std::string folder;
    bool isVerified = false;
};
Result<BroughtCheckpoint> bringCheckpoint(const ProcedureContext& context, const QString& started,
                                          const QString& run, const StoredCheckpoint& checkpoint,
                                          const CheckpointWay& way, const Node& first);

/// See CopyCheckpointRequest. `keepCopies` as CheckpointPlace's.
Result<QString> copyCheckpoint(const ProcedureContext& context, const QString& run,
                               const std::string& which, const CopyOrder& order,
                               int64_t keepCopies);

/// Copies in the background what lies in `due.path` to its node, where the newest kKeptCopies of
/// the copies stay. False: nothing was copied, as that node reads the folder itself.
Result<bool> makeDueCopy(const ProcedureContext& context, const QString& run, const DueCopy& due);

/// See CompareCheckpointsRequest.
Result<TensorComparison> compareCheckpoints(const ProcedureContext& context, const QString& run,
                                            const std::string& a, const std::string& b);

/// See ResumePreflightRequest.
Result<ResumePreflight> lookAtResume(const ProcedureContext& context, const RunSummary& run,
                                     const std::vector<PlacedParty>& nodes,
                                     const std::string& which);

/// What else can be done where the newest checkpoint cannot be had: "; of step 1000 there is a copy
/// on this-computer, `ringmaster restore RUN 1000` goes on from it". Empty: nothing.
std::string otherPlaces(StoreReader& reader, const QString& run, const StoredCheckpoint& newest);

} // namespace rm
