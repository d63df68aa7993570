// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/core/launch/host_worker.h"
#include "app/core/run/checkpoint_copier.h"
#include "app/core/run/engine.h"
#include "app/core/store/store.h"

#include <functional>
#include <memory>

namespace rm {

/// Where Ringmaster keeps things; from the XDG variables (see settings/paths.h).
struct EarlierRun;
struct Paths;
struct PlacedParty;
struct PlacesToClean;
struct ProcedureContext;
class FollowedRun;
class LaunchPermit;

/// The engine of the process that holds the database: every blocking step runs on its worker
/// threads.
class LocalEngine : public Engine {
    Q_OBJECT
public:
    /// `writer` null (for tests that only read a database): nothing is ingested, launched or
    /// edited.
    LocalEngine(const Paths& paths, Fleet& fleet, std::unique_ptr<StoreWriter> writer,
                QObject* parent = nullptr);
    ~LocalEngine() override;

    /// Where passwords and trusted fingerprints come from; none by default. Before any other call.
    void setCredentialSource(CredentialSource source);

    QString databasePath() const override;
    QFuture<Result<QString>> launch(const CheckedSpec& spec, const std::vector<Placement>& nodes,
                                    const QString& id, IfTooLarge ifTooLarge) override;
    QFuture<Result<NodeOutlook>> outlook(const RunSpec& spec, const QString& node) override;
    QFuture<Result<std::vector<CheckRow>>>
    checkLaunch(const RunSpec& spec, const std::vector<Placement>& nodes) override;
    QFuture<Result<QString>> batchScript(const CheckedSpec& spec,
                                         const std::vector<Placement>& nodes) override;
    QFuture<Result<void>> endLeftovers(const QString& node, const QStringList& runs,
                                       OtherRuns others) override;
    QFuture<Result<QString>> resume(const QString& run, const QString& checkpoint,
                                    const std::vector<Placement>& nodes, const Asker& by) override;
    QFuture<Result<ResumeOutlook>> resumeOutlook(const QString& run, const QString& checkpoint,
                                                 const std::vector<Placement>& nodes) override;
    QFuture<Result<QString>> copyCheckpoint(const QString& run, const QString& checkpoint,
                                            const CopyOrder& order) override;
    QFuture<Result<void>> declareLost(const QString& run, const QString& node,
                                      const Asker& by) override;
    QFuture<Result<void>> removeCheckpoint(const QString& run, const QString& checkpoint,
                                           const Asker& by) override;
    QFuture<Result<void>> setPinned(const QString& run, const QString& checkpoint,
                                    bool pinned) override;
    QFuture<Result<TensorComparison>> compareCheckpoints(const QString& run, const QString& a,
                                                         const QString& b) override;
    QFuture<Result<void>> bringBackCheckpoint(const QString& run, const QString& checkpoint,
                                              const Asker& by) override;
    QFuture<Result<void>> verifyCheckpoint(const QString& run, const QString& checkpoint) override;
    QFuture<Result<std::vector<RunFolder>>> onNodes(const QString& run) override;
    QFuture<Result<void>> removeFromNodes(const QString& run, const Asker& by) override;
    QFuture<Result<DeployedReport>> cleanNode(const QString& node,
                                              const NodeCleaning& cleaning) override;
    QFuture<Result<void>> measureNetwork(const QStringList& nodes) override;
    QFuture<Result<void>> stopNetwork() override;
    QFuture<Result<QString>> tryOut(const NodeTrial& trial) override;
    QFuture<Result<void>> stopTrial(const NodeTrial& trial) override;
    QFuture<Result<QString>> branch(const QString& run, const QString& checkpoint,
                                    std::optional<CheckedSpec> spec, const QString& id,
                                    IfTooLarge ifTooLarge,
                                    const std::vector<Placement>& nodes) override;
    QFuture<Result<CommandState>> command(const QString& run, CommandKind kind,
                                          std::vector<std::pair<std::string, std::string>> args,
                                          const std::string& id, const Asker& by) override;
    QFuture<Result<QString>> withdraw(const QString& run, const std::string& command) override;
    void attach(const QString& run) override;
    void attachAll() override;
    LiveState live(const QString& run) const override;
    QStringList ownLaunches() const override;
    Result<void> setNotes(const QString& run, const QString& notes) override;
    Result<void> setTags(const QString& run, const QStringList& tags) override;
    QFuture<Result<void>> rename(const QString& run, const QString& name) override;
    QFuture<Result<void>> setDeleted(const QString& run, bool deleted) override;
    QFuture<Result<void>> emptyTrash(int64_t deletedBeforeNs) override;

private:
    Result<Node> find(const QString& node) const;
    Result<std::vector<PlacedParty>> place(const std::vector<Placement>& placements) const;
    Result<std::vector<PlacedParty>> placeOf(const RunSummary& run) const;
    Result<RunSummary> resumable(const QString& run, const std::string& verb) const;
    Result<PlacesToClean> placesToClean(const QString& run) const;
    Result<RunSummary> summary(const QString& run) const;
    QFuture<Result<QString>>
    startProcedure(const QString& run,
                   std::function<Result<QString>(const ProcedureContext&)> procedure,
                   std::function<void(const Result<QString>&)> then = {});
    QFuture<Result<QString>> launchOrResume(const QString& id, const CheckedSpec& spec,
                                            const std::vector<Placement>& nodes,
                                            const std::vector<PlacedParty>& parties,
                                            IfTooLarge ifTooLarge);
    QFuture<Result<void>> catchUp(const QString& asked, const std::vector<RunSummary>& runs,
                                  std::shared_ptr<LaunchPermit> permit);
    std::optional<Result<void>> caughtUpWith(const std::vector<RunSummary>& runs,
                                             int64_t waitedNs) const;
    QFuture<Result<QString>> goOn(const QString& id, const CheckedSpec& spec,
                                  const std::vector<Placement>& nodes,
                                  const std::vector<PlacedParty>& parties,
                                  const std::optional<EarlierRun>& earlier, IfTooLarge ifTooLarge);
    void noteEarlier(const QString& run, const std::string& words);
    ProcedureContext procedureContext(std::shared_ptr<LaunchPermit> permit);
    ProcedureContext closingContext();
    QFuture<Result<void>> changeCheckpoint(const QString& run, const std::string& attempt,
                                           std::function<Result<void>(ProcedureContext)> change,
                                           std::optional<AskedCommand> asked = {});
    CheckpointCopier::Means copyingMeans();
    void onProgress(const QString& run, const Progress& progress);
    void onProcedureEnded(const QString& run, const Result<QString>& started);
    Result<void> follow(const QString& run);
    void forgetOldTrash();
    void followAnew(const QString& node);
    void wireFollowed(const QString& run, FollowedRun& followed);
    void onFollowingEnded(const QString& run, const QString& problem, bool lost);
    std::optional<Result<CommandState>> commandToLaunch(const QString& run, CommandKind kind);
    void endGivenUpNodes();
    void onEnded(const std::string& node, const std::vector<Result<bool>>& ended);
    QFuture<std::vector<Result<bool>>>
    endOn(const std::vector<std::pair<GivenUpNode, Node>>& nodes);
    QFuture<Result<CommandState>> killGivenUp(const QString& run);
    void noteAsked(const QString& run, const AskedCommand& asked);
    void noteResume(const QString& run, AskedCommand asked, const Result<QString>& started);
    std::optional<Result<CommandState>> answerWithoutRanks(const QString& run, CommandKind kind);
    QFuture<Result<CommandState>> sendToRanks(const QString& run, const Command& command,
                                              int64_t askedNs);
    void onCommandChanged(const QString& run, CommandKind kind, const CommandState& state,
                          AskedState as);
    QFuture<Result<void>> edit(const std::string& attempt,
                               std::function<Result<void>(StoreWriter&)> edit);
    Result<void> postEdit(const QString& run, std::function<Result<void>(StoreWriter&)> edit);

    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm
