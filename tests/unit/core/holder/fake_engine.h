// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/run/engine.h"

#include <QPromise>

#include <map>
#include <memory>

namespace rm::test {

/// An engine without runs: it notes what it is asked, answers when it is told to, and signals what
/// a test emits.
class FakeEngine : public Engine {
public:
    QString databasePath() const override { return {}; }
    QFuture<Result<QString>> launch(const CheckedSpec&, const std::vector<Placement>&,
                                    const QString& id, IfTooLarge) override {
        lives[id].launching = Progress{"Check nodes"};
        return pendingStart();
    }
    QFuture<Result<QString>> resume(const QString&, const QString&, const std::vector<Placement>&,
                                    const Asker&) override {
        return pendingStart();
    }
    QFuture<Result<void>> declareLost(const QString&, const QString&, const Asker&) override {
        return done();
    }
    QFuture<Result<ResumeOutlook>> resumeOutlook(const QString&, const QString&,
                                                 const std::vector<Placement>&) override {
        return QtFuture::makeReadyFuture(Result<ResumeOutlook>());
    }
    QFuture<Result<QString>> copyCheckpoint(const QString&, const QString&,
                                            const CopyOrder& order) override {
        return QtFuture::makeReadyFuture(Result<QString>(order.to));
    }
    QFuture<Result<QString>> branch(const QString&, const QString&, std::optional<CheckedSpec>,
                                    const QString&, IfTooLarge,
                                    const std::vector<Placement>&) override {
        return pendingStart();
    }
    QFuture<Result<void>> removeCheckpoint(const QString&, const QString&, const Asker&) override {
        return done();
    }
    QFuture<Result<NodeOutlook>> outlook(const RunSpec& spec, const QString&) override {
        return QtFuture::makeReadyFuture(Result<NodeOutlook>(NodeOutlook{{}, {{spec.name}}, 0}));
    }
    QFuture<Result<CommandState>> command(const QString& run, CommandKind kind,
                                          std::vector<std::pair<std::string, std::string>>,
                                          const std::string&, const Asker&) override {
        commands.emplace_back(run, kind);
        return QtFuture::makeReadyFuture(
            Result<CommandState>(CommandState{{}, CommandProgress::kApplied, 7, {}}));
    }
    QFuture<Result<QString>> withdraw(const QString&, const std::string&) override {
        return QtFuture::makeReadyFuture(Result<QString>(QString()));
    }
    void attach(const QString& run) override { attached << run; }
    void attachAll() override {}
    LiveState live(const QString& run) const override {
        const auto found = lives.find(run);
        return found == lives.end() ? LiveState() : found->second;
    }
    Result<void> setNotes(const QString& run, const QString& text) override {
        notes[run] = text;
        return {};
    }
    Result<void> setTags(const QString&, const QStringList&) override { return {}; }
    QFuture<Result<void>> rename(const QString&, const QString&) override { return done(); }
    QFuture<Result<void>> setDeleted(const QString&, bool) override { return done(); }
    QFuture<Result<void>> emptyTrash(int64_t) override { return done(); }
    QFuture<Result<void>> verifyCheckpoint(const QString&, const QString&) override {
        return done();
    }
    QFuture<Result<void>> setPinned(const QString&, const QString&, bool) override {
        return done();
    }
    QFuture<Result<void>> bringBackCheckpoint(const QString&, const QString&,
                                              const Asker&) override {
        return done();
    }
    QFuture<Result<TensorComparison>> compareCheckpoints(const QString&, const QString&,
                                                         const QString&) override {
        return QtFuture::makeReadyFuture(Result<TensorComparison>());
    }
    QFuture<Result<std::vector<RunFolder>>> onNodes(const QString&) override {
        return QtFuture::makeReadyFuture(Result<std::vector<RunFolder>>());
    }
    QFuture<Result<void>> removeFromNodes(const QString&, const Asker&) override { return done(); }

    QFuture<Result<void>> endLeftovers(const QString&, const QStringList& runs,
                                       OtherRuns) override {
        leftoversEnded = runs;
        return QtFuture::makeReadyFuture(Result<void>());
    }
    QFuture<Result<std::vector<CheckRow>>> checkLaunch(const RunSpec& spec,
                                                       const std::vector<Placement>&) override {
        return QtFuture::makeReadyFuture(
            Result<std::vector<CheckRow>>({goodRow("launch-data", "Data", spec.name)}));
    }
    QFuture<Result<QString>> batchScript(const CheckedSpec&,
                                         const std::vector<Placement>&) override {
        return QtFuture::makeReadyFuture(Result<QString>(QString("#!/bin/bash\n")));
    }
    QFuture<Result<DeployedReport>> cleanNode(const QString&, const NodeCleaning&) override {
        return QtFuture::makeReadyFuture(Result<DeployedReport>());
    }
    QFuture<Result<void>> measureNetwork(const QStringList&) override { return done(); }
    QFuture<Result<void>> stopNetwork() override { return done(); }

    QFuture<Result<QString>> tryOut(const NodeTrial&) override {
        if (trialsTakeLong)
            return pendingStart();
        return QtFuture::makeReadyFuture(Result<QString>(trialAnswer));
    }
    QFuture<Result<void>> stopTrial(const NodeTrial& trial) override {
        stopped.push_back(trial);
        return done();
    }

    QString trialAnswer;
    bool trialsTakeLong = false;
    std::vector<NodeTrial> stopped;
    QStringList attached;
    QStringList leftoversEnded;
    std::vector<std::pair<QString, CommandKind>> commands;
    std::map<QString, QString> notes;
    std::map<QString, LiveState> lives;
    std::shared_ptr<QPromise<Result<QString>>> start; ///< of the newest launch

private:
    static QFuture<Result<void>> done() { return QtFuture::makeReadyFuture(Result<void>()); }
    QFuture<Result<QString>> pendingStart() {
        start = std::make_shared<QPromise<Result<QString>>>();
        start->start();
        return start->future();
    }
};

} // namespace rm::test
