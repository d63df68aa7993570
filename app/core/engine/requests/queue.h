// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/queue/sweep.h"
#include "app/core/store/queue.h"
#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <QFuture>
#include <QString>

#include <string>
#include <vector>

namespace rm {

class LocalEngine;

/// Puts a new run at the end of the queue, or all runs of a sweep: none of them is on any node yet.
/// kInvalid: a spec is out of bounds, a node is named twice, a run exists already, as one does that
/// was put there by the same request, or the spec would resume an earlier run. kNotFound: a node is
/// not in the list.
struct EnqueueRequest {
    using Answer = Result<void>;

    RunSpec spec;
    SweepPlan sweep;           ///< without axes: one run of `spec`
    std::vector<QString> runs; ///< the new ids, as many as there are runs (sweepSpecs())
    QueuedPlace place;
    QString sweepId; ///< of a sweep, a new one

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const EnqueueRequest&) const = default;
};

/// Puts a run that has ended at the end of the queue, to go on from its newest checkpoint.
/// kInvalid: it has not ended, or waits already.
struct EnqueueResumeRequest {
    using Answer = Result<void>;

    QString run;
    QueuedPlace place;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const EnqueueResumeRequest&) const = default;
};

/// `place` counts from 0; beyond the last it is the last. kNotFound: the run does not wait.
struct MoveInQueueRequest {
    using Answer = Result<void>;

    QString run;
    int place = 0;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const MoveInQueueRequest&) const = default;
};

/// Why a run of the queue could not be started.
struct QueueProblem {
    QString run;
    QString why;
    bool operator==(const QueueProblem&) const = default;
};

/// What StartQueuedRequest did.
struct QueueProgress {
    std::vector<QString> started;
    std::vector<QueueProblem> problems;
    int waiting = 0;   ///< runs that wait still
    int undecided = 0; ///< runs on their way to where a sweep compares, or there
    int64_t look = 0;  ///< later looks have larger numbers
    bool operator==(const QueueProgress&) const = default;
};

/// Starts all runs of the queue whose nodes are free, and lets sweeps that halve go on. The answer
/// comes when the ranks of these runs train, or could not be started. A run whose node cannot be
/// reached, or refuses the login, waits on, and its node is tried again after a minute. Whoever
/// wants the queue to go on asks this again and again (QueueDriver).
struct StartQueuedRequest {
    using Answer = Result<QueueProgress>;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const StartQueuedRequest&) const = default;
};

} // namespace rm
