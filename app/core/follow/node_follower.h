// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/node_login.h"
#include "app/core/runs/live_state.h"
#include "app/core/store/store_writer.h"

#include <QString>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace rm {

/// How long a node says, again and again, that nothing of a run is there, where something was,
/// before it is believed: a folder may be mounted again, and a name lead to the right machine.
inline constexpr std::chrono::seconds kMissingFor{60};

/// One node's part of one run, which is followed.
struct FollowTarget {
    Node node;
    QString run;
    int nodeIndex = 0;
    int attempt = 1;         ///< following ends once this or a later one has ended there
    LostNode loss = {};      ///< as the database has it; no `why`: it has not
    bool reportsLink = true; ///< whether events say that the link is down and back
    /// After the end the agents may stay to copy the last checkpoint: what this one journals of
    /// that is awaited for a few seconds.
    bool mayCopy = false;
    bool looksAgain = false; ///< at what was taken for over: for kMissingFor without an answer
    bool wasStarted = false; ///< its part is there, though nothing of it is stored
    /// See kMissingFor; 0: all of it is stored, and the first answer is believed.
    std::chrono::seconds missingFor = kMissingFor;
};

/// Follows one node's part of one run on its own thread, by the login that it shares with others:
/// attaches from the cursors in the database, commits what arrives, and after a lost link
/// reconnects (after 0.2 to 10 s, jittered) and continues from the cursors. A refused login is
/// repeated only after retry(), as accounts may be locked after a few failures. A host key that is
/// not the right one lets no login be tried, so that this is repeated by itself: the name may lead
/// to another machine for a moment. A link that is down for some seconds, each new reason of that,
/// and its return are stored as events of the node.
class NodeFollower {
public:
    /// Called on the follower's thread.
    struct Sink {
        /// Commits a batch and blocks until it is durable. Null: nothing is ingested; only the
        /// states in the stream are used.
        std::function<Result<void>(IngestBatch)> commit;
        std::function<void(const LiveState::NodeLink&)> linkChanged;
        /// The login was refused; the argument says what a person could enter or decide. Not again
        /// where a try that was repeated by itself ended alike.
        std::function<void(ConnectFailure::Need)> loginRefused;
        std::function<void(const CommandState&)> commandState;
        /// The last call. Success: the attempt ended on this node and all its bytes were received
        /// and, with `commit`, stored. Otherwise why following ended: kNotFound when its ranks are
        /// gone, nothing of the run ever was there, or, after believeMissing(), nothing was for
        /// FollowTarget::missingFor; kTooNew when this release cannot read the stream; kUnavailable
        /// when it was looked at again in vain.
        std::function<void(Result<void>)> ended;
    };

    NodeFollower(FollowTarget target, std::shared_ptr<NodeLogin> login, QString database,
                 Sink sink);
    ~NodeFollower(); ///< hangUp(), and joins; the run goes on

    /// Ends the following soon. Thread-safe.
    void hangUp();

    /// Tries again after a refused login, as the credentials may have changed. Thread-safe.
    void retry();

    /// Sends a command, now or as soon as the link is there, and again after a lost link until
    /// it is applied or refused, or by this computer's clock it is later than `untilNs`. A known id
    /// only gets another `untilNs`. Thread-safe.
    void send(Command command, int64_t untilNs);

    /// Does not send it any more. Says whether it was sent on any link. Thread-safe.
    bool takeBack(const std::string& id);

    /// Whether nothing else is to be heard of the run, so that a part that stays missing ends this.
    /// Thread-safe.
    void believeMissing(bool isLast);

private:
    class Connection;

    void loop(std::stop_token stop);
    void report(LiveState::Link link, const QString& why = {});
    void beginConnection();
    bool awaitRetry(std::stop_token stop, std::optional<std::chrono::milliseconds> pause);
    bool isOver();
    void noteLost();
    std::string lossWords() const;
    void noteBack();
    void noteStored(const Result<void>& how);
    bool hasUnanswered();
    void storeEvent(Severity severity, const char* code, int64_t wallNs,
                    const std::string& message);
    std::vector<Command> takeDue(bool isNewLink);
    void onAnswer(const CommandState& state);

    FollowTarget m_target;
    std::shared_ptr<NodeLogin> m_login;
    QString m_database;
    Sink m_sink;
    LiveState::NodeLink m_link;
    LostNode m_stored;            ///< the loss that the database has; no `why`: none
    std::string m_lastLoss;       ///< in the words of the connection before, likewise
    bool m_isUnstored = false;    ///< what came last could not be stored, as on a full disk
    bool m_failedToStore = false; ///< on this connection
    int64_t m_downSinceNs = 0;    ///< CLOCK_MONOTONIC
    bool m_isFinal = false;       ///< by what the node said: no reconnecting
    bool m_wasThere = false;      ///< something of it is stored
    int64_t m_missingSinceNs = 0; ///< CLOCK_MONOTONIC; 0: it is not missing
    bool m_saidMissing = false;   ///< on this connection, the node has nothing where something was
    std::atomic<int64_t> m_lastSinceNs = 0;        ///< CLOCK_MONOTONIC; 0: see believeMissing()
    std::optional<ConnectFailure::Need> m_refused; ///< of this connection's login
    std::optional<ConnectFailure::Need> m_asked;   ///< by loginRefused, without an answer yet
    bool m_isOtherKey = false;                     ///< the refusal came before any login was tried
    Waker m_waker;
    std::mutex m_mutex;
    std::condition_variable_any m_retried;
    struct Unanswered {
        Command command;
        int64_t untilNs = 0;
        bool isSent = false;  ///< on this connection
        bool wasEver = false; ///< sent
    };
    bool m_mayRetry = false;              ///< asked for since this connection began
    std::vector<Unanswered> m_unanswered; ///< sent again on a new link: the same id is done once
    std::jthread m_thread;                ///< last: starts when all the rest exists
};

} // namespace rm
