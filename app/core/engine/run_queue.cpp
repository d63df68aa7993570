// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/run_queue.h"

#include "app/core/engine/parts.h"
#include "app/core/engine/procedures.h"
#include "app/core/findings/text.h"
#include "app/core/queue/halving.h"
#include "shared/io/clock.h"
#include "shared/metrics/registry.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace rm {

/// What one look at the database found.
struct RunQueue::Look {
    std::vector<QueueEntry> queue;
    BusyNodes busy;
    std::vector<SweepVerdict> verdicts;
    int undecided = 0;
};

/// The starts of one look.
struct RunQueue::Course {
    Requests requests;
    QueueProgress progress;
    size_t open = 0;

    void finish() {
        for (const auto& promise : requests) {
            promise->addResult(Result<QueueProgress>(progress));
            promise->finish();
        }
    }
};

namespace {

using Started = Result<QString>;

constexpr int64_t kLeftAloneNs = 60'000'000'000;

/// What may be otherwise in a minute, as a node is up again or a person has logged in.
bool isPassing(ErrorCode code) {
    return code == ErrorCode::kUnavailable || code == ErrorCode::kDenied;
}

/// Launches a run that waits, or resumes one that has ended.
Started begin(const ProcedureContext& context, const QueueEntry& entry,
              const std::vector<PlacedParty>& parties) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    const auto run = reader->run(entry.run);
    if (!run || run->queuePlace == 0) // taken out, or begun, since the look
        return fail(ErrorCode::kInvalid, say("queue.waits-no-more"));
    const auto ifTooLarge =
        entry.place.launchesTooLarge ? IfTooLarge::kLaunch : IfTooLarge::kRefuse;
    if (run->state != RunStateKind::kWaiting)
        return resumeRun(context, *run, parties, {}, ifTooLarge);
    RM_ASSIGN_OR_RETURN(auto spec,
                        parseRunSpec(reader->specToml(entry.run), entry.run.toStdString()));
    RM_ASSIGN_OR_RETURN(const auto checked, check(std::move(spec)));
    return launchRun(context, entry.run, checked, parties, {}, ifTooLarge);
}

/// Takes the run out of the queue for that reason, which is kept also of a run that goes on.
Result<void> takeOutFor(StoreWriter& writer, const QString& run, RunStateKind as,
                        const std::string& why) {
    RM_RETURN_IF_ERROR(writer.dequeue(run, as, QString::fromStdString(why)));
    IngestBatch batch;
    batch.run = run;
    batch.records = {Event{-1, -1, wallNowNs(), Severity::kWarning, "queue", why}};
    return writer.ingest(batch);
}

/// begin(), after whose failure the run waits again, or is out of the queue.
Started beginOrWait(const ProcedureContext& context, const QueueEntry& entry,
                    const std::vector<QString>& behind, const std::vector<PlacedParty>& parties,
                    const std::stop_token& closing) {
    auto started = begin(context, entry, parties);
    if (started)
        return started;
    const std::string why = started.error().message;
    const bool isCancelled = context.token->isCancelled() && !closing.stop_requested();
    (void)context.writer->call([&](StoreWriter& writer) {
        if (!isCancelled && isPassing(started.error().code))
            return writer.requeue(entry, behind, closing.stop_requested() ? std::string() : why);
        return takeOutFor(writer, entry.run,
                          isCancelled ? RunStateKind::kStopped : RunStateKind::kFailed,
                          isCancelled ? say("engine.launch-was-cancelled") : why);
    });
    context.changed(entry.run);
    return started;
}

/// What a sweep is judged by: the watched metric of validation or, of runs without one, the loss.
std::string judgedBy(const RunSpec& spec) {
    return validates(spec) ? "validation/" + spec.train.watch : metricName(metric::kTrainLoss);
}

