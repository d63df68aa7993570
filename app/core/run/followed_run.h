// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/run/engine.h"
#include "app/core/run/node_follower.h"
#include "app/core/run/writer_thread.h"

#include <QFuture>
#include <QObject>
#include <QPromise>

#include <map>
#include <memory>
#include <vector>

namespace rm {

/// One run while it is followed: its nodes' followers, what they say joined into one LiveState,
/// and the commands in flight. The engine's thread.
class FollowedRun : public QObject {
    Q_OBJECT
public:
    /// `nodes` in the order of the run's nodes. `writer` null: nothing is ingested.
    FollowedRun(const RunSummary& run, std::vector<Node> nodes,
                std::shared_ptr<WriterThread> writer, CredentialSource credentials,
                QString database);
    ~FollowedRun() override;

    void start();
    void hangUp(); ///< so that the destructor has less to wait for
    const LiveState& live() const { return m_live; }

    /// The node may accept the login now.
    void retry(const std::string& node);

    /// The answer is kApplied or kRefused, or kUnavailable when the run ended before.
    QFuture<Result<CommandState>> send(Command command);

Q_SIGNALS:
    void committed(); ///< new samples or events are in the database
    void liveChanged();
    void loginRefused(const QString& node); ///< see Engine
    /// Following has ended on all nodes. `problem` is empty if nothing went wrong. `lost`: the
    /// ranks of a node are gone without a report; otherwise they may still be training.
    void ended(const QString& problem, bool lost);

private:
    struct InFlight {
        CommandKind kind;
        QPromise<Result<CommandState>> promise;
    };

    NodeFollower::Sink sinkFor(size_t node);
    void onLink(size_t node, const LiveState::NodeLink& link);
    void onCommandState(const CommandState& state);
    void onNodeEnded(size_t node, const Result<void>& how);
    void finish();
    std::map<std::string, CommandState> storedAnswers() const;
    static void answer(InFlight& inFlight, Result<CommandState> with);
    static Result<CommandState> unanswered(const QString& run, CommandKind kind,
                                           const std::string& why);

    QString m_run;
    std::vector<Node> m_nodes;
    int m_attempt;
    std::vector<LostNode> m_lostNodes; ///< as stored at the beginning
    std::shared_ptr<WriterThread> m_writer;
    CredentialSource m_credentials;
    QString m_database;
    LiveState m_live;
    std::map<std::string, InFlight> m_inFlight;
    std::vector<bool> m_nodeEnded;
    QString m_problem;
    bool m_lost = false;
    std::vector<std::unique_ptr<NodeFollower>> m_followers; ///< last: their threads call back
};

} // namespace rm
