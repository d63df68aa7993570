// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/launch/cancel_token.h"
#include "app/core/queue/queue_order.h"

#include <QFuture>
#include <QString>
#include <QStringList>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace rm {

struct PlacedParty;
struct ProcedureContext;
class LocalEngine;

/// The launches, resumes and branches of this process whose ranks do not train yet, by the run that
/// they start. Part of the engine, and in its thread.
class Launches {
public:
    using Procedure = std::function<Result<QString>(const ProcedureContext&)>;

    explicit Launches(LocalEngine& engine)
        : m_engine(engine) {}

    /// Runs the procedure in the pool, while the run is not followed; at its success the run is
    /// attached to, else followed again if it was before, then `then` gets the answer in any case.
    /// Until then busyNodes() has `nodes`. kInvalid: the run is being started already.
    QFuture<Result<QString>> start(const QString& run, const std::vector<PlacedParty>& nodes,
                                   Procedure procedure,
                                   std::function<void(const Result<QString>&)> then = {});

    /// A launch that looks for an earlier run first: its procedure is not known yet. end() it.
    std::shared_ptr<CancelToken> begin(const QString& run,
                                       const std::vector<PlacedParty>& nodes = {});
    void end(const QString& run);

    bool contains(const QString& run) const { return m_launches.contains(run); }
    bool isEmpty() const { return m_launches.empty(); }
    /// The nodes on which something is being started, each with the run.
    BusyNodes busyNodes() const;
    /// The runs whose launch nobody has cancelled.
    QStringList runs() const;
    /// The state that a launch shows of its run; an empty one for a run without a launch.
    LiveState live(const QString& run) const;
    void setProgress(const QString& run, const Progress& progress);

    /// The answer of a launch to a command for its ranks, which stop and kill cancel. nullopt: the
    /// command goes to the ranks.
    std::optional<Result<CommandState>> command(const QString& run, CommandKind kind);
    void cancelAll();

    /// The launch resumes an earlier run: until its answer its asker knows that run as `requested`.
    void resumeAs(const QString& requested, const QString& run);
    void forgetResumed(const QString& requested);
    /// The run that `requested` stands for.
    QString runOf(const QString& requested) const;

private:
    struct Launch {
        std::shared_ptr<CancelToken> token;
        Progress progress;
        std::vector<std::string> nodes = {};
    };

    std::vector<QString> idsOf(const QString& run) const;
    void onEnded(const QString& run, const Result<QString>& started, bool wasFollowed);

    LocalEngine& m_engine;
    std::map<QString, Launch> m_launches;
    std::map<QString, QString> m_resumed; ///< the earlier run, by the id that was asked for
};

} // namespace rm
