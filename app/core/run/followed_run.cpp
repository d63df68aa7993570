// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/followed_run.h"

#include "shared/board/board.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <utility>

namespace rm {

namespace {

/// Whether the command stays LiveState::pending after it was applied, until the ranks are gone.
bool lastsUntilTheEnd(CommandKind kind) {
    return kind == CommandKind::kPause || kind == CommandKind::kStop || kind == CommandKind::kKill;
}

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

} // namespace

FollowedRun::FollowedRun(const RunSummary& run, std::vector<Part> parts,
                         std::shared_ptr<WriterThread> writer, CredentialSource credentials,
                         QString database)
    : m_run(run.id)
    , m_parts(std::move(parts))
    , m_attempt(run.attempt)
    , m_lostNodes(run.lostNodes)
    , m_writer(std::move(writer))
    , m_credentials(std::move(credentials))
    , m_database(std::move(database))
    , m_nodeEnded(m_parts.size(), false) {
    for (const Part& part : m_parts) {
        LiveState::NodeLink link;
        link.node = part.name;
        link.link = part.node ? LiveState::Link::kConnecting : LiveState::Link::kLost;
        if (!part.node) {
            link.why = tr("it was removed from the list of nodes");
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
    for (auto& [node, promise] : m_declarations) {
        promise.addResult(
            Result<void>(fail(ErrorCode::kUnavailable, "Ringmaster stopped following the run")));
        promise.finish();
    }
    for (auto& [id, waiting] : m_inFlight)
        answer(waiting, unanswered(m_run, waiting.kind,
                                   "Ringmaster stopped following the run before it "
                                   "was known whether it took effect"));
}

void FollowedRun::start() {
    for (size_t i = 0; i < m_parts.size(); ++i) {
        const auto& [name, node] = m_parts[i];
        const bool wasLost =
            std::ranges::find(m_lostNodes, name, &LostNode::nodeName) != m_lostNodes.end();
        m_followers.push_back(
            node ? std::make_unique<NodeFollower>(
                       FollowTarget{*node, m_run, static_cast<int>(i), m_attempt, wasLost},
                       m_credentials, m_database, sinkFor(i))
                 : nullptr);
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

QFuture<Result<CommandState>> FollowedRun::send(Command command) {
    const bool isKill = command.kind == CommandKind::kKill;
    if (!isKill && (!m_followers.front() || m_nodeEnded.front()))
        return QtFuture::makeReadyFuture(
            unanswered(m_run, command.kind,
                       m_parts.front().name + ", the node of rank 0, " +
                           (m_nodeEnded.front() ? "has ended its ranks"
                                                : "was removed from the list of nodes") +
                           "; kill the run"));
    InFlight& inFlight = m_inFlight[command.id];
    inFlight.kind = command.kind;
    inFlight.promise.start();
    m_live.pending = command.kind;
    m_live.pendingSinceNs = monotonicNowNs();
    // Rank 0 alone has the others obey; but a kill is done by the agent of each node.
    const size_t nodes = isKill ? m_parts.size() : 1;
    for (size_t i = 0; i < nodes; ++i) {
        inFlight.awaited.insert(i);
        sendTo(i, command);
    }
    auto answer = inFlight.promise.future();
    settleKills();
    Q_EMIT liveChanged();
    return answer;
}

void FollowedRun::sendTo(size_t node, const Command& command) {
    if (m_followers[node])
        m_followers[node]->send(command);
}

void FollowedRun::onLink(size_t node, const LiveState::NodeLink& link) {
    if (m_nodeEnded[node])
        return;
    m_live.nodes[node] = link;
    m_live.held = allHeld(m_live);
    settleKills();
    settleDeclarations();
    Q_EMIT liveChanged();
}

void FollowedRun::onCommandState(size_t node, const CommandState& state) {
    const auto found = m_inFlight.find(state.id);
    if (found == m_inFlight.end() || state.progress == CommandProgress::kAccepted)
        return;
    if (found->second.kind == CommandKind::kKill) {
        const bool isDone = state.progress == CommandProgress::kApplied;
        found->second.awaited.erase(node);
        found->second.isDone = found->second.isDone || isDone;
        if (!isDone)
            found->second.refusal = m_parts[node].name + ": " + state.message;
        return settleKills();
    }
    InFlight inFlight = std::move(found->second);
    m_inFlight.erase(found);
    const bool over =
        state.progress == CommandProgress::kRefused || !lastsUntilTheEnd(inFlight.kind);
    if (over && m_live.pending == inFlight.kind)
        m_live.pending.reset();
    Q_EMIT liveChanged();
    answer(inFlight, state);
}

/// Answers the kills that all nodes have done which can be reached. The followers of the others
/// keep them.
void FollowedRun::settleKills() {
    if (std::ranges::count(m_nodeEnded, false) == 0)
        return; // finish() answers
    for (auto at = m_inFlight.begin(); at != m_inFlight.end();) {
        InFlight& inFlight = at->second;
        const bool isOver = inFlight.kind == CommandKind::kKill &&
                            std::ranges::all_of(inFlight.awaited, [this](size_t node) {
                                return m_nodeEnded[node] || isDown(m_live.nodes[node].link);
                            });
        if (!isOver) {
            ++at;
            continue;
        }
        const std::string others = unreachableNodes();
        const bool isAnyKilled = inFlight.isDone;
        const std::string refusal = inFlight.refusal;
        if (!isAnyKilled)
            m_live.pending.reset();
        auto [id, killed] = std::pair(at->first, std::move(inFlight));
        at = m_inFlight.erase(at);
        const std::string message =
            others.empty() ? "killed"
                           : "killed, but not on " + others +
                                 ", which cannot be reached: killed there once it can be; or "
                                 "declare it lost";
        answer(killed, isAnyKilled
                           ? Result<CommandState>({id, CommandProgress::kApplied, -1, message})
                       : !refusal.empty()
                           ? Result<CommandState>({id, CommandProgress::kRefused, -1, refusal})
                           : unanswered(m_run, CommandKind::kKill,
                                        "none of its nodes can be reached; it will be killed on "
                                        "those that can be again, or declare them lost"));
    }
}

std::string FollowedRun::unreachableNodes() const {
    std::string names;
    for (size_t i = 0; i < m_parts.size(); ++i)
        if (!m_nodeEnded[i] && isDown(m_live.nodes[i].link))
            names += (names.empty() ? "" : ", ") + m_parts[i].name;
    return names;
}

QFuture<Result<void>> FollowedRun::declareLost(const std::string& node) {
    const auto part = std::ranges::find(m_parts, node, &Part::name);
    if (part == m_parts.end())
        return QtFuture::makeReadyFuture(
            Result<void>(fail(ErrorCode::kInvalid, "the run has no such node")));
    auto& declared = m_declarations.emplace_back();
    declared.first = static_cast<size_t>(part - m_parts.begin());
    declared.second.start();
    auto answer = declared.second.future();
    settleDeclarations();
    return answer;
}

void FollowedRun::settleDeclarations() {
    auto declarations = std::exchange(m_declarations, {});
    for (auto& [node, promise] : declarations) {
        const LiveState::NodeLink& link = m_live.nodes[node];
        if (!m_nodeEnded[node] && link.link == LiveState::Link::kConnecting) {
            m_declarations.emplace_back(node, std::move(promise));
            continue;
        }
        const auto refused = [](const char* why) { return fail(ErrorCode::kInvalid, why); };
        if (m_nodeEnded[node])
            promise.addResult(Result<void>(refused("its ranks have ended")));
        else if (!isDown(link.link))
            promise.addResult(Result<void>(
                fail(ErrorCode::kInvalid,
                     "it can be reached, as it was heard of " +
                         std::to_string((wallNowNs() - link.heardNs) / 1'000'000'000) +
                         " s ago (a node is lost after 10 s); pause, stop or kill the run")));
        else
            promise.addResult(giveUp(node));
        promise.finish();
    }
}

/// Its ranks may live on, cut off from all others: the next attempt there ends them.
Result<void> FollowedRun::giveUp(size_t index) {
    const LiveState::NodeLink& link = m_live.nodes[index];
    const std::string& node = m_parts[index].name;
    const int64_t nowNs = wallNowNs();
    const std::string why = "declared lost: " + link.why.toStdString();
    IngestBatch batch;
    batch.run = m_run;
    batch.nodeIndex = static_cast<int>(index);
    batch.records = {Event{-1, -1, nowNs, Severity::kError, "node-declared-lost",
                           node + " was declared lost: " + link.why.toStdString()},
                     AttemptEnded{m_attempt, Outcome::kFailed, -1, 0, nowNs, why}};
    RM_RETURN_IF_ERROR(m_writer->call([&](StoreWriter& store) { return store.ingest(batch); }));
    if (m_followers[index])
        m_followers[index]->hangUp();
    const Command kill{
        "lost-" + std::to_string(index) + "-" + std::to_string(m_attempt), CommandKind::kKill, {}};
    for (size_t i = 0; i < m_parts.size(); ++i)
        if (i != index && !m_nodeEnded[i])
            sendTo(i, kill);
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
    if (!how && m_problem.isEmpty())
        m_problem = QString::fromStdString(how.error().message);
    m_lost = m_lost || (!how && how.error().code == ErrorCode::kNotFound);
    if (std::all_of(m_nodeEnded.begin(), m_nodeEnded.end(), [](bool ended) { return ended; }))
        finish();
}

void FollowedRun::finish() {
    // A receiver of ended() may destroy this object, so the pending answers are moved out of it
    // first.
    auto inFlight = std::move(m_inFlight);
    m_inFlight.clear();
    m_live.pending.reset();
    const auto stored = inFlight.empty() ? std::map<std::string, CommandState>() : storedAnswers();
    const QString run = m_run;
    const std::string why =
        m_problem.isEmpty() ? "the run ended before it took effect" : m_problem.toStdString();
    Q_EMIT ended(m_problem, m_lost);
    for (auto& [id, waiting] : inFlight) {
        const auto found = stored.find(id);
        answer(waiting, found != stored.end() ? Result<CommandState>(found->second)
                                              : unanswered(run, waiting.kind, why));
    }
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

void FollowedRun::answer(InFlight& inFlight, Result<CommandState> with) {
    inFlight.promise.addResult(std::move(with));
    inFlight.promise.finish();
}

Result<CommandState> FollowedRun::unanswered(const QString& run, CommandKind kind,
                                             const std::string& why) {
    return fail(ErrorCode::kUnavailable,
                std::string(commandKindName(kind)) + " " + run.toStdString() + ": " + why);
}

} // namespace rm
