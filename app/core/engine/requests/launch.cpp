// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/requests/launch.h"

#include "app/core/checkpoints/checkpoint_moves.h"
#include "app/core/engine/earlier_run.h"
#include "app/core/engine/parts.h"
#include "app/core/engine/procedures.h"
#include "app/core/findings/text.h"
#include "app/core/follow/node_follower.h"
#include "app/core/launch/launch_rows.h"
#include "app/core/launch/launcher.h"
#include "app/core/launch/plan.h"
#include "app/core/network/network_file.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <QPromise>
#include <QTimer>

#include <chrono>
#include <memory>
#include <type_traits>

namespace rm {

namespace {

using Started = Result<QString>;

constexpr auto kCatchUpLook = std::chrono::milliseconds(50);

QString idFor(const QString& wanted, const std::string& name) {
    return wanted.isEmpty() ? QString::fromStdString(newRunId(name)) : wanted;
}

/// Why a run that has not ended, as far as is known, may have: a node has told no end. nullopt: no
/// node is silent.
std::optional<Error> whyEndIsUnknown(LocalEngine& engine, const RunSummary& run) {
    using Link = LiveState::Link;
    const std::vector<LiveState::NodeLink> nodes = engine.live(run.id).nodes;
    const auto missing = std::ranges::find(nodes, Link::kMissing, &LiveState::NodeLink::link);
    const bool isRestOver = std::ranges::all_of(nodes, [](const LiveState::NodeLink& node) {
        return node.link == Link::kMissing || node.link == Link::kNone;
    });
    std::string node;
    if (!run.lostNodes.empty())
        node = run.lostNodes.front().nodeName;
    else if (missing != nodes.end() && isRestOver)
        node = missing->node;
    if (node.empty())
        return std::nullopt;
    const auto declared = engine.parts().reader->declaredLost(run.id);
    if (std::ranges::find(declared, node, &DeclaredLostNode::node) != declared.end())
        return Error{ErrorCode::kUnavailable, say("engine.rest-is-ending", {{"node", node}})};
    const std::string id = run.id.toStdString();
    const Value command{"command", "ringmaster declare-lost " + id + ' ' + node};
    const bool hasNothing = std::ranges::any_of(nodes, [&](const LiveState::NodeLink& each) {
        return each.node == node && each.link == Link::kMissing;
    });
    if (!hasNothing)
        return Error{ErrorCode::kInvalid, say("engine.end-not-known", {{"node", node}, command})};
    return Error{ErrorCode::kInvalid,
                 say("engine.end-is-nowhere", {{"node", node},
                                               {"seconds", std::to_string(kMissingFor.count())},
                                               {"attach", "ringmaster attach " + id},
                                               command})};
}

/// The run, if another attempt of it may begin.
Result<RunSummary> resumable(LocalEngine& engine, const QString& run, const std::string& attempt) {
    RM_ASSIGN_OR_RETURN(const auto found, engine.summary(run));
    const std::string id = run.toStdString();
    if (!hasEnded(found.state))
        if (const auto why = whyEndIsUnknown(engine, found))
            return failAs(attempt, *why);
    if (!hasEnded(found.state))
        return failAs(attempt, {ErrorCode::kInvalid, say("engine.pause-or-stop-first",
                                                         {{"state", runStateName(found.state)}})});
    if (found.deletedNs > 0)
        return failAs(attempt,
                      {ErrorCode::kNotFound,
                       say("engine.in-trash", {{"command", "ringmaster trash restore " + id}})});
    return found;
}

std::string resumeAttempt(const QString& run, const QString& checkpoint) {
    return say(checkpoint.isEmpty() ? "run.resume" : "run.restore", {{"run", run.toStdString()}});
}

Result<std::vector<PlacedParty>> partiesOf(LocalEngine& engine, const RunSummary& run,
                                           const std::vector<Placement>& nodes) {
    return nodes.empty() ? engine.placeOf(run) : engine.place(nodes);
}

void noteResume(LocalEngine& engine, const QString& run, RequestedCommand requested,
                const Started& started) {
    requested.state = started ? RequestedState::kApplied : RequestedState::kRefused;
    requested.answeredNs = wallNowNs();
    requested.answer = started ? std::string() : started.error().message;
    // Only the ranks can say from which step: they pass over a damaged checkpoint.
    if (started && engine.parts().reader)
        requested.answer =
            say("engine.attempt",
                {{"attempt", std::to_string(engine.parts().reader->newestAttempt(run))}});
    engine.noteCommand(run, requested);
}

/// Asks the nodes of a launch for something, without starting anything.
template <class Ask, class Answer = std::invoke_result_t<Ask, Launcher&>>
QFuture<Answer> askLauncher(LocalEngine& engine, Launcher::Request request, Ask ask) {
    request.patience = kRequestPatience;
    return runOn(engine.parts().pool,
                 [request = std::move(request), ask = std::move(ask), hosts = engine.parts().hosts,
                  stop = engine.parts().closing.get_token()]() -> Answer {
                     const auto launcher = makeLauncher(
                         request, *hosts, [](const Progress&) {}, stop);
                     return ask(*launcher);
                 });
}

/// A launch with checkpoint.on_existing = "resume": it follows what it may resume to its end, looks
/// for the newest checkpoint of its name, then resumes that run, branches from it or begins anew.
/// All of that can be cancelled as any launch. Lives until it has its answer.
class ResumingLaunch : public std::enable_shared_from_this<ResumingLaunch> {
public:
    ResumingLaunch(LocalEngine& engine, LaunchRequest requested, CheckedSpec spec,
                   std::vector<PlacedParty> parties)
        : m_engine(engine)
        , m_request(std::move(requested))
        , m_spec(std::move(spec))
        , m_parties(std::move(parties)) {}

