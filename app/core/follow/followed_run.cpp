// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/follow/followed_run.h"

#include "app/core/findings/text.h"
#include "app/core/runs/standstill.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/board/board.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <utility>

namespace rm {

namespace {

using namespace std::chrono_literals;

constexpr auto kLookForOld = 5s;
constexpr auto kLeftBehind = 15s; ///< for the other nodes, once that of rank 0 has ended

bool allHeld(const LiveState& live) {
    bool any = false;
    for (const LiveState::NodeLink& node : live.nodes) {
        if (!node.state)
            return false;
        for (const RankState& rank : node.state->ranks) {
            any = true;
            if (static_cast<Phase>(rank.phase) != Phase::kHeld || rank.pid == 0)
                return false;
        }
    }
    return any;
}

/// What was attempted, for an error.
std::string attemptAt(CommandKind kind, const QString& run) {
    return say("run.command", {{"command", commandKindName(kind)}, {"run", run.toStdString()}});
}

} // namespace

FollowedRun::FollowedRun(const RunSummary& run, std::vector<Part> parts,
                         std::shared_ptr<WriterThread> writer, std::shared_ptr<HostPool> hosts,
                         QString database, bool wasStarted)
    : m_run(run.id)
    , m_parts(std::move(parts))
    , m_attempt(run.attempt)
    , m_isOver(hasEnded(run.state) && !run.isPresumed)
    , m_isPresumed(run.isPresumed)
    , m_wasStarted(wasStarted)
    , m_lostNodes(run.lostNodes)
    , m_writer(std::move(writer))
    , m_hosts(std::move(hosts))
    , m_database(std::move(database))
    , m_nodeEnded(m_parts.size(), false) {
    m_clock.setInterval(kLookForOld);
    connect(&m_clock, &QTimer::timeout, this, &FollowedRun::dropOld);
    for (const Part& part : m_parts) {
        LiveState::NodeLink link;
        link.node = part.name;
        link.link = part.node ? LiveState::Link::kConnecting : LiveState::Link::kLost;
        if (!part.node) {
            link.why = QString::fromStdString(part.whyUnknown);
            link.lostSinceNs = wallNowNs();
        }
        m_live.nodes.push_back(std::move(link));
    }
}

void FollowedRun::hangUp() {
    for (const auto& follower : m_followers)
        if (follower)
            follower->hangUp();
}

FollowedRun::~FollowedRun() {
    hangUp();
    m_followers.clear();
    for (Declaration& declaration : m_declarations) {
        declaration.answer.addResult(
            Result<void>(fail(ErrorCode::kUnavailable, say("run.not-followed"))));
        declaration.answer.finish();
    }
    for (auto& [id, waiting] : m_inFlight)
        answer(waiting, unanswered(m_run, waiting.command.kind, say("run.effect-unknown")));
}

void FollowedRun::start() {
    for (size_t i = 0; i < m_parts.size(); ++i) {
        const auto& [name, node, whyUnknown] = m_parts[i];
        const auto lost = std::ranges::find(m_lostNodes, name, &LostNode::nodeName);
        if (!node) {
            m_followers.push_back(nullptr);
            continue;
        }
        FollowTarget target{*node, m_run, static_cast<int>(i), m_attempt};
        if (lost != m_lostNodes.end())
            target.loss = *lost;
        target.mayCopy = m_parts.size() > 1;
        target.looksAgain = m_isPresumed;
        target.wasStarted = m_wasStarted;
        if (m_isOver)
            target.missingFor = std::chrono::seconds(0);
        m_followers.push_back(std::make_unique<NodeFollower>(
            std::move(target), m_hosts->login(*node), m_database, sinkFor(i)));
    }
}

NodeFollower::Sink FollowedRun::sinkFor(size_t node) {
    NodeFollower::Sink sink;
    if (m_writer)
        sink.commit = [this, writer = m_writer](IngestBatch batch) -> Result<void> {
            auto done = writer->call([&](StoreWriter& store) { return store.ingest(batch); });
            if (done)
                QMetaObject::invokeMethod(this, [this] { Q_EMIT committed(); });
            return done;
        };
    sink.linkChanged = [this, node](const LiveState::NodeLink& link) {
        QMetaObject::invokeMethod(this, [=, this] { onLink(node, link); });
    };
    sink.loginRefused =
        [this, name = QString::fromStdString(m_parts[node].name)](ConnectFailure::Need need) {
            if (need != ConnectFailure::Need::kNothing)
                QMetaObject::invokeMethod(this, [this, name] { Q_EMIT loginRefused(name); });
        };
    sink.commandState = [this, node](const CommandState& state) {
        QMetaObject::invokeMethod(this, [=, this] { onCommandState(node, state); });
    };
    sink.ended = [this, node](const Result<void>& how) {
        QMetaObject::invokeMethod(this, [=, this] { onNodeEnded(node, how); });
    };
    return sink;
}

void FollowedRun::retry(const std::string& node) {
    for (size_t i = 0; i < m_parts.size(); ++i) {
        if (m_parts[i].name != node || !m_followers[i])
            continue;
        m_followers[i]->retry();
        if (m_live.nodes[i].link == LiveState::Link::kRefused)
            m_live.nodes[i].link = LiveState::Link::kConnecting;
        Q_EMIT liveChanged();
    }
}

/// Why nobody could take a command. Empty: rank 0's node can, or will.
std::string FollowedRun::whyNotSent(CommandKind kind) const {
    if (kind == CommandKind::kKill || (m_followers.front() && !m_nodeEnded.front()))
        return {};
    const Part& lead = m_parts.front();
    const Value node{"node", lead.name};
    return m_nodeEnded.front() ? say("run.lead-has-ended", {node})
                               : say("run.lead-unreachable", {node, {"why", lead.whyUnknown}});
}

QFuture<Result<CommandState>> FollowedRun::send(const Command& command, int64_t requestedNs) {
    const std::string why = whyNotSent(command.kind);
    if (!why.empty()) {
        Q_EMIT commandChanged(command.kind, {command.id, CommandProgress::kRefused, -1, why},
                              RequestedState::kLapsed);
        return QtFuture::makeReadyFuture(unanswered(m_run, command.kind, why));
    }
    if (!m_inFlight.contains(command.id)) {
        if (const std::string full = whyNotNow(m_live, command.kind); !full.empty()) {
            Q_EMIT commandChanged(command.kind, {command.id, CommandProgress::kRefused, -1, full},
                                  RequestedState::kRefused);
            return QtFuture::makeReadyFuture(Result<CommandState>(
                failAs(attemptAt(command.kind, m_run), {ErrorCode::kExhausted, full})));
        }
        begin({command, requestedNs});
    }
    auto& requester = m_inFlight.at(command.id).requesters.emplace_back();
    requester.start();
    auto answer = requester.future();
    settleKills();
    Q_EMIT liveChanged();
    return answer;
}

void FollowedRun::restore(const RequestedCommand& requested) {
    const auto kind = commandKindNamed(requested.kind);
    if (!kind || m_inFlight.contains(requested.id))
        return;
    InFlight inFlight{{requested.id, *kind, requested.args}, requested.requestedNs};
    inFlight.isAccepted = requested.state == RequestedState::kAccepted;
    inFlight.isDone = inFlight.isAccepted && *kind == CommandKind::kKill;
    begin(std::move(inFlight));
    dropOld();
}

std::vector<FollowedRun::InFlight> FollowedRun::takeInFlight() {
    std::vector<InFlight> commands;
    for (auto& [id, inFlight] : std::exchange(m_inFlight, {}))
        commands.push_back(std::move(inFlight));
    return commands;
}

void FollowedRun::goOnWith(std::vector<InFlight> commands) {
    for (InFlight& inFlight : commands) {
        const std::string id = inFlight.command.id;
        auto requesters = std::exchange(inFlight.requesters, {});
        if (!m_inFlight.contains(id))
            begin(std::move(inFlight));
        std::ranges::move(requesters, std::back_inserter(m_inFlight.at(id).requesters));
    }
    settleKills();
}

void FollowedRun::begin(InFlight inFlight) {
    // Rank 0 alone has the others obey; but a kill is done by the agent of each node.
    const size_t nodes = inFlight.command.kind == CommandKind::kKill ? m_parts.size() : 1;
    inFlight.awaited.clear();
    for (size_t i = 0; i < nodes; ++i) {
        inFlight.awaited.insert(i);
        sendTo(i, inFlight);
    }
    m_live.pending = inFlight.command.kind;
    m_live.pendingSinceNs =
        monotonicNowNs() - std::max<int64_t>(0, wallNowNs() - inFlight.requestedNs);
    m_inFlight.insert_or_assign(inFlight.command.id, std::move(inFlight));
    m_clock.start();
}

void FollowedRun::sendTo(size_t node, const InFlight& inFlight) {
    constexpr int64_t kForGood = std::numeric_limits<int64_t>::max();
    if (m_followers[node])
        m_followers[node]->send(inFlight.command,
                                inFlight.isDone ? kForGood : inFlight.requestedNs + kCommandKeptNs);
}

/// Drops commands that no node has accepted in time.
void FollowedRun::dropOld() {
    std::vector<std::string> old;
    for (const auto& [id, inFlight] : m_inFlight)
        if (!inFlight.isAccepted && inFlight.requestedNs + kCommandKeptNs < wallNowNs())
            old.push_back(id);
    for (const std::string& id : old)
        takeBack(id, RequestedState::kLapsed, say("run.waited-too-long"));
    if (m_inFlight.empty())
        m_clock.stop();
}

Result<QString> FollowedRun::withdraw(const std::string& id) {
    const auto found = m_inFlight.find(id);
    if (found == m_inFlight.end())
        return fail(ErrorCode::kInvalid, say("run.answered-already"));
    const InFlight& inFlight = found->second;
    if (inFlight.isDone)
        return fail(ErrorCode::kInvalid, say("run.done-on-a-node"));
    if (inFlight.isAccepted)
        return fail(ErrorCode::kInvalid,
                    say("run.accepted-already", {{"node", m_parts.front().name}}));
    for (const size_t node : inFlight.awaited)
        if (!m_nodeEnded[node] && m_live.nodes[node].link == LiveState::Link::kLive)
            return fail(ErrorCode::kInvalid,
                        say("run.sent-already", {{"node", m_parts[node].name}}));
    return takeBack(id, RequestedState::kWithdrawn, say("run.withdrawn-in-time"));
}

/// Takes a command back, and returns what is left to know of it.
QString FollowedRun::takeBack(const std::string& id, RequestedState as, const std::string& why) {
    auto inFlight = std::move(m_inFlight.extract(id).mapped());
    std::string nodes, rest, words = why;
    for (const size_t node : inFlight.awaited)
        if (m_followers[node] && m_followers[node]->takeBack(id))
            append(nodes, m_parts[node].name, ", ");
    if (!nodes.empty()) {
        rest = say("run.perhaps-sent", {{"nodes", nodes}});
        append(words, rest);
    }
    if (m_live.pending == inFlight.command.kind)
        m_live.pending.reset();
    const CommandKind kind = inFlight.command.kind;
    Q_EMIT commandChanged(kind, {id, CommandProgress::kRefused, -1, words}, as);
    Q_EMIT liveChanged();
    answer(inFlight, unanswered(m_run, kind, words));
    return QString::fromStdString(rest);
}

void FollowedRun::onLink(size_t node, const LiveState::NodeLink& link) {
    if (m_nodeEnded[node])
        return;
    m_live.nodes[node] = link;
    m_live.held = allHeld(m_live);
    if (node == 0 && link.state && link.state->waitsFor != m_waitsFor) {
        m_waitsFor = link.state->waitsFor;
        if (!m_waitsFor.empty())
            Q_EMIT queued(QString::fromStdString(m_waitsFor));
    }
    if (m_isPresumed && link.state && livesOn(*link.state)) {
        m_isPresumed = false;
        Q_EMIT revived();
    }
    settleKills();
    settleDeclarations();
    settleMissing();
    Q_EMIT liveChanged();
}

void FollowedRun::onCommandState(size_t node, const CommandState& state) {
    const auto found = m_inFlight.find(state.id);
    if (found == m_inFlight.end())
        return;
    const CommandKind kind = found->second.command.kind;
    if (kind == CommandKind::kKill)
        return onKillState(node, found->second, state);
    if (state.progress == CommandProgress::kAccepted) {
        if (!std::exchange(found->second.isAccepted, true))
            Q_EMIT commandChanged(kind, state, RequestedState::kAccepted);
        return;
    }
    InFlight inFlight = std::move(found->second);
    m_inFlight.erase(found);
    const bool isRefused = state.progress == CommandProgress::kRefused;
    if ((isRefused || !rowOf(kind).endsAttempt) && m_live.pending == kind)
        m_live.pending.reset();
    CommandState reported = state;
    if (isRefused) // by what is on that node, such as its disk
        reported.message =
            say("run.reported-at", {{"place", m_parts[node].name}, {"what", state.message}});
    Q_EMIT commandChanged(kind, reported,
                          isRefused ? RequestedState::kRefused : RequestedState::kApplied);
    Q_EMIT liveChanged();
    answer(inFlight, reported);
}

void FollowedRun::onKillState(size_t node, InFlight& inFlight, const CommandState& state) {
    if (state.progress == CommandProgress::kAccepted)
        return;
    inFlight.awaited.erase(node);
    if (state.progress == CommandProgress::kRefused) {
        inFlight.refusal =
            say("run.reported-at", {{"place", m_parts[node].name}, {"what", state.message}});
    } else if (!std::exchange(inFlight.isDone, true)) {
        inFlight.isAccepted = true;
        Q_EMIT commandChanged(CommandKind::kKill, state, RequestedState::kAccepted);
        for (const size_t other : inFlight.awaited)
            sendTo(other, inFlight); // however long it cannot be reached
    }
    settleKills();
}

Result<CommandState> FollowedRun::answerOfKill(const InFlight& inFlight) const {
    const std::string& id = inFlight.command.id;
    const std::string others = unreachableNodes();
    if (inFlight.isDone)
        return CommandState{id, CommandProgress::kApplied, -1,
                            others.empty() ? say("run.killed")
                                           : say("run.killed-but-on", {{"nodes", others}})};
    if (!inFlight.refusal.empty())
        return CommandState{id, CommandProgress::kRefused, -1, inFlight.refusal};
    std::string why;
    for (size_t i = 0; i < m_parts.size(); ++i)
        if (!m_nodeEnded[i] && isDown(m_live.nodes[i].link))
            append(why,
                   say("run.node-unreachable-as",
                       {{"node", m_parts[i].name}, {"why", m_live.nodes[i].why.toStdString()}}));
    return unanswered(m_run, CommandKind::kKill, say("run.not-killed", {{"why", why}}));
}

/// Answers the kills that all nodes have done which can be reached. The followers of the other
/// nodes keep them.
void FollowedRun::settleKills() {
    if (std::ranges::count(m_nodeEnded, false) == 0)
        return; // finish() answers
    std::vector<std::pair<InFlight, Result<CommandState>>> answered;
    for (auto at = m_inFlight.begin(); at != m_inFlight.end();) {
        InFlight& inFlight = at->second;
        const bool isOver =
            std::ranges::all_of(inFlight.awaited, [this](size_t i) { return m_nodeEnded[i]; });
        const bool isReported = isOver || std::ranges::all_of(inFlight.awaited, [this](size_t i) {
                                    return m_nodeEnded[i] || isDown(m_live.nodes[i].link);
                                });
        if (inFlight.command.kind != CommandKind::kKill || !isReported ||
            (!isOver && inFlight.requesters.empty())) {
            ++at;
            continue;
        }
        const auto result = answerOfKill(inFlight);
        if (!inFlight.isDone)
            m_live.pending.reset();
        if (isOver) {
            noteEnd(inFlight, result);
            answered.emplace_back(std::move(inFlight), result);
            at = m_inFlight.erase(at);
        } else {
            InFlight reported{inFlight.command, inFlight.requestedNs};
            reported.requesters = std::exchange(inFlight.requesters, {});
            answered.emplace_back(std::move(reported), result);
            ++at;
        }
    }
    for (auto& [inFlight, result] : answered)
        answer(inFlight, result);
}

/// Has it stored what became of a command that ends here.
void FollowedRun::noteEnd(const InFlight& inFlight, const Result<CommandState>& how) {
    const CommandKind kind = inFlight.command.kind;
    if (how)
        Q_EMIT commandChanged(kind, *how,
                              how->progress == CommandProgress::kApplied
                                  ? RequestedState::kApplied
                                  : RequestedState::kRefused);
    else
        Q_EMIT commandChanged(
            kind,
            {inFlight.command.id, CommandProgress::kRefused, -1, say("run.ranks-ended-before")},
            RequestedState::kLapsed);
}

std::string FollowedRun::unreachableNodes() const {
    std::string names;
    for (size_t i = 0; i < m_parts.size(); ++i)
        if (!m_nodeEnded[i] && isDown(m_live.nodes[i].link))
            append(names, m_parts[i].name, ", ");
    return names;
}

QFuture<Result<void>> FollowedRun::declareLost(const std::string& node, const Requester& by) {
    const auto part = std::ranges::find(m_parts, node, &Part::name);
    if (part == m_parts.end())
        return QtFuture::makeReadyFuture(
            Result<void>(fail(ErrorCode::kInvalid, say("run.no-such-node"))));
    Declaration& declared = m_declarations.emplace_back();
    declared.node = static_cast<size_t>(part - m_parts.begin());
    declared.by = by;
    declared.answer.start();
    auto answer = declared.answer.future();
    settleDeclarations();
    return answer;
}

void FollowedRun::settleDeclarations() {
    auto declarations = std::exchange(m_declarations, {});
    for (auto& [node, by, promise] : declarations) {
        const LiveState::NodeLink& link = m_live.nodes[node];
        if (!m_nodeEnded[node] && link.link == LiveState::Link::kConnecting) {
            m_declarations.push_back({node, std::move(by), std::move(promise)});
            continue;
        }
        if (m_nodeEnded[node])
            promise.addResult(Result<void>(fail(ErrorCode::kInvalid, say("run.ranks-have-ended"))));
        else if (!isDown(link.link))
            promise.addResult(Result<void>(fail(
                ErrorCode::kInvalid,
                say("run.node-not-lost",
                    {{"seconds", std::to_string((wallNowNs() - link.heardNs) / 1'000'000'000)}}))));
        else
            promise.addResult(declareNodeLost(node, by));
        promise.finish();
    }
}

/// Parts that are missing end what is followed when nothing else is to be heard of it.
void FollowedRun::settleMissing() {
    bool isLast = true;
    for (size_t i = 0; i < m_parts.size(); ++i)
        isLast = isLast && (m_nodeEnded[i] || !m_followers[i] ||
                            m_live.nodes[i].link == LiveState::Link::kMissing);
    for (const auto& follower : m_followers)
        if (follower)
            follower->believeMissing(isLast);
}

/// The newest attempt that is known: the agents may have begun others since.
int FollowedRun::newestAttempt() const {
    const auto reader = StoreReader::open(m_database);
    const auto run = reader ? (*reader)->run(m_run) : std::nullopt;
    return run ? std::max(m_attempt, run->attempt) : m_attempt;
}

/// Declares the node lost. Its ranks may live on, cut off, until somebody can reach it and ends
/// them. The others are killed as by a person's command that was begun, so that the next engine
/// knows what to kill on nodes that cannot be reached now.
Result<void> FollowedRun::declareNodeLost(size_t index, const Requester& by) {
    const LiveState::NodeLink& link = m_live.nodes[index];
    const std::string& node = m_parts[index].name;
    const int64_t nowNs = wallNowNs();
    const Value why{"why", link.why.toStdString()};
    IngestBatch batch;
    batch.run = m_run;
    batch.nodeIndex = static_cast<int>(index);
    const int attempt = newestAttempt();
    batch.records = {Event{-1, -1, nowNs, Severity::kError, "node-declared-lost",
                           say("run.node-declared-lost", {{"node", node}, why})},
                     AttemptEnded{attempt, Outcome::kFailed, -1, 0, nowNs,
                                  say("run.declared-lost", {why}), false}};
    InFlight kill{
        {"lost-" + std::to_string(index) + "-" + std::to_string(attempt), CommandKind::kKill, {}},
        nowNs};
    kill.isAccepted = kill.isDone = true;
    const RequestedCommand requested{.id = kill.command.id,
                                     .kind = commandKindName(CommandKind::kKill),
                                     .by = by,
                                     .requestedNs = nowNs,
                                     .state = RequestedState::kAccepted};
    RM_RETURN_IF_ERROR(m_writer->call([&](StoreWriter& store) {
        return store.setDeclaredLost({m_run, node})
            .and_then([&] { return store.addCommand(m_run, requested); })
            .and_then([&](const RequestedCommand&) { return store.ingest(batch); });
    }));
    if (m_followers[index])
        m_followers[index]->hangUp();
    begin(std::move(kill));
    Q_EMIT committed();
    // Later, as a receiver of ended() may destroy this object.
    QMetaObject::invokeMethod(
        this, [this, index] { onNodeEnded(index, {}); }, Qt::QueuedConnection);
    return {};
}

void FollowedRun::onNodeEnded(size_t node, const Result<void>& how) {
    if (m_nodeEnded[node])
        return;
    m_nodeEnded[node] = true;
    settleKills();
    settleDeclarations();
    settleMissing();
    if (!how && m_problem.isEmpty())
        m_problem = QString::fromStdString(how.error().message);
    m_lost = m_lost || (!how && how.error().code == ErrorCode::kNotFound);
    if (node == 0 && how)
        QTimer::singleShot(kLeftBehind, this, &FollowedRun::endLeftBehind);
    if (std::all_of(m_nodeEnded.begin(), m_nodeEnded.end(), [](bool ended) { return ended; }))
        finish();
}

/// Ends agents that wait, without ranks, for another attempt, as they have not heard that there is
/// none: they hang, or were cut off. An `attach` there replaces an agent that hangs.
void FollowedRun::endLeftBehind() {
    const auto& lead = m_live.nodes.front().state;
    const bool isPaused = lead && static_cast<Outcome>(lead->outcome) == Outcome::kPaused;
    for (size_t i = 1; i < m_parts.size(); ++i) {
        const LiveState::NodeLink& link = m_live.nodes[i];
        const bool waits =
            !m_nodeEnded[i] && link.state && link.state->supervised &&
            std::ranges::all_of(link.state->ranks, [](const RankState& r) { return r.pid == 0; });
        if (!waits)
            continue;
        InFlight over{{"over-" + std::to_string(i) + "-" + std::to_string(link.state->attempt),
                       isPaused ? CommandKind::kPause : CommandKind::kStop,
                       {}}};
        over.isDone = true;
        sendTo(i, over);
    }
}

void FollowedRun::finish() {
    // A receiver of ended() may destroy this object, so the pending answers are moved out of it
    // first.
    auto inFlight = std::exchange(m_inFlight, {});
    m_live.pending.reset();
    const auto stored = inFlight.empty() ? std::map<std::string, CommandState>() : storedAnswers();
    const std::string why = m_problem.isEmpty() ? say("run.ended-before") : m_problem.toStdString();
    std::vector<std::pair<InFlight, Result<CommandState>>> answered;
    for (auto& [id, waiting] : inFlight) {
        const auto found = stored.find(id);
        Result<CommandState> how = unanswered(m_run, waiting.command.kind, why);
        if (found != stored.end())
            how = found->second;
        else if (waiting.isDone)
            how = CommandState{id, CommandProgress::kApplied, -1, say("run.killed")};
        if (how)
            noteEnd(waiting, how); // the engine notes of the others that the run has ended
        answered.emplace_back(std::move(waiting), std::move(how));
    }
    Q_EMIT ended(m_problem, m_lost);
    for (auto& [waiting, how] : answered)
        answer(waiting, how);
}

// The link may have been lost before the result of a command arrived; the journal has recorded it.
std::map<std::string, CommandState> FollowedRun::storedAnswers() const {
    const auto reader = StoreReader::open(m_database);
    if (!reader)
        return {};
    std::map<std::string, CommandState> answers;
    for (const StoredCommand& command : (*reader)->commands(m_run)) {
        const CommandApplied& applied = command.applied;
        answers[applied.id] = {applied.id,
                               applied.ok ? CommandProgress::kApplied : CommandProgress::kRefused,
                               applied.step, applied.message};
    }
    return answers;
}

void FollowedRun::answer(InFlight& inFlight, const Result<CommandState>& with) {
    for (auto& requester : inFlight.requesters) {
        requester.addResult(with);
        requester.finish();
    }
}

Result<CommandState> FollowedRun::unanswered(const QString& run, CommandKind kind,
                                             const std::string& why) {
    return failAs(attemptAt(kind, run), {ErrorCode::kUnavailable, why});
}

} // namespace rm
