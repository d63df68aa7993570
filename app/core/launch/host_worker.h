// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/node_login.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace rm {

/// Called with a task's error before that is its answer, on any thread.
using OnTaskError = std::function<void(const Error&)>;

/// How a task waits behind other tasks of its node.
struct InQueue {
    std::string purpose; ///< what those behind it are told: "the launch of gpt-1"; empty: nothing
    /// Told the purpose of a task that it waits for, and an empty one once it begins. On any
    /// thread.
    std::function<void(const std::string& behind)> onWait = {};
};

/// One node's worker thread. Tasks run in the order in which they were posted, on the session of
/// the login, which is kept between them; one that was lost is opened again by the next task.
class HostWorker {
public:
    explicit HostWorker(std::shared_ptr<NodeLogin> login);
    HostWorker(Node node, CredentialSource credentials); ///< with a login of its own
    ~HostWorker();                                       ///< close(), then joins

    const Node& node() const { return m_login->node(); }

    /// Asks the running task to stop, and refuses those that wait and that are posted from now on.
    /// Does not block. Thread-safe.
    void close();
    /// Requested by close().
    std::stop_token closing() const { return m_thread.get_stop_token(); }

    template <class T>
    using Task = std::function<Result<T>(HostSession&, const std::string&, std::stop_token)>;

    /// Runs `task(session, agent path, stop)` on this node's thread, after opening the session and
    /// deploying the agent; if these fail, their error is the answer. A server that refuses a
    /// connection for the moment is tried again (openSessionPatiently()) with `patience`, which
    /// `onPause` reports on this worker's thread; `onError` is told the answer if it is one. Once
    /// `unwanted` is requested or this worker ends, these tries stop and `stop` is requested; a
    /// task that waits behind another is refused at once. Thread-safe.
    template <class T>
    std::future<Result<T>> post(Task<T> task, std::stop_token unwanted = {},
                                OnConnectPause onPause = {}, OnTaskError onError = {},
                                InQueue queue = {}, ConnectPatience patience = kLoginPatience) {
        auto promise = std::make_shared<std::promise<Result<T>>>();
        std::future<Result<T>> answer = promise->get_future();
        enqueue(Job{[promise, task = std::move(task), onError](
                        HostSession& session, const std::string& agent, std::stop_token stop) {
                        Result<T> result = task(session, agent, stop);
                        if (!result && onError)
                            onError(result.error());
                        const bool linkLost =
                            !result && result.error().code == ErrorCode::kUnavailable;
                        promise->set_value(std::move(result));
                        return linkLost;
                    },
                    [promise, onError](Error error) {
                        if (onError)
                            onError(error);
                        promise->set_value(tl::unexpected<Error>(std::move(error)));
                    },
                    std::move(unwanted), std::move(onPause), std::move(queue), patience});
        return answer;
    }

    /// post() for what a person waits for while nothing has begun.
    template <class T>
    std::future<Result<T>> ask(Task<T> task, std::stop_token unwanted = {}) {
        return post<T>(std::move(task), std::move(unwanted), {}, {}, {}, kRequestPatience);
    }

private:
    struct Job {
        /// True when the session must be opened anew for the next job.
        std::function<bool(HostSession&, const std::string&, std::stop_token)> run;
        std::function<void(Error)> refuse;
        std::stop_token unwanted;
        OnConnectPause onPause;
        InQueue queue;
        ConnectPatience patience;
        int64_t id = 0;
        bool wasWaitReported = false;
        std::unique_ptr<std::stop_callback<std::function<void()>>> onUnwanted = {};
    };

    void enqueue(Job job);
    void withdraw(int64_t id);
    std::string busyWith() const;
    void refuse(Job& job) const;
    void cancel(Job& job) const;
    void loop(std::stop_token stop);
    void serve(Job& job, std::stop_token stop);

    std::shared_ptr<NodeLogin> m_login;
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<Job> m_jobs;
    int64_t m_lastId = 0;
    std::string m_purpose;       ///< of the task that runs
    bool m_isOver = false;       ///< no job is taken any more
    NodeLogin::Shared m_session; ///< the worker thread's
    std::jthread m_thread;       ///< last: starts when all the rest exists
};

/// One login and one worker for each node, kept between launches so that the next one finds the
/// session open. Thread-safe.
class HostPool {
public:
    explicit HostPool(CredentialSource credentials)
        : m_credentials(std::move(credentials)) {}

    /// The worker of this node; a new one when the node's settings have changed.
    std::shared_ptr<HostWorker> worker(const Node& node);
    /// The login that worker() uses, to share it.
    std::shared_ptr<NodeLogin> login(const Node& node);
    /// The login is made anew at its next use, as the agent that it knows is gone.
    void renew(const Node& node);
    /// A worker for one long task, so that launches need not wait for its end, with a login of its
    /// own, so that nothing lags behind what it carries.
    std::unique_ptr<HostWorker> ownWorker(const Node& node) const;
    /// A connection of the caller's thread alone, for what takes two nodes at once.
    Result<NodeSession> open(const Node& node, std::stop_token stop,
                             const OnConnectPause& onPause = {}) const;
    /// HostWorker::close() of every worker(), the future ones too.
    void close();
    bool isClosed() const;

private:
    struct Host {
        std::shared_ptr<NodeLogin> login;
        std::shared_ptr<HostWorker> worker; ///< null: nobody asked for it
    };
    Host& host(const Node& node, Host& before);

    CredentialSource m_credentials;
    mutable std::mutex m_mutex;
    bool m_isClosed = false;
    std::map<std::string, Host> m_hosts;
};

} // namespace rm
