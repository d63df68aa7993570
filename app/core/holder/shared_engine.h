// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/holder/messages.h"
#include "app/core/settings/paths.h"

#include <memory>

namespace rm {

struct FoundHolder;

/// The engine of every terminal and window. One process of the user holds the database; there this
/// is a LocalEngine that also serves the others. The others send their requests to it over a local
/// socket (PROTOCOL.md). When the holder ends, the first process that gets the lock of the database
/// becomes the next holder, and requests that had not begun are sent again.
///
/// A launch that the holder had begun when it ended is kUnavailable; a command has its id and takes
/// effect once. One that names nobody is asked for by the user of this process.
class SharedEngine : public Engine {
    Q_OBJECT
public:
    /// `kind`: whether this process is a terminal or a window.
    SharedEngine(const Paths& paths, Fleet& fleet, face::Kind kind, QObject* parent = nullptr);
    ~SharedEngine() override;

    /// Becomes the holder or finds it. kUnavailable names the process that has the database and
    /// does not answer, or is of another release. The rest may be called before the answer.
    QFuture<Result<void>> open();
    bool isHolder() const;

    /// Ranks are being started here for others, so that this process should not end yet.
    bool isBusyForOthers() const;
    /// Shows the window that another process has; false: none has one.
    QFuture<bool> showOtherWindow(const QByteArray& activationToken);

    QString databasePath() const override;
    QFuture<Result<QString>> launch(const CheckedSpec& spec, const std::vector<Placement>& nodes,
                                    const QString& id, IfTooLarge ifTooLarge) override;
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
    QFuture<Result<QString>> tryOut(const NodeTrial& trial) override;
    QFuture<Result<void>> stopTrial(const NodeTrial& trial) override;
    QFuture<Result<DeployedReport>> cleanNode(const QString& node,
                                              const NodeCleaning& cleaning) override;
    QFuture<Result<void>> measureNetwork(const QStringList& nodes) override;
    QFuture<Result<void>> stopNetwork() override;
    QFuture<Result<NodeOutlook>> outlook(const RunSpec& spec, const QString& node) override;
    QFuture<Result<std::vector<CheckRow>>>
    checkLaunch(const RunSpec& spec, const std::vector<Placement>& nodes) override;
    QFuture<Result<QString>> batchScript(const CheckedSpec& spec,
                                         const std::vector<Placement>& nodes) override;
    QFuture<Result<void>> endLeftovers(const QString& node, const QStringList& runs,
                                       OtherRuns others) override;
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

Q_SIGNALS:
    void idleForOthers(); ///< isBusyForOthers() no longer
    /// A second window was started: show that of this process.
    void windowAsked(const QByteArray& activationToken);

private:
    template <class T>
    QFuture<T> ask(EngineRequest request);
    Result<void> edit(EngineRequest request);
    void begin(int64_t number);
    void settle(int64_t number, const EngineReply& reply);

    void seek();
    void hold(std::unique_ptr<StoreWriter> writer);
    void beServed(FoundHolder holder);
    void goOn();
    void giveUp(const Error& error);
    void onHolderGone();
    void passSignalsOn(const Engine& engine);
    void onMessage(const face::Message& message);

    struct Hearing;
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace rm
