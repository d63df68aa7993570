// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/requests/queue.h"
#include "app/core/queue/queue_order.h"

#include <QFuture>
#include <QPromise>
#include <QString>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rm {

class LocalEngine;

/// Starts the runs that wait for free nodes. Part of the engine, and in its thread; it reads the
/// database in threads of the pool. One look at a time answers all requests that came before it.
class RunQueue {
public:
    explicit RunQueue(LocalEngine& engine)
        : m_engine(engine) {}

    /// See StartQueuedRequest.
    QFuture<Result<QueueProgress>> start();

private:
    using Started = Result<QString>;
    using Requests = std::vector<std::shared_ptr<QPromise<Result<QueueProgress>>>>;
    struct Look;
    struct Course;

    static Result<Look> lookAt(const QString& database);
    void look();
    void onLooked(const Requests& requests, const Result<Look>& look);
    void startReady(const Requests& requests, const Look& look);
    std::vector<QueueStart> ready(const Look& look) const;
    QFuture<Started> launch(const QueueStart& start, const std::vector<QString>& behind);
    void onEnded(const QueueStart& start, const Started& started);

    LocalEngine& m_engine;
    Requests m_requests; ///< since the look that is under way
    bool m_isLooking = false;
    int64_t m_looks = 0;
    // What could not be reached or refused the login, until when it is left alone, by the monotonic
    // clock: a run, so that others get its nodes, and the node of a run that wanted one alone.
    std::map<QString, int64_t> m_runsAwayUntilNs;
    std::map<std::string, int64_t> m_nodesAwayUntilNs;
};

} // namespace rm
