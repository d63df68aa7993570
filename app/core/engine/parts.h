// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/answer.h"
#include "app/core/checkpoints/checkpoint_copier.h"
#include "app/core/engine/declared_lost_nodes.h"
#include "app/core/engine/following.h"
#include "app/core/engine/launches.h"
#include "app/core/engine/local_engine.h"
#include "app/core/engine/run_queue.h"
#include "app/core/follow/followed_run.h"
#include "app/core/launch/cancel_token.h"
#include "app/core/launch/host_worker.h"
#include "app/core/machines/machine_watch.h"
#include "app/core/runs/procedure_context.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "app/core/store/writer_thread.h"

#include <QThreadPool>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace rm {

/// A trial or measurement on nodes that is under way without a run, and how to end it.
struct Course {
    std::stop_source stop;
    std::atomic<bool> isOver = false;
};

/// The parts of a LocalEngine, with which requests are performed. All of them belong to the
/// engine's thread, save what is shared with the threads of the pool.
struct LocalEngine::Parts {
    Parts(LocalEngine& engine, const Paths& paths, Fleet& fleet,
          std::unique_ptr<StoreWriter> storeWriter);

    const QString database;
    const std::string stateFolder;
    Fleet* const fleet;
    const std::shared_ptr<WriterThread> writer; ///< null: another instance writes
    std::shared_ptr<HostPool> hosts =
        std::make_shared<HostPool>([](const Node&) { return Credentials{}; });
    std::unique_ptr<StoreReader> reader; ///< for single rows

    std::shared_ptr<Course> measurement; ///< of the network, the last one
    struct Trial {
        NodeTrial what;
        std::shared_ptr<Course> course;
    };
    std::vector<Trial> trials; ///< with some that are over
    /// Checkpoints that are tried, by the askers' ids; with some that are over.
    std::multimap<QString, std::shared_ptr<Course>> tries;
    std::set<QString> leaving; ///< nodes that Ringmaster is being removed from

    std::stop_source closing;
    /// Cancelled when this program closes.
    std::shared_ptr<CancelToken> closingToken = std::make_shared<CancelToken>();
    QThreadPool pool;
    std::unique_ptr<CheckpointCopier> copier; ///< null: another instance writes

    Launches launches;
    Following following;
    DeclaredLostNodes declaredLost;
    RunQueue queue;
    MachineWatch machines{[this](const Node& node) { return hosts->login(node); }};
};

/// A sink for progress that emits Engine::progressed() of `what`, for any thread.
std::function<void(const Progress&)> progressOf(LocalEngine& engine, const QString& what);

// What nodes, and not ranks, are asked to do is stored as a command once it is done.

/// Such a command, as of now. Where `by` has no name, it is the user of this process.
RequestedCommand requestedNow(std::string kind, const Requester& by,
                              std::vector<std::pair<std::string, std::string>> args = {});
/// Stores that it was done. In a thread of the pool.
Result<void> noteDone(const ProcedureContext& context, const QString& run,
                      RequestedCommand requested);

/// An answer that is there already.
template <class Answer>
QFuture<Answer> ready(Answer answer) {
    return QtFuture::makeReadyFuture(std::move(answer));
}

template <class Answer>
QFuture<Answer> refuse(Error why) {
    return ready<Answer>(tl::unexpected(std::move(why)));
}

} // namespace rm