Halving halvingOf(StoreReader& reader, const RunSpec& spec, int eta) {
    const std::string metric = judgedBy(spec);
    const MetricDef* def = findBuiltinMetric(metric);
    const auto valueAt = [&reader, metric, every = spec.train.logEvery](
                             const RunSummary& run, int64_t rung) -> std::optional<double> {
        const auto points = reader.points(run.id, {metric, 0}, rung - every + 1, rung);
        return points.empty() ? std::nullopt : std::optional<double>(points.back().value);
    };
    return {spec.train.pauseAt, eta, !def || def->direction != MetricDirection::kHigher, valueAt};
}

SweepVerdict storedAs(const HalvingVerdict& verdict, const QueuedPlace& place) {
    SweepVerdict stored{verdict.run->id, verdict.rung, verdict.goesOn, place, {}};
    // Its checkpoint lies where it was.
    std::ranges::stable_partition(stored.place.nodes, [&](const QueuedNode& node) {
        const auto& nodes = verdict.run->nodes;
        return std::ranges::find(nodes, node.node, &RunNode::nodeName) != nodes.end();
    });
    if (!verdict.goesOn)
        stored.message = QString::fromStdString(
            say("queue.halved-out", {{"step", std::to_string(verdict.rung)},
                                     {"place", std::to_string(verdict.place)},
                                     {"of", std::to_string(verdict.of)},
                                     {"kept", std::to_string(verdict.kept)}}));
    return stored;
}

} // namespace

Result<RunQueue::Look> RunQueue::lookAt(const QString& database) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(database));
    const auto snapshot = reader->snapshot();
    Look look{reader->queue(), busyNodes(reader->liveRuns()), {}, 0};
    std::map<QString, std::vector<RunSummary>> sweeps;
    for (RunSummary& run : reader->runsOfHalvingSweeps())
        sweeps[run.sweep].push_back(std::move(run));
    for (const auto& [id, runs] : sweeps) {
        const auto sweep = reader->sweep(id);
        const auto spec = parseRunSpec(reader->specToml(runs.front().id), "spec");
        if (!sweep || !spec)
            continue;
        look.undecided += static_cast<int>(undecidedRuns(runs, spec->train.pauseAt));
        for (const HalvingVerdict& verdict :
             halvingVerdicts(runs, halvingOf(*reader, *spec, sweep->eta)))
            look.verdicts.push_back(storedAs(verdict, sweep->place));
    }
    if (const auto failure = reader->failure()) // else all nodes would seem to be free
        return tl::unexpected(*failure);
    return look;
}

QFuture<Result<QueueProgress>> RunQueue::start() {
    const auto promise = std::make_shared<QPromise<Result<QueueProgress>>>();
    promise->start();
    m_requests.push_back(promise);
    if (!m_isLooking)
        look();
    return promise->future();
}

void RunQueue::look() {
    m_isLooking = true;
    const auto looked = runOn(m_engine.parts().pool,
                              [database = m_engine.parts().database] { return lookAt(database); });
    whenAnswered(looked, &m_engine,
                 [this, requests = std::exchange(m_requests, {})](const Result<Look>& found) {
                     onLooked(requests, found);
                 });
}

void RunQueue::onLooked(const Requests& requests, const Result<Look>& found) {
    const auto refuse = [this, requests](const Error& error) {
        for (const auto& promise : requests) {
            promise->addResult(failAs(say("queue.start"), error));
            promise->finish();
        }
        m_isLooking = false;
        if (!m_requests.empty())
            look();
    };
    if (!found)
        return refuse(found.error());
    if (const auto problem = m_engine.parts().fleet->problem())
        return refuse(*problem);
    if (found->verdicts.empty()) {
        startReady(requests, *found);
        m_isLooking = false;
        if (!m_requests.empty())
            look();
        return;
    }
    const auto applied =
        m_engine.edit(say("queue.start"), [verdicts = found->verdicts](StoreWriter& writer) {
            return writer.applyVerdicts(verdicts);
        });
    whenAnswered(applied, &m_engine, [this, requests, refuse](const Result<void>& done) {
        if (!done)
            return refuse(done.error());
        m_requests.insert(m_requests.begin(), requests.begin(), requests.end());
        look();
    });
}

