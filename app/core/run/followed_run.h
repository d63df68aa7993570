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
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// One run while it is followed: its nodes' followers, what they say joined into one LiveState,
/// and the commands in flight. The engine's thread.
class FollowedRun : public QObject {
    Q_OBJECT
public:
    /// One of the run's nodes.
    struct Part {
        std::string name;
        std::optional<Node> node; ///< nullopt: it was removed from the fleet, so that it is lost
    };

    /// `parts` in the order of the run's nodes. `writer` null: nothing is ingested.
    FollowedRun(const RunSummary& run, std::vector<Part> parts,
                std::shared_ptr<WriterThread> writer, CredentialSource credentials,
                QString database);
    ~FollowedRun() override;

    void start();
    void hangUp(); ///< so that the destructor has less to wait for
    const LiveState& live() const { return m_live; }

    /// The node may accept the login now.
    void retry(const std::string& node);

    /// The answer is kApplied or kRefused, or kUnavailable when the run ended before. That of a
    /// kill comes when all nodes that can be reached have done it, and names the others.
    QFuture<Result<CommandState>> send(Command command);

    /// See Engine. The answer waits until it is known whether the node can be reached.
    QFuture<Result<void>> declareLost(const std::string& node);

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
        std::set<size_t> awaited; ///< nodes that have not answered
        bool isDone = false;      ///< by a node at least
        std::string refusal = {}; ///< of a node, in its words
        QPromise<Result<CommandState>> promise;
    };

    NodeFollower::Sink sinkFor(size_t node);
    void onLink(size_t node, const LiveState::NodeLink& link);
    void onCommandState(size_t node, const CommandState& state);
    void sendTo(size_t node, const Command& command);
    void settleKills();
    void settleDeclarations();
    Result<void> giveUp(size_t node);
    std::string unreachableNodes() const;
    void onNodeEnded(size_t node, const Result<void>& how);
    void finish();
    std::map<std::string, CommandState> storedAnswers() const;
    static void answer(InFlight& inFlight, Result<CommandState> with);
    static Result<CommandState> unanswered(const QString& run, CommandKind kind,
                                           const std::string& why);

    QString m_run;
    std::vector<Part> m_parts;
    int m_attempt;
    std::vector<LostNode> m_lostNodes; ///< as stored at the beginning
    std::shared_ptr<WriterThread> m_writer;
    CredentialSource m_credentials;
    QString m_database;
    LiveState m_live;
    std::map<std::string, InFlight> m_inFlight;
    std::vector<bool> m_nodeEnded;
    std::vector<std::pair<size_t, QPromise<Result<void>>>> m_declarations; ///< node, answer
    QString m_problem;
    bool m_lost = false;
    /// Null: of a node that was removed. Last: their threads call back.
    std::vector<std::unique_ptr<NodeFollower>> m_followers;
};

} // namespace rm