    QFuture<Started> start() {
        m_promise.start();
        m_token = m_engine.parts().launches.begin(m_request.run, m_parties);
        const LocalEngine::Parts& parts = m_engine.parts();
        if (parts.reader && parts.writer)
            m_open = openEarlierRuns(*parts.reader, *m_spec);
        whenAnswered(catchUp(), &m_engine, [own = shared_from_this()](const Result<void>& known) {
            known ? own->look() : own->onAlive(known.error());
        });
        return m_promise.future();
    }

private:
    using Earlier = Result<std::optional<EarlierRun>>;

    QFuture<Result<void>> catchUp();
    std::optional<Result<void>> caughtUpWithAll(int64_t waitedNs) const;
    void look();
    void onAlive(const Error& error);
    void onLooked(const Earlier& earlier);
    QFuture<Started> begin(const std::optional<EarlierRun>& earlier);
    void noteEarlier(const QString& run, const std::string& words);
    void give(const Started& answer) {
        m_promise.addResult(answer);
        m_promise.finish();
    }

    LocalEngine& m_engine;
    const LaunchRequest m_request;
    const CheckedSpec m_spec;
    const std::vector<PlacedParty> m_parties;
    std::vector<RunSummary> m_open; ///< what it may resume and has not ended, as far as is known
    std::shared_ptr<CancelToken> m_token;
    QPromise<Started> m_promise;
};

QFuture<Result<void>> ResumingLaunch::catchUp() {
    if (m_open.empty())
        return ready(Result<void>());
    for (const RunSummary& run : m_open)
        if (auto following = m_engine.parts().following.follow(run.id); !following)
            return ready(std::move(following));
    m_engine.parts().launches.setProgress(m_request.run,
                                          {QString::fromStdString(say("engine.catch-up"))});
    const auto promise = std::make_shared<QPromise<Result<void>>>();
    promise->start();
    auto* timer = new QTimer(&m_engine);
    QObject::connect(timer, &QTimer::timeout, &m_engine,
                     [own = shared_from_this(), promise, timer, since = monotonicNowNs()] {
                         const auto known = own->m_token->isCancelled()
                                                ? std::optional<Result<void>>(Result<void>())
                                                : own->caughtUpWithAll(monotonicNowNs() - since);
                         if (!known)
                             return;
                         timer->stop();
                         timer->deleteLater();
                         promise->addResult(*known);
                         promise->finish();
                     });
    timer->start(kCatchUpLook);
    return promise->future();
}

/// Whether all runs that it may resume are caughtUp(); nullopt: not yet.
std::optional<Result<void>> ResumingLaunch::caughtUpWithAll(int64_t waitedNs) const {
    bool isAll = true;
    for (const RunSummary& run : m_open) {
        const auto stored = m_engine.parts().reader->run(run.id);
        const auto known = stored ? caughtUp(*stored, m_engine.live(run.id), wallNowNs(), waitedNs)
                                  : std::optional<Result<void>>(Result<void>());
        if (known && !*known)
            return known;
        isAll = isAll && known;
    }
    return isAll ? std::optional<Result<void>>(Result<void>()) : std::nullopt;
}

void ResumingLaunch::look() {
    const auto looked =
        runOn(m_engine.parts().pool, [id = m_request.run, spec = m_spec, parties = m_parties,
                                      context = m_engine.procedureContext(m_token)] {
            return findEarlierRun(context, id, *spec, parties);
        });
    whenAnswered(looked, &m_engine,
                 [own = shared_from_this()](const Earlier& earlier) { own->onLooked(earlier); });
}

/// A run that it would resume lives: perhaps its agents have begun what this launch is for.
void ResumingLaunch::onAlive(const Error& error) {
    LocalEngine::Parts& parts = m_engine.parts();
    for (const RunSummary& run : m_open)
        if (const auto words = resumesByItself(*parts.reader, *m_spec, m_request.nodes, run);
            words && !m_token->isCancelled()) {
            parts.launches.end(m_request.run);
            noteEarlier(run.id, *words);
            return give(run.id);
        }
    onLooked(tl::unexpected<Error>(error));
}

void ResumingLaunch::onLooked(const Earlier& earlier) {
    Launches& launches = m_engine.parts().launches;
    launches.end(m_request.run);
    const std::string attempt = m_request.attempt();
    if (m_token->isCancelled())
        return give(failCancelled(attempt));
    if (!earlier)
        return give(failAs(attempt, earlier.error()));
    const std::string words = *earlier ? (*earlier)->words : say("engine.begins-from-scratch");
    const auto started = begin(*earlier);
    // Not for a run that is refused at once: what is asked of this launch must not reach that run.
    if (*earlier && (*earlier)->isSame() && !started.isFinished())
        launches.resumeAs(m_request.run, (*earlier)->run);
    whenAnswered(started, &m_engine, [own = shared_from_this(), words](const Started& answer) {
        own->m_engine.parts().launches.forgetResumed(own->m_request.run);
        if (answer)
            own->noteEarlier(*answer, words);
        own->give(answer);
    });
}

QFuture<Started> ResumingLaunch::begin(const std::optional<EarlierRun>& earlier) {
    const auto& [spec, nodes, id, ifTooLarge, sameAs] = m_request;
    if (earlier && earlier->isSame())
        return ResumeRequest{earlier->run, {}, nodes, {}, ifTooLarge}.perform(m_engine);
    if (earlier && !earlier->run.isEmpty())
        return BranchRequest{earlier->run, {}, spec, id, ifTooLarge, nodes}.perform(m_engine);
    // Its newest checkpoint may be damaged: then the ranks take the one before it.
    const Origin origin =
        earlier ? Origin{{}, earlier->step, earlier->checkpoint, false} : Origin();
    return m_engine.parts().launches.start(
        id, m_parties,
        [id = m_request.run, checked = m_spec, parties = m_parties, origin,
         tooLarge = m_request.ifTooLarge](const ProcedureContext& context) {
            return launchRun(context, id, checked, parties, origin, tooLarge);
        });
}

void ResumingLaunch::noteEarlier(const QString& run, const std::string& words) {
    const LocalEngine::Parts& parts = m_engine.parts();
    IngestBatch batch;
    batch.run = run;
    batch.records = {Event{-1, -1, wallNowNs(), Severity::kInfo, kEarlierRunEvent,
                           say("engine.launched-to-resume", {{"found", words}})}};
    if (const auto now = parts.reader->run(run)) // the attempt of which no node has told yet
        batch.attempts = {now->attempt};
    parts.writer->post(
        [batch = std::move(batch)](StoreWriter& writer) { return writer.ingest(batch); });
}

} // namespace

std::string LaunchRequest::attempt() const {
    return say("launch.run", {{"run", run.toStdString()}});
}

QFuture<Started> LaunchRequest::perform(LocalEngine& engine) const {
    const auto parties = engine.place(nodes);
    if (!parties)
        return refuse<Answer>(parties.error());
    const auto checked = check(spec);
    if (!checked)
        return refuse<Answer>(checked.error());
    LaunchRequest named = *this;
    named.run = idFor(run, spec.name);
    if (spec.checkpoint.onExisting == "resume")
        return std::make_shared<ResumingLaunch>(engine, std::move(named), *checked, *parties)
            ->start();
    Origin origin;
    origin.sameAs = sameAs;
    return engine.parts().launches.start(
        named.run, *parties,
        [id = named.run, spec = *checked, parties = *parties, ifTooLarge = ifTooLarge,
         origin](const ProcedureContext& context) {
            return launchRun(context, id, spec, parties, origin, ifTooLarge);
        });
}

std::string ResumeRequest::attempt() const {
    return resumeAttempt(run, checkpoint);
}

QFuture<Started> ResumeRequest::perform(LocalEngine& engine) const {
    LocalEngine::Parts& parts = engine.parts();
    const auto found = resumable(engine, run, attempt());
    if (!found)
        return refuse<Answer>(found.error());
    const auto parties = partiesOf(engine, *found, nodes);
    if (!parties)
        return refuse<Answer>(parties.error());
    for (const PlacedParty& party : *parties)
        if (parts.declaredLost.isEnding({run, party.node.name}))
            return ready<Answer>(
                failAs(attempt(), {ErrorCode::kUnavailable, say("engine.lost-node-is-ending",
                                                                {{"node", party.node.name}})}));
    RequestedCommand requested = requestedNow(checkpoint.isEmpty() ? "resume" : "restore", by);
    if (!checkpoint.isEmpty())
        requested.args.emplace_back("checkpoint", checkpoint.toStdString());
    return parts.launches.start(
        run, *parties,
        [found = *found, parties = *parties, which = checkpoint.toStdString(),
         ifTooLarge = ifTooLarge](const ProcedureContext& context) {
            return resumeRun(context, found, parties, which, ifTooLarge);
        },
        [&engine, run = run, requested](const Answer& answer) {
            noteResume(engine, run, requested, answer);
        });
}

std::string BranchRequest::attempt() const {
    return say("engine.branch", {{"run", parent.toStdString()}});
}

QFuture<Started> BranchRequest::perform(LocalEngine& engine) const {
    const auto found = engine.summary(parent);
    if (!found)
        return refuse<Answer>(found.error());
    const auto parties = partiesOf(engine, *found, nodes);
    if (!parties)
        return refuse<Answer>(parties.error());
    std::optional<CheckedSpec> checked;
    if (spec) {
        const auto own = check(*spec);
        if (!own)
            return refuse<Answer>(own.error());
        checked = *own;
    }
    const QString id = idFor(run, spec ? spec->name : found->name.toStdString());
    const BranchPointOf from{parent, checkpoint.toStdString(), checked};
    return engine.parts().launches.start(
        id, *parties,
        [id, from, parties = *parties, ifTooLarge = ifTooLarge](const ProcedureContext& context) {
            return branchRun(context, id, from, parties, ifTooLarge);
        });
}

std::string ResumePreflightRequest::attempt() const {
    return say("engine.look-at-resuming", {{"run", run.toStdString()}});
}

QFuture<Result<ResumePreflight>> ResumePreflightRequest::perform(LocalEngine& engine) const {
    const auto found = resumable(engine, run, resumeAttempt(run, checkpoint));
    if (!found)
        return refuse<Answer>(found.error());
    const auto parties = partiesOf(engine, *found, nodes);
    if (!parties)
        return refuse<Answer>(parties.error());
    return runOn(engine.parts().pool,
                 [found = *found, parties = *parties, which = checkpoint.toStdString(),
                  context = engine.closingContext()] {
                     return lookAtResume(context, found, parties, which);
                 });
}

std::string NodePreflightRequest::attempt() const {
    return say("engine.ask-node", {{"node", node.toStdString()}});
}

QFuture<Result<NodePreflight>> NodePreflightRequest::perform(LocalEngine& engine) const {
    const auto found = engine.find(node);
    if (!found)
        return refuse<Answer>(found.error());
    return askLauncher(engine, {spec, {{*found, 0}}, {}}, [](Launcher& launcher) {
        return launcher.preflight({.bytes = true}).map([](const Preflight& preflight) {
            return preflight.nodes.front();
        });
    });
}

std::string CheckLaunchRequest::attempt() const {
    return say("engine.check-launch");
}

QFuture<Result<std::vector<CheckRow>>> CheckLaunchRequest::perform(LocalEngine& engine) const {
    auto parties = engine.place(nodes);
    if (!parties)
        return refuse<Answer>(parties.error());
    Launcher::Request request{spec, std::move(*parties), {}};
    request.lastNetwork = lastNetwork(engine.parts().stateFolder);
    const auto ask = [spec = spec](Launcher& launcher) {
        return launcher.preflight({.folders = true, .sharing = true, .data = true, .bytes = true})
            .map([&](const Preflight& preflight) { return launchRows(spec, preflight); });
    };
    return askLauncher(engine, std::move(request), ask);
}

std::string BatchScriptRequest::attempt() const {
    return say("engine.show-script");
}

QFuture<Result<QString>> BatchScriptRequest::perform(LocalEngine& engine) const {
    auto parties = engine.place(nodes);
    if (!parties)
        return refuse<Answer>(parties.error());
    if (const auto checked = check(spec); !checked)
        return refuse<Answer>(checked.error());
    Launcher::Request request{spec, std::move(*parties), {}};
    request.attempt.runId = kRunIdInScript;
    request.purpose = say("engine.look-at-script");
    request.wantsWarnings = false;
    return askLauncher(
        engine, std::move(request), [attempt = attempt()](Launcher& launcher) -> Answer {
            RM_ASSIGN_OR_RETURN(const auto parts, launcher.check());
            const std::string script = launcher.batchScript();
            if (script.empty())
                return failAs(attempt, {ErrorCode::kInvalid,
                                        say("engine.no-script",
                                            {{"node", parts.front().node.toStdString()}})});
            return QString::fromStdString(script);
        });
}

} // namespace rm
