// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/follow/node_follower.h"
#include "app/core/launch/host_worker.h"
#include "app/core/runs/live_state.h"
#include "app/core/store/requested_command.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/writer_thread.h"

#include <QFuture>
#include <QObject>
#include <QPromise>
#include <QTimer>

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
    /// A command that some of its nodes still have to do.
    struct InFlight {
        Command command;
        int64_t requestedNs = 0;
        std::set<size_t> awaited = {}; ///< nodes that have not answered
        bool isAccepted = false;       ///< by at least one node
        bool isDone = false;           ///< by at least one node
        std::string refusal = {};      ///< a node's words, if one refused
        std::vector<QPromise<Result<CommandState>>> requesters = {}; ///< those that still wait
    };

    /// One of the run's nodes.
    struct Part {
        std::string name;
        std::optional<Node> node; ///< nullopt: it is not in the fleet, so that it is lost
        std::string whyUnknown;   ///< in that case
    };

    /// `parts` are in the order of the run's nodes. `writer` null: nothing is ingested.
    /// `wasStarted`: each node has its part, though nothing is stored of it yet.
    FollowedRun(const RunSummary& run, std::vector<Part> parts,
                std::shared_ptr<WriterThread> writer, std::shared_ptr<HostPool> hosts,
                QString database, bool wasStarted = false);
    ~FollowedRun() override;

    void start();
    void hangUp(); ///< so that the destructor has less to wait for
    const LiveState& live() const { return m_live; }
    bool wasStarted() const { return m_wasStarted; }

    /// The node may accept the login now.
    void retry(const std::string& node);

    /// The answer is kApplied or kRefused, kExhausted by whyNotNow(), or kUnavailable when
    /// the run ended before. That of a
    /// kill comes when all nodes that can be reached have done it, and names the others. A command
    /// whose id is known is not sent again, but answered to all who asked.
    QFuture<Result<CommandState>> send(const Command& command, int64_t requestedNs);

    /// Goes on with a command that an earlier engine sent or had to send. Nobody waits for it here.
    void restore(const RequestedCommand& requested);
    /// Takes out all commands with their askers, for another FollowedRun of this run.
    std::vector<InFlight> takeInFlight();
    void goOnWith(std::vector<InFlight> commands);

    /// See WithdrawRequest.
    Result<QString> withdraw(const std::string& id);

    /// See DeclareLostRequest. The answer waits until it is known whether the node can be reached.
    QFuture<Result<void>> declareLost(const std::string& node, const Requester& by);

Q_SIGNALS:
    void committed(); ///< new samples or events are in the database
    void liveChanged();
    void loginRefused(const QString& node); ///< see Engine
    /// Following has ended on all nodes. `problem` is empty if nothing went wrong. `lost`: the
    /// ranks of a node are gone without a report; otherwise they may still be training.
    void ended(const QString& problem, bool lost);
    /// It was taken for over, and its ranks run: to be stored.
    void revived();
    /// What the scheduler says of the run while it has not started its ranks, to be stored.
    void queued(const QString& why);
    /// What became of a command, to be stored.
    void commandChanged(rm::CommandKind kind, const rm::CommandState& state, rm::RequestedState as);

private:
    NodeFollower::Sink sinkFor(size_t node);
    void onLink(size_t node, const LiveState::NodeLink& link);
    void onCommandState(size_t node, const CommandState& state);
    void begin(InFlight inFlight);
    std::string whyNotSent(CommandKind kind) const;
    void sendTo(size_t node, const InFlight& inFlight);
    void onKillState(size_t node, InFlight& inFlight, const CommandState& state);
    void dropOld();
    QString takeBack(const std::string& id, RequestedState as, const std::string& why);
    void settleKills();
    Result<CommandState> answerOfKill(const InFlight& inFlight) const;
    void noteEnd(const InFlight& inFlight, const Result<CommandState>& how);
    void settleDeclarations();
    void settleMissing();
    Result<void> declareNodeLost(size_t node, const Requester& by);
    int newestAttempt() const;
    std::string unreachableNodes() const;
    void onNodeEnded(size_t node, const Result<void>& how);
    void endLeftBehind();
    void finish();
    std::map<std::string, CommandState> storedAnswers() const;
    static void answer(InFlight& inFlight, const Result<CommandState>& with);
    static Result<CommandState> unanswered(const QString& run, CommandKind kind,
                                           const std::string& why);

    QString m_run;
    std::vector<Part> m_parts;
    int m_attempt;
    bool m_isOver;     ///< all is stored, but for what an agent may have to add
    bool m_isPresumed; ///< RunSummary::isPresumed
    bool m_wasStarted;
    std::vector<LostNode> m_lostNodes; ///< as stored at the beginning
    std::shared_ptr<WriterThread> m_writer;
    std::shared_ptr<HostPool> m_hosts;
    QString m_database;
    LiveState m_live;
    std::map<std::string, InFlight> m_inFlight;
    std::vector<bool> m_nodeEnded;
    struct Declaration {
        size_t node = 0;
        Requester by;
        QPromise<Result<void>> answer;
    };
    std::vector<Declaration> m_declarations; ///< that a node is lost
    QString m_problem;
    std::string m_waitsFor; ///< as rank 0's node told it last
    bool m_lost = false;
    QTimer m_clock; ///< calls dropOld()
    /// Null: the node was removed. Last, as their threads call back.
    std::vector<std::unique_ptr<NodeFollower>> m_followers;
};

} // namespace rm
