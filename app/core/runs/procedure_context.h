// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/cancel_token.h"
#include "app/core/launch/host_worker.h"
#include "app/core/launch/progress.h"
#include "app/core/node/node.h"
#include "app/core/store/writer_thread.h"
#include "shared/result.h"

#include <QString>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rm {

/// The tools of a procedure: one that takes long, blocks, and is of a run and its nodes. Shared
/// with the thread that runs it.
struct ProcedureContext {
    std::shared_ptr<WriterThread> writer;
    std::shared_ptr<HostPool> hosts;
    QString database;
    std::shared_ptr<CancelToken> token;
    std::vector<Node> nodes;                                           ///< all that are known
    std::function<void(const QString& run, const Progress&)> progress; ///< any thread
    std::function<void(const QString& run)> changed; ///< the run's summary changed; any thread
    /// A sentence that says why a new run was not launched: a node has too little memory. Any
    /// thread.
    std::function<void(const QString& run, const QString& why)> tooLarge;
    std::string stateFolder = {}; ///< of this computer's Ringmaster
};

/// kNotFound: it is not in the list of nodes (any more).
Result<Node> nodeCalled(const ProcedureContext& context, const std::string& name);

} // namespace rm
