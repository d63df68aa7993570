// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/core/launch/host_worker.h"
#include "app/core/launch/if_too_large.h"
#include "app/core/launch/progress.h"
#include "app/core/store/store.h"
#include "shared/spec/run_spec.h"
#include "shared/wire/messages.h"

#include <QFuture>
#include <QObject>
#include <QString>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace rm {

/// Where Ringmaster keeps things; from the XDG variables (see settings/paths.h).
struct Paths;
struct PlacedParty;
struct ProcedureContext;
class FollowedRun;
class LaunchPermit;

/// A node taking part, with the number of ranks on it (0: one per GPU, else 1).
struct Placement {
    QString node;
    int ranks = 0;
    bool operator==(const Placement&) const = default;
};

/// The live side of a run: what the links say right now. Never stored.
struct LiveState {
    enum class Link {
        kNone,
        kConnecting,
        kLive,
        kLost,    ///< tried again and again
        kRefused, ///< the host let us not in: tried again when a check of the node got in
    };
    struct NodeLink {
        std::string node;
        Link link = Link::kNone;
        QString why;             ///< kLost, kRefused: the error in words
        int64_t lostSinceNs = 0; ///< kLost, kRefused
        std::optional<RunState> state;
    };
    std::vector<NodeLink> nodes;
    /// Command in flight: "pausing, 3 of 4 ranks" is made of it and the ranks' phases. While
    /// `launching`: kStop once the launch is cancelled.
    std::optional<CommandKind> pending;
    bool held = false;
    /// Set while its launch goes on here and its ranks do not train yet: how far it is.
    std::optional<Progress> launching;
};

/// The one engine behind the window and the terminal. Lives on the thread that made it (the GUI
/// thread); every blocking step runs on worker threads; every answer comes back here.
///
/// Closing it leaves the runs alone: they go on on their nodes and are attached to again. A launch
/// that is going on is cancelled.
class Engine : public QObject {
    Q_OBJECT
public:
    /// `writer` null: a second instance holds the database; commands work, nothing is ingested.
    Engine(const Paths& paths, Fleet& fleet, std::unique_ptr<StoreWriter> writer,
           QObject* parent = nullptr);
    ~Engine() override;

    QString databasePath() const;

    /// Where passwords and trusted fingerprints come from; none by default. Before any other call.
    void setCredentialSource(CredentialSource source);

    /// Checks, deploys, plans, starts, attaches. The answer is the new run's id: `id`, or one that
    /// is made when that is empty (see newRunId()). Where a node has too little memory, as its
    /// trainer estimates, tooLarge() is followed by kExhausted, and nothing was begun. A failure
    /// after the run is listed leaves it as failed with the message, and nothing running.
    QFuture<Result<QString>> launch(const CheckedSpec& spec, const std::vector<Placement>& nodes,
                                    const QString& id = {},
                                    IfTooLarge ifTooLarge = IfTooLarge::kRefuse);
    /// Next attempt from the newest checkpoint (of any step, or exactly `step`).
    QFuture<Result<QString>> resume(const QString& run, std::optional<int64_t> step = {});
    /// A new run with its own checkpoints that starts from that checkpoint of `run`. `spec` null:
    /// the run's own spec. The rest as in launch().
    QFuture<Result<QString>> branch(const QString& run, int64_t step,
                                    std::optional<CheckedSpec> spec = {}, const QString& id = {},
                                    IfTooLarge ifTooLarge = IfTooLarge::kRefuse);
    /// The answer is kApplied or kRefused; it waits as long as rank 0's node cannot be reached.
    /// kStop and kKill of a run whose ranks are not started yet cancel its launch, which then
    /// leaves it as stopped, or a resume's run as it was.
    QFuture<Result<CommandState>>
    command(const QString& run, CommandKind kind,
            std::vector<std::pair<std::string, std::string>> args = {});

    /// Attaches to every node of the run and follows it until it ends. Idempotent; while its ranks
    /// are being started here it does nothing: that attaches at its end.
    void attach(const QString& run);
    /// attach() for every run that has not ended.
    void attachAll();
    LiveState live(const QString& run) const;

    // Edits of what a person wrote: queued for the writer, runsChanged() when they are in.
    // kUnavailable at once when another instance holds the database.
    Result<void> setNotes(const QString& run, const QString& notes);
    Result<void> setTags(const QString& run, const QStringList& tags);
    Result<void> setDeleted(const QString& run, bool deleted);

Q_SIGNALS:
    void runsChanged();                       ///< a run appeared, or its summary changed
    void samplesAppended(const QString& run); ///< say that, not what: pull from a StoreReader
    void liveChanged(const QString& run);
    void progressed(const QString& run, const rm::Progress& progress);
    void attemptEnded(const QString& run);
    /// Why a launch is about to be refused: a sentence with what is needed, what is free and what
    /// to do. It can be asked for all the same.
    void tooLarge(const QString& run, const QString& why);
    /// A node of a run that is followed asks for what a person has to give or decide; once for
    /// each login that it refused. Fleet::check() it: a check that gets in lets following go on.
    void loginRefused(const QString& node);
    /// Following is over without an end of the attempt (the run is unknown there, ...), or a
    /// queued edit failed. A sentence for a person.
    void failed(const QString& run, const QString& message);

private:
    Result<std::vector<PlacedParty>> place(const std::vector<Placement>& placements) const;
    Result<std::vector<PlacedParty>> placeOf(const RunSummary& run) const;
    Result<RunSummary> summary(const QString& run) const;
    QFuture<Result<QString>>
    startProcedure(const QString& run,
                   std::function<Result<QString>(const ProcedureContext&)> procedure);
    ProcedureContext procedureContext(std::shared_ptr<LaunchPermit> permit);
    void onProgress(const QString& run, const Progress& progress);
    void onProcedureEnded(const QString& run, const Result<QString>& started);
    Result<void> follow(const QString& run);
    void wireFollowed(const QString& run, FollowedRun& followed);
    void onFollowingEnded(const QString& run, const QString& problem, bool lost);
    std::optional<Result<CommandState>> commandToLaunch(const QString& run, CommandKind kind);
    Result<void> postEdit(const QString& run, std::function<Result<void>(StoreWriter&)> edit);

    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm
