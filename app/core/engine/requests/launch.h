// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/checkpoints/checkpoint_orders.h"
#include "app/core/findings/check_row.h"
#include "app/core/launch/node_preflight.h"
#include "app/core/launch/plan.h"
#include "app/core/store/requested_command.h"
#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <QFuture>
#include <QString>

#include <optional>
#include <string>
#include <vector>

namespace rm {

class LocalEngine;

/// What becomes of a launch for which a node seems to have too little memory.
enum class IfTooLarge { kRefuse, kLaunch };

/// The id in a script that is shown before its run is launched.
inline constexpr const char* kRunIdInScript = "RUN_ID";

/// Checks, deploys, plans, starts, attaches. The answer is the new run's id: `run`, or a generated
/// one when that is empty (see newRunId()). kInvalid: the spec is out of bounds (see check()). If a
/// node has too little memory by its trainer's estimate, Engine::tooLarge() is emitted and the
/// answer is kExhausted; nothing was started. A later failure marks the listed run as failed with
/// the message and leaves nothing running.
///
/// With checkpoint.on_existing = "resume" the answer may be the id of an earlier run of that name
/// (see findEarlierRun()), of which the next attempt was begun, by this launch or, while it looked,
/// by the run's own agents; an event of the run (kEarlierRunEvent) says what it was. Until the
/// answer CommandRequest, Engine::live() and the signals take `run` for that run.
struct LaunchRequest {
    using Answer = Result<QString>;
    static constexpr bool kStartsRanks = true;

    RunSpec spec;
    std::vector<Placement> nodes;
    QString run = {};
    IfTooLarge ifTooLarge = IfTooLarge::kRefuse;
    /// A run whose trainer and data this one is to have, too. kInvalid, naming what differs or is
    /// not known: it would not. Empty: none.
    QString sameAs = {};

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const LaunchRequest&) const = default;
};

/// Begins the next attempt from a checkpoint: the newest one of the living line, or `checkpoint`, a
/// step or the name of a folder (see findCheckpoint()). The answer is `run`. kCorrupt: that
/// checkpoint is damaged. If the newest is, the attempt starts from the newest whole one before it
/// and says so by an event (kCheckpointDamagedEvent). What it retires is set aside; see
/// StoreReader::retirementBy().
///
/// The checkpoint is copied to the first of the nodes if it does not lie there, from where it was
/// saved or from a copy of it. kUnavailable: none of these can be reached. Where all have answered
/// that they do not have the newest any more, the newest before it that is somewhere is taken, and
/// an event says so (checkpoint-gone); of one that was named that is kNotFound. Where a node has
/// too little memory, the run stays as it was: see LaunchRequest. It is stored as a command, unless
/// it is refused at once.
struct ResumeRequest {
    using Answer = Result<QString>;
    static constexpr bool kStartsRanks = true;

    QString run;
    QString checkpoint = {};           ///< empty: the newest
    std::vector<Placement> nodes = {}; ///< empty: those of the last attempt
    Requester by = {};
    IfTooLarge ifTooLarge = IfTooLarge::kRefuse;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const ResumeRequest&) const = default;
};

/// Launches a new run, with its own checkpoints, from a checkpoint of `parent`. The checkpoint, how
/// it comes to the nodes and what happens where the newest is damaged or gone are as
/// ResumeRequest's, the rest is as LaunchRequest's.
struct BranchRequest {
    using Answer = Result<QString>;
    static constexpr bool kStartsRanks = true;

    QString parent;
    QString checkpoint = {};          ///< empty: the newest
    std::optional<RunSpec> spec = {}; ///< nullopt: see specOfBranch()
    QString run = {};                 ///< empty: the holder generates it
    IfTooLarge ifTooLarge = IfTooLarge::kRefuse;
    std::vector<Placement> nodes = {}; ///< empty: those of the parent's last attempt

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const BranchRequest&) const = default;
};

/// Says what ResumeRequest with the same members would do.
struct ResumePreflightRequest {
    using Answer = Result<ResumePreflight>;

    QString run;
    QString checkpoint = {};
    std::vector<Placement> nodes = {};

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const ResumePreflightRequest&) const = default;
};

/// Connects to the node to find out what a launch would find there; nothing is started. The spec
/// may be out of bounds.
struct NodePreflightRequest {
    using Answer = Result<NodePreflight>;

    RunSpec spec;
    QString node;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const NodePreflightRequest&) const = default;
};

/// Asks what the nodes say of a launch together (launchRows()); nothing is started. The spec may
/// be out of bounds.
struct CheckLaunchRequest {
    using Answer = Result<std::vector<CheckRow>>;

    RunSpec spec;
    std::vector<Placement> nodes;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const CheckLaunchRequest&) const = default;
};

/// The script that a launch would hand to the batch system of the nodes (Slurm's sbatch), with
/// kRunIdInScript in the place of the run's id; nothing is started. kInvalid: they have none. What
/// a launch would find missing is an error here, too.
struct BatchScriptRequest {
    using Answer = Result<QString>;

    RunSpec spec;
    std::vector<Placement> nodes;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const BatchScriptRequest&) const = default;
};

} // namespace rm
