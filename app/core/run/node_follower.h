// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/host_worker.h"
#include "app/core/run/engine.h"

#include <QString>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace rm {

/// What is followed: one node's part of one run.
struct FollowTarget {
    Node node;
    QString run;
    int nodeIndex = 0;
    int attempt = 1;      ///< following ends when this attempt, or a later one, has ended here
    bool wasLost = false; ///< the database's last word of this node is that it is lost
};

/// Follows one node's part of one run on a thread and a connection of its own: attach from the
/// cursors in the database, commit what comes, on a lost link connect again (0.2 to 10 s,
/// jittered) and go on from the cursor. A refused login is not repeated until retry(): an account
/// may be locked after a few. A link that was down for some seconds, and its coming back, are
/// committed as events of the node.
class NodeFollower {
public:
    /// Called on the follower's thread.
    struct Sink {
        /// Commits a batch and blocks until it is durable. Null: nothing is ingested here, the
        /// stream is read for its states alone.
        std::function<Result<void>(IngestBatch)> commit;
        std::function<void(const LiveState::NodeLink&)> linkChanged;
        /// The login was refused, and this is what a person could give or decide.
        std::function<void(ConnectFailure::Need)> loginRefused;
        std::function<void(const CommandState&)> commandState;
        /// Last call: the attempt ended here and all its bytes are in; or why following is over:
        /// kNotFound when its ranks are gone, kTooNew when this release cannot read what they say.
        std::function<void(Result<void>)> ended;
    };

    NodeFollower(FollowTarget target, CredentialSource credentials, QString database, Sink sink);
    ~NodeFollower(); ///< hangUp(), and joins; the run goes on

    /// Ends the following soon. Thread-safe.
    void hangUp();

    /// After a refused login: the credentials may be others now. Thread-safe.
    void retry();

    /// Sends a command, now or as soon as the link is there, and again after a lost link until
    /// it is applied or refused. Thread-safe.
    void send(Command command);

private:
    class Connection;

    void loop(std::stop_token stop);
    void report(LiveState::Link link, const QString& why = {});
    void beginConnection();
    void awaitRetry(std::stop_token stop);
    void noteLost();
    void noteBack();
    void storeEvent(Severity severity, const char* code, int64_t wallNs,
                    const std::string& message);
    std::vector<Command> takeUnanswered();
    void onAnswer(const CommandState& state);

    FollowTarget m_target;
    CredentialSource m_credentials;
    QString m_database;
    Sink m_sink;
    LiveState::NodeLink m_link;
    bool m_isStoredAsLost;
    int64_t m_downSinceNs = 0; ///< by the clock that never jumps
    bool m_isFinal = false;    ///< the agent's own word: no run here, or another release's
    std::optional<ConnectFailure::Need> m_refused; ///< of this connection's login
    Waker m_waker;
    std::mutex m_mutex;
    std::condition_variable_any m_retried;
    bool m_mayRetry = false;           ///< asked for since this connection began
    std::vector<Command> m_unsent;     ///< on this connection
    std::vector<Command> m_unanswered; ///< sent again on the next one: the same id is done once
    std::jthread m_thread;             ///< last: starts when all the rest exists
};

} // namespace rm
