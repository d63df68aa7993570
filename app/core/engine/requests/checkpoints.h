// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/checkpoints/checkpoint_orders.h"
#include "app/core/store/requested_command.h"
#include "shared/checkpoint/compare.h"
#include "shared/result.h"

#include <QFuture>
#include <QString>

#include <string>

namespace rm {

class LocalEngine;

// A checkpoint is named by a step or by its folder: see findCheckpoint().

/// Copies a checkpoint to another place, through this program: its folder there, where every byte
/// of it is verified. Engine::progressed() tells how far it is.
struct CopyCheckpointRequest {
    using Answer = Result<QString>;

    QString run;
    QString checkpoint; ///< empty: the newest
    CopyOrder order;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const CopyCheckpointRequest&) const = default;
};

/// Decides whether retention keeps a checkpoint whatever the spec's rules say.
struct PinCheckpointRequest {
    using Answer = Result<void>;

    QString run;
    QString checkpoint;
    bool pinned = true;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const PinCheckpointRequest&) const = default;
};

/// How far the weights of two checkpoints of a run are apart, by layer. Asked of a node that has
/// both; kUnavailable: there is none.
struct CompareCheckpointsRequest {
    using Answer = Result<TensorComparison>;

    QString run;
    QString a, b;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const CompareCheckpointsRequest&) const = default;
};

/// Removes a checkpoint that isRemovable() from its node, also while the run goes on. For
/// kAsideDays it can be brought back. kInvalid: it is pinned, or the run needs it. Once done it is
/// stored as a command (kRemoveCheckpoint).
struct RemoveCheckpointRequest {
    using Answer = Result<void>;

    QString run;
    QString checkpoint;
    Requester by = {};

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const RemoveCheckpointRequest&) const = default;
};

/// Undoes RemoveCheckpointRequest, and is stored likewise. kNotFound: too late.
struct BringBackCheckpointRequest {
    using Answer = Result<void>;

    QString run;
    QString checkpoint;
    Requester by = {};

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const BringBackCheckpointRequest&) const = default;
};

/// Lets the model of a checkpoint answer one input, on a node where it lies, which is sent the
/// trainer where it is missing. Where a run trains on that node, on the CPU, with few threads and
/// at low priority. Engine::progressed() tells how far it is, by tryName(id). kNotFound: it is
/// nowhere any more; kInvalid: the model takes another kind of input.
struct TryCheckpointRequest {
    using Answer = Result<TriedCheckpoint>;

    QString run;
    QString checkpoint; ///< empty: the newest
    TryOrder order;
    QString id = {}; ///< of the asker's choice, for StopTryRequest

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const TryCheckpointRequest&) const = default;
};

/// Ends such a trial soon, if it is under way: its answer is kUnavailable.
struct StopTryRequest {
    using Answer = Result<void>;

    QString id;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const StopTryRequest&) const = default;
};

/// Compares every byte of a checkpoint with its manifest, where it was saved and in each copy. The
/// error names each place; kCorrupt: one is damaged, or not there any more.
struct VerifyCheckpointRequest {
    using Answer = Result<void>;

    QString run;
    QString checkpoint;

    std::string attempt() const;
    QFuture<Answer> perform(LocalEngine& engine) const;
    bool operator==(const VerifyCheckpointRequest&) const = default;
};

} // namespace rm
