// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/requests/queue.h"
#include "app/core/queue/halving.h"
#include "app/core/queue/queue_order.h"

#include <QFuture>
#include <QString>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rm {

class LocalEngine;
struct RunSummary;

/// Starts the runs that wait for free nodes. Part of the engine, and in its thread.
class RunQueue {
public:
    explicit RunQueue(LocalEngine& engine)
        : m_engine(engine) {}

    /// See StartQueuedRequest.
    QFuture<Result<QueueProgress>> start();

private:
    using Started = Result<QString>;

    QFuture<Result<QueueProgress>> startReady();
    QFuture<Started> launch(const QueueStart& start, int place);
    BusyNodes busy() const;
    std::vector<HalvingVerdict> verdicts() const;
    QFuture<Result<void>> applyVerdicts(const std::vector<HalvingVerdict>& verdicts);
    void onEnded(const QueueStart& start, const Started& started);

    LocalEngine& m_engine;
    std::map<QString, std::vector<QueuedNode>> m_starting;
    /// Nodes that could not be reached or refused the login, until when they are left alone, by the
    /// monotonic clock.
    std::map<std::string, int64_t> m_awayUntilNs;
};

} // namespace rm
