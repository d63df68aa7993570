// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/followed_run.h"

#include "shared/board/board.h"
#include "shared/io/clock.h"

#include <algorithm>

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

FollowedRun::FollowedRun(const RunSummary& run, std::vector<Node> nodes,
                         std::shared_ptr<WriterThread> writer, CredentialSource credentials,
                         QString database)
    : m_run(run.id)
    , m_nodes(std::move(nodes))
    , m_attempt(run.attempt)
    , m_lostNodes(run.lostNodes)
    , m_writer(std::move(writer))
    , m_credentials(std::move(credentials))
    , m_database(std::move(database))
    , m_nodeEnded(m_nodes.size(), false) {
    for (const Node& node : m_nodes) {
        LiveState::NodeLink link;
        link.node = node.name;
        link.link = LiveState::Link::kConnecting;
        m_live.nodes.push_back(std::move(link));
    }
}

void FollowedRun::hangUp() {
    for (const auto& follower : m_followers)
        follower->hangUp();
}

FollowedRun::~FollowedRun() {
    hangUp();
    m_followers.clear();
    for (auto& [id, waiting] : m_inFlight)
        answer(waiting, unanswered(m_run, waiting.kind,
                                   "Ringmaster stopped following the run before it "
                                   "was known whether it took effect"));
}

void FollowedRun::start() {
    for (size_t i = 0; i < m_nodes.size(); ++i) {
        const bool wasLost = std::ranges::find(m_lostNodes, m_nodes[i].name, &LostNode::nodeName) !=
                             m_lostNodes.end();
        m_followers.push_back(std::make_unique<NodeFollower>(
            FollowTarget{m_nodes[i], m_run, static_cast<int>(i), m_attempt, wasLost}, m_credentials,
            m_database, sinkFor(i)));
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
        [this, name = QString::fromStdString(m_nodes[node].name)](ConnectFailure::Need need) {
            if (need != ConnectFailure::Need::kNothing)
                QMetaObject::invokeMethod(this, [this, name] { Q_EMIT loginRefused(name); });
        };
    sink.commandState = [this](const CommandState& state) {
        QMetaObject::invokeMethod(this, [=, this] { onCommandState(state); });
    };
    sink.ended = [this, node](const Result<void>& how) {
        QMetaObject::invokeMethod(this, [=, this] { onNodeEnded(node, how); });
    };
    return sink;
}

void FollowedRun::retry(const std::string& node) {
    for (size_t i = 0; i < m_nodes.size(); ++i) {
        if (m_nodes[i].name != node)
            continue;
        m_followers[i]->retry();
        if (m_live.nodes[i].link == LiveState::Link::kRefused)
            m_live.nodes[i].link = LiveState::Link::kConnecting;
        Q_EMIT liveChanged();
    }
}

QFuture<Result<CommandState>> FollowedRun::send(Command command) {
    InFlight& inFlight = m_inFlight[command.id];
    inFlight.kind = command.kind;
    inFlight.promise.start();
    m_live.pending = command.kind;
    m_live.pendingSinceNs = monotonicNowNs();
    if (command.kind == CommandKind::kKill)
        for (size_t i = 1; i < m_followers.size(); ++i)
            m_followers[i]->send(command);
    auto answer = inFlight.promise.future();
    m_followers.front()->send(std::move(command));
    Q_EMIT liveChanged();
    return answer;
}

void FollowedRun::onLink(size_t node, const LiveState::NodeLink& link) {
    if (m_nodeEnded[node])
        return;
    m_live.nodes[node] = link;
    m_live.held = allHeld(m_live);
    Q_EMIT liveChanged();
}

void FollowedRun::onCommandState(const CommandState& state) {
    const auto found = m_inFlight.find(state.id);
    if (found == m_inFlight.end() || state.progress == CommandProgress::kAccepted)
        return;
    InFlight inFlight = std::move(found->second);
    m_inFlight.erase(found);
    const bool over =
        state.progress == CommandProgress::kRefused || !lastsUntilTheEnd(inFlight.kind);
    if (over && m_live.pending == inFlight.kind)
        m_live.pending.reset();
    Q_EMIT liveChanged();
    answer(inFlight, state);
}

void FollowedRun::onNodeEnded(size_t node, const Result<void>& how) {
    m_nodeEnded[node] = true;
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