/// Nodes that are not in the list any more are left out, where enough others are.
std::vector<QueueStart> RunQueue::ready(const Look& look) const {
    const LocalEngine::Parts& parts = m_engine.parts();
    const int64_t now = monotonicNowNs();
    const auto nodeOf = [&](const std::string& name) {
        return parts.fleet->find(QString::fromStdString(name));
    };
    BusyNodes busy = look.busy;
    busy.merge(parts.launches.busyNodes());
    for (const auto& [node, until] : m_nodesAwayUntilNs)
        if (now < until)
            busy.emplace(node, std::string());
    std::vector<QueueEntry> queue;
    for (QueueEntry entry : look.queue) {
        const auto away = m_runsAwayUntilNs.find(entry.run);
        if (parts.launches.contains(entry.run) ||
            (away != m_runsAwayUntilNs.end() && now < away->second))
            continue;
        const size_t wanted = wantedNodes(entry.place);
        std::vector<QueuedNode> known = entry.place.nodes;
        std::erase_if(known, [&](const QueuedNode& node) { return !nodeOf(node.node); });
        if (known.size() >= wanted && known.size() < entry.place.nodes.size()) {
            entry.place.nodes = std::move(known);
            entry.place.wanted = static_cast<int>(wanted);
        }
        queue.push_back(std::move(entry));
    }
    return startable(queue, busy, [&](const std::string& name) {
        const auto node = nodeOf(name);
        return !node || node->isSlurm; // place() refuses one that is gone
    });
}

void RunQueue::startReady(const Requests& requests, const Look& look) {
    const auto course = std::make_shared<Course>();
    course->requests = requests;
    course->progress.look = ++m_looks;
    course->progress.undecided = look.undecided;
    course->progress.waiting = static_cast<int>(look.queue.size());
    const auto starts = ready(look);
    course->open = starts.size();
    if (starts.empty())
        return course->finish();
    for (const QueueStart& start : starts) {
        std::vector<QString> behind;
        const auto at = std::ranges::find(look.queue, start.entry.run, &QueueEntry::run);
        std::transform(at + 1, look.queue.end(), std::back_inserter(behind),
                       [](const QueueEntry& entry) { return entry.run; });
        whenAnswered(launch(start, behind), &m_engine,
                     [this, course, start](const Started& started) {
                         onEnded(start, started);
                         const auto& run = start.entry.run;
                         if (started) {
                             course->progress.started.push_back(run);
                             --course->progress.waiting;
                         } else {
                             course->progress.problems.push_back(
                                 {run, QString::fromStdString(started.error().message)});
                         }
                         if (--course->open == 0)
                             course->finish();
                     });
    }
}

QFuture<Started> RunQueue::launch(const QueueStart& start, const std::vector<QString>& behind) {
    LocalEngine::Parts& parts = m_engine.parts();
    const QString& run = start.entry.run;
    const auto parties = m_engine.place(placementsOf(start.nodes));
    if (!parties) {
        m_engine.postEdit(run, [run, why = parties.error().message](StoreWriter& writer) {
            return takeOutFor(writer, run, RunStateKind::kFailed, why);
        });
        return refuse<Started>(parties.error());
    }
    return parts.launches.start(
        run, *parties,
        [entry = start.entry, behind, parties = *parties,
         closing = parts.closing.get_token()](const ProcedureContext& context) {
            return beginOrWait(context, entry, behind, parties, closing);
        });
}

void RunQueue::onEnded(const QueueStart& start, const Started& started) {
    if (!started && isPassing(started.error().code)) {
        const int64_t until = monotonicNowNs() + kLeftAloneNs;
        m_runsAwayUntilNs[start.entry.run] = until;
        // Of several it is not known which one it was.
        if (start.nodes.size() == 1) {
            m_nodesAwayUntilNs[start.nodes.front().node] = until;
            if (start.entry.place.nodes.size() > 1)
                m_runsAwayUntilNs.erase(start.entry.run);
        }
    }
    Q_EMIT m_engine.runsChanged();
}

} // namespace rm
