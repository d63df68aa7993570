// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/run_queue.h"

#include "app/core/engine/parts.h"
#include "app/core/engine/procedures.h"
#include "app/core/findings/text.h"
#include "app/core/store/run_metrics.h"
#include "shared/io/clock.h"
#include "shared/metrics/registry.h"
#include "shared/return_if_error.h"

#include <QPromise>

#include <algorithm>
#include <memory>
#include <set>

namespace rm {

namespace {

using Started = Result<QString>;

constexpr int64_t kLeftAloneNs = 60'000'000'000; ///< a node that could not be reached

/// What may be otherwise in a minute, as a node is up again or a person has logged in.
bool isPassing(ErrorCode code) {
    return code == ErrorCode::kUnavailable || code == ErrorCode::kDenied;
}

/// Launches a run that waits, or resumes one that has ended.
Started begin(const ProcedureContext& context, const QueueEntry& entry,
              const std::vector<PlacedParty>& parties) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const auto run = reader->run(entry.run);
    if (!run)
        return fail(ErrorCode::kNotFound, say("engine.no-run", {{"run", entry.run.toStdString()}}));
    if (run->state != RunStateKind::kWaiting)
        return resumeRun(context, *run, parties, {});
    RM_ASSIGN_OR_RETURN(auto spec,
                        parseRunSpec(reader->specToml(entry.run), entry.run.toStdString()));
    RM_ASSIGN_OR_RETURN(const auto checked, check(std::move(spec)));
    return launchRun(context, entry.run, checked, parties, {},
                     entry.place.launchesTooLarge ? IfTooLarge::kLaunch : IfTooLarge::kRefuse);
}

/// begin(), after whose failure the run waits again, or is out of the queue.
Started beginOrWait(const ProcedureContext& context, const QueueEntry& entry, int place,
                    const std::vector<PlacedParty>& parties, const std::stop_token& closing) {
    auto started = begin(context, entry, parties);
    if (started)
        return started;
    const QString why = QString::fromStdString(started.error().message);
    const bool isCancelled = context.token->isCancelled() && !closing.stop_requested();
    (void)context.writer->call([&](StoreWriter& writer) {
        if (!isCancelled && isPassing(started.error().code))
            return writer.requeue(entry, place, closing.stop_requested() ? QString() : why);
        return writer.dequeue(
            entry.run, isCancelled ? RunStateKind::kStopped : RunStateKind::kFailed,
            isCancelled ? QString::fromStdString(say("engine.launch-was-cancelled")) : why);
    });
    context.changed(entry.run);
    return started;
}

/// What a sweep is judged by: the watched metric of validation or, of runs without one, the loss.
std::string judgedBy(const RunSpec& spec) {
    return validates(spec) ? "validation/" + spec.train.watch : metricName(metric::kTrainLoss);
}

HalvingRun halvingRun(StoreReader& reader, const RunSummary& run, const std::string& metric,
                      const std::vector<int64_t>& rungs) {
    HalvingRun out{run.id, run.state, run.step, run.queuePlace > 0, {}};
    for (const int64_t rung : rungs) {
        const auto points =
            run.step >= rung ? reader.points(run.id, {metric, 0}, 0, rung) : std::vector<Point>();
        out.values.push_back(points.empty() ? std::nullopt
                                            : std::optional<double>(points.back().value));
    }
    return out;
}

std::vector<HalvingVerdict> verdictsOf(StoreReader& reader, const StoredSweep& sweep,
                                       std::vector<RunSummary> members) {
    std::ranges::sort(members, {}, &RunSummary::createdNs);
    const auto spec = parseRunSpec(reader.specToml(members.front().id), "spec");
    if (!spec)
        return {};
    const std::string metric = judgedBy(*spec);
    const MetricDef* def = findBuiltinMetric(metric);
    std::vector<HalvingRun> runs;
    for (const RunSummary& member : members)
        runs.push_back(halvingRun(reader, member, metric, spec->train.pauseAt));
    return halvingVerdicts(runs, spec->train.pauseAt, sweep.eta,
                           !def || def->direction != MetricDirection::kHigher);
}

std::string endedWords(const HalvingVerdict& verdict) {
    return say("queue.halved-out", {{"step", std::to_string(verdict.rung)},
                                    {"place", std::to_string(verdict.place)},
                                    {"of", std::to_string(verdict.of)},
                                    {"kept", std::to_string(verdict.kept)}});
}

} // namespace

QFuture<Result<QueueProgress>> RunQueue::start() {
    const auto judged = verdicts();
    if (judged.empty())
        return startReady();
    const auto promise = std::make_shared<QPromise<Result<QueueProgress>>>();
    promise->start();
    whenAnswered(applyVerdicts(judged), &m_engine, [this, promise](const Result<void>& done) {
        const auto finish = [promise](const Result<QueueProgress>& progress) {
            promise->addResult(progress);
            promise->finish();
        };
        if (!done)
            return finish(tl::unexpected(done.error()));
        whenAnswered(startReady(), &m_engine, finish);
    });
    return promise->future();
}

BusyNodes RunQueue::busy() const {
    BusyNodes busy = busyNodes(m_engine.parts().reader->liveRuns());
    for (const auto& [run, nodes] : m_starting)
        for (const QueuedNode& node : nodes)
            busy.emplace(node.node, run.toStdString());
    const int64_t now = monotonicNowNs();
    for (const auto& [node, until] : m_awayUntilNs)
        if (now < until)
            busy.emplace(node, std::string());
    return busy;
}

QFuture<Result<QueueProgress>> RunQueue::startReady() {
    LocalEngine::Parts& parts = m_engine.parts();
    auto queue = parts.reader->queue();
    const auto all = queue;
    std::erase_if(queue, [&](const QueueEntry& entry) {
        return m_starting.contains(entry.run) || parts.launches.contains(entry.run);
    });
    const auto isCluster = [&](const std::string& name) {
        const auto node = parts.fleet->find(QString::fromStdString(name));
        return node && node->isSlurm;
    };
    struct Starting {
        QueueProgress progress;
        size_t open = 0;
        QPromise<Result<QueueProgress>> promise;
    };
    const auto starting = std::make_shared<Starting>();
    starting->promise.start();
    const auto finish = [this, starting] {
        starting->progress.waiting = static_cast<int>(m_engine.parts().reader->queue().size());
        starting->promise.addResult(Result<QueueProgress>(starting->progress));
        starting->promise.finish();
    };
    const auto starts = startable(queue, busy(), isCluster);
    starting->open = starts.size();
    for (const QueueStart& start : starts) {
        const auto place = std::ranges::find(all, start.entry) - all.begin();
        whenAnswered(launch(start, static_cast<int>(place)), &m_engine,
                     [this, starting, start, finish](const Started& started) {
                         onEnded(start, started);
                         if (started)
                             starting->progress.started.push_back(*started);
                         else
                             starting->progress.problems.push_back(QString::fromStdString(
                                 say("run.told-of", {{"place", start.entry.run.toStdString()},
                                                     {"what", started.error().message}})));
                         if (--starting->open == 0)
                             finish();
                     });
    }
    if (starts.empty())
        finish();
    return starting->promise.future();
}

QFuture<Started> RunQueue::launch(const QueueStart& start, int place) {
    LocalEngine::Parts& parts = m_engine.parts();
    std::vector<Placement> placements;
    for (const QueuedNode& node : start.nodes)
        placements.push_back({QString::fromStdString(node.node), node.ranks});
    const auto parties = m_engine.place(placements);
    if (!parties) {
        const QString why = QString::fromStdString(parties.error().message);
        m_engine.postEdit(start.entry.run, [run = start.entry.run, why](StoreWriter& writer) {
            return writer.dequeue(run, RunStateKind::kFailed, why);
        });
        return refuse<Started>(parties.error());
    }
    m_starting[start.entry.run] = start.nodes;
    parts.following.forget(start.entry.run);
    return parts.launches.start(
        start.entry.run, [entry = start.entry, place, parties = *parties,
                          closing = parts.closing.get_token()](const ProcedureContext& context) {
            return beginOrWait(context, entry, place, parties, closing);
        });
}

void RunQueue::onEnded(const QueueStart& start, const Started& started) {
    m_starting.erase(start.entry.run);
    if (!started && isPassing(started.error().code))
        for (const QueuedNode& node : start.nodes)
            m_awayUntilNs[node.node] = monotonicNowNs() + kLeftAloneNs;
    Q_EMIT m_engine.runsChanged();
}

/// Of the sweeps of which a run has paused and does not wait.
std::vector<HalvingVerdict> RunQueue::verdicts() const {
    StoreReader& reader = *m_engine.parts().reader;
    std::map<QString, std::vector<RunSummary>> members;
    std::set<QString> due;
    for (const RunSummary& run : reader.runsOfPausedSweeps()) {
        members[run.sweep].push_back(run);
        if (run.state == RunStateKind::kPaused && run.queuePlace == 0)
            due.insert(run.sweep);
    }
    std::vector<HalvingVerdict> all;
    for (const QString& id : due)
        if (const auto sweep = reader.sweep(id); sweep && sweep->eta > 1)
            std::ranges::move(verdictsOf(reader, *sweep, members[id]), std::back_inserter(all));
    return all;
}

QFuture<Result<void>> RunQueue::applyVerdicts(const std::vector<HalvingVerdict>& verdicts) {
    StoreReader& reader = *m_engine.parts().reader;
    std::map<QString, QueuedPlace> places;
    for (const HalvingVerdict& verdict : verdicts) {
        const auto run = reader.run(verdict.run);
        const auto sweep = run ? reader.sweep(run->sweep) : std::nullopt;
        if (!sweep)
            continue;
        QueuedPlace place = sweep->place;
        // Its checkpoint lies where it was.
        std::ranges::stable_partition(place.nodes, [&](const QueuedNode& node) {
            return std::ranges::find(run->nodes, node.node, &RunNode::nodeName) != run->nodes.end();
        });
        places[verdict.run] = std::move(place);
    }
    const auto apply = [places](StoreWriter& writer, const HalvingVerdict& verdict) {
        if (const auto place = places.find(verdict.run); verdict.goesOn && place != places.end())
            return writer.enqueueAgain(verdict.run, place->second);
        return verdict.goesOn ? Result<void>()
                              : writer.setState(verdict.run, RunStateKind::kStopped,
                                                QString::fromStdString(endedWords(verdict)));
    };
    return m_engine.edit(say("queue.start"), [verdicts, apply](StoreWriter& writer) {
        Result<void> done;
        for (size_t i = 0; done && i < verdicts.size(); ++i)
            done = apply(writer, verdicts[i]);
        return done;
    });
}

} // namespace rm
