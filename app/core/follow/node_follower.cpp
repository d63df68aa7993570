// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/follow/node_follower.h"

#include "app/core/findings/text.h"
#include "app/core/follow/attach_stream.h"
#include "app/core/follow/orphan_watch.h"
#include "app/core/ingest/node_ingest.h"
#include "app/core/remote/back_off.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <algorithm>

namespace rm {

namespace {

using namespace std::chrono_literals;
using Clock = AttachStream::Clock;

constexpr auto kReadTimeout = 250ms;
constexpr auto kExitTimeout = 2000ms;
constexpr ConnectPatience kNoPatience{0ms, 0ms}; ///< as it comes again by itself
constexpr auto kGather = 20ms; ///< bytes that arrive within this time share a transaction
constexpr size_t kGatherBytes = 4u << 20;
constexpr auto kLongestPause = 10000ms;
constexpr auto kLastCopy = 5000ms;
constexpr int64_t kBriefLossNs = 3'000'000'000;

} // namespace

/// One connection from attach to its loss or the end of the attempt. The follower's thread.
class NodeFollower::Connection {
public:
    explicit Connection(NodeFollower& owner)
        : m_owner(owner) {}

    /// True: the attempt has ended here and all is ingested.
    Result<bool> run(std::stop_token stop);

private:
    Result<bool> follow(std::stop_token stop);
    Result<void> open(std::stop_token stop);
    Result<std::vector<FileCursor>> readCursors();
    Result<bool> readOnce();
    Result<void> sendDue();
    Result<void> commit();
    void hearAnswers(std::stop_token stop);
    tl::unexpected<Error> verdict(const Error& error);
    tl::unexpected<Error> whyClosed();
    void onRunState(const RunState& state);
    bool mayStillCopy() const;

    NodeFollower& m_owner;
    NodeLogin::Shared m_session;
    std::unique_ptr<HostProcess> m_process;
    std::optional<NodeIngest> m_ingest;
    std::optional<AttachStream> m_stream;
    std::optional<RunState> m_end; ///< which the agent sends after the last slice
    Clock::time_point m_endedAt;
    OrphanWatch m_orphans;
};

Result<std::vector<FileCursor>> NodeFollower::Connection::readCursors() {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(m_owner.m_database));
    const FollowTarget& target = m_owner.m_target;
    const auto stored = reader->cursors(target.run, target.nodeIndex);
    auto ranges = reader->rankRanges(target.run, target.nodeIndex, target.node.name);
    if (const auto failure = reader->failure())
        return tl::unexpected(*failure);
    m_owner.m_wasThere = m_owner.m_wasThere || target.wasStarted || !stored.empty();
    if (m_owner.m_sink.commit)
        m_ingest.emplace(target.run, target.nodeIndex, std::move(ranges), stored, target.node.name);
    return cursorsToSend(stored);
}

Result<void> NodeFollower::Connection::open(std::stop_token stop) {
    if (auto session = m_owner.m_login->get(m_session, stop, kNoPatience); !session) {
        if (session.error().isRefusal()) {
            m_owner.m_refused = session.error().need;
            m_owner.m_isOtherKey = session.error().cause == ConnectFailure::Cause::kHostKey;
        }
        return tl::unexpected(std::move(session.error().error));
    }
    auto cursors = readCursors();
    if (!cursors) {
        m_owner.m_isFinal = cursors.error().code == ErrorCode::kCorrupt;
        m_owner.m_isUnstored = m_owner.m_failedToStore = true;
        return tl::unexpected(cursors.error());
    }
    const std::string run = m_owner.m_target.run.toStdString();
    RM_ASSIGN_OR_RETURN(
        auto process,
        m_session->session->start(
            m_session->agent, {"attach", run, std::to_string(m_owner.m_target.nodeIndex)}, stop));
    m_process = std::move(process);
    AttachStream::Handlers handlers;
    handlers.slice = [this](const Slice& slice) {
        return m_ingest ? m_ingest->onSlice(slice) : Result<void>{};
    };
    handlers.runState = [this](const RunState& state) { onRunState(state); };
    handlers.commandState = [this](const CommandState& state) { m_owner.onAnswer(state); };
    m_stream.emplace(run, std::move(*cursors), std::move(handlers), Clock::now());
    // In one write: if the run has ended, the agent would otherwise report that before it reads
    // them.
    auto bytes = m_stream->opening();
    for (const Command& command : m_owner.takeDue(true)) {
        const auto more = frameMessage(command);
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    const auto written = m_process->write(bytes);
    // An agent that refuses ends at once: its words say why.
    if (!written)
        if (const auto read = readOnce(); !read)
            return tl::unexpected(read.error());
    return written;
}

/// Decides what an answer of the node means: that its ranks are gone is final, that it has nothing
/// is not where something was.
tl::unexpected<Error> NodeFollower::Connection::verdict(const Error& error) {
    const bool isKnown = m_owner.m_link.state && m_owner.m_link.state->attempt > 0;
    const bool areGone = m_orphans.isLost(Clock::now()) && (isKnown || !m_owner.m_wasThere);
    const bool isNotFound = error.code == ErrorCode::kNotFound;
    m_owner.m_isFinal =
        error.code == ErrorCode::kTooNew || (isNotFound && (!m_owner.m_wasThere || areGone));
    m_owner.m_saidMissing = isNotFound && !m_owner.m_isFinal;
    return tl::unexpected<Error>(error);
}

tl::unexpected<Error> NodeFollower::Connection::whyClosed() {
    const std::string attempt = say("run.attach-on", {{"node", m_owner.m_target.node.name}});
    if (const auto end = checkEnd(*m_process, attempt, kExitTimeout); !end)
        return verdict(end.error());
    return failAs(attempt, {ErrorCode::kUnavailable, say("run.stream-ended")});
}

void NodeFollower::Connection::onRunState(const RunState& state) {
    const bool ended = state.ended && state.attempt >= m_owner.m_target.attempt;
    if (ended && !m_end) {
        m_end = state;
        m_endedAt = Clock::now();
    }
    m_orphans.onState(state, Clock::now());
    m_owner.m_link.state = state;
    m_owner.m_link.heardNs = wallNowNs();
    m_owner.m_downSinceNs = monotonicNowNs();
    m_owner.m_missingSinceNs = 0;
    m_owner.m_wasThere = m_owner.m_wasThere || state.attempt > 0;
    if (livesOn(state))
        m_owner.m_target.looksAgain = false;
    if (m_owner.m_isUnstored) // until it is stored: the link comes back at once
        return m_owner.report(LiveState::Link::kUnstored, m_owner.m_link.why);
    m_owner.noteBack();
    m_owner.report(LiveState::Link::kLive);
}

bool NodeFollower::Connection::mayStillCopy() const {
    return m_owner.m_target.mayCopy && m_owner.m_link.state->supervised &&
           Clock::now() - m_endedAt < kLastCopy;
}

Result<void> NodeFollower::Connection::commit() {
    if (!m_ingest)
        return {};
    auto batch = m_ingest->take();
    if (!batch)
        return {};
    batch->nodeName = m_owner.m_target.node.name;
    auto done = m_owner.m_sink.commit(std::move(*batch));
    m_owner.noteStored(done);
    return done;
}

/// Waits for answers although nothing can be stored: a kill needs no room here, and the next
/// connection would be closed for the same reason before an answer comes.
void NodeFollower::Connection::hearAnswers(std::stop_token stop) {
    const auto deadline = Clock::now() + kExitTimeout;
    while (!stop.stop_requested() && Clock::now() < deadline && m_owner.hasUnanswered())
        if (const auto closed = readOnce(); !closed || *closed || !sendDue())
            return;
}

Result<bool> NodeFollower::Connection::readOnce() {
    auto deadline = Clock::now() + kGather;
    size_t gathered = 0;
    auto timeout = std::chrono::duration_cast<std::chrono::milliseconds>(kReadTimeout);
    for (;;) {
        RM_ASSIGN_OR_RETURN(const auto bytes, m_process->read(timeout, &m_owner.m_waker));
        if (const auto handled = m_stream->onBytes(bytes.data, Clock::now()); !handled) {
            // What came before the damage is whole and stays.
            (void)commit();
            return verdict(handled.error());
        }
        if (bytes.ended)
            return true;
        gathered += bytes.data.size();
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (bytes.data.empty() || left <= 0ms || gathered > kGatherBytes)
            return false;
        timeout = left;
    }
}

Result<void> NodeFollower::Connection::sendDue() {
    m_owner.m_waker.clear();
    for (const Command& command : m_owner.takeDue(false))
        if (const auto sent = m_process->write(frameMessage(command)); !sent)
            return tl::unexpected(sent.error());
    const auto beat = m_stream->tick(Clock::now());
    if (!beat)
        return tl::unexpected(beat.error());
    return *beat ? m_process->write(**beat) : Result<void>{};
}

Result<bool> NodeFollower::Connection::run(std::stop_token stop) {
    auto over = follow(stop);
    // A failure here, such as the database, or a stop outside a start tells nothing of the login.
    const bool isSound = over || over.error().code != ErrorCode::kUnavailable ||
                         m_owner.m_isFinal || m_owner.m_failedToStore ||
                         (stop.stop_requested() && m_process);
    // Where nothing is, it may be another machine.
    if ((!isSound || m_owner.m_saidMissing) && m_session)
        m_owner.m_login->drop(m_session);
    return over;
}

Result<bool> NodeFollower::Connection::follow(std::stop_token stop) {
    RM_RETURN_IF_ERROR(open(stop));
    while (!stop.stop_requested()) {
        const bool hadEnded = m_end.has_value();
        const auto closed = readOnce();
        if (!closed && !hadEnded)
            return tl::unexpected(closed.error());
        // What may come after the end is not worth another connection.
        const bool isOver = m_end && (!closed || *closed || !mayStillCopy());
        if (isOver && m_ingest)
            m_ingest->finish(*m_end);
        if (const auto stored = commit(); !stored) {
            if (m_owner.m_isUnstored)
                hearAnswers(stop);
            return tl::unexpected(stored.error());
        }
        if (isOver)
            return true;
        if (m_orphans.isLost(Clock::now()))
            return verdict({ErrorCode::kNotFound,
                            say("run.ranks-gone", {{"node", m_owner.m_target.node.name}})});
        if (*closed)
            return whyClosed();
        if (const auto sent = sendDue(); !sent && !m_end)
            return tl::unexpected(sent.error());
    }
    return false;
}

NodeFollower::NodeFollower(FollowTarget target, std::shared_ptr<NodeLogin> login, QString database,
                           Sink sink)
    : m_target(std::move(target))
    , m_login(std::move(login))
    , m_database(std::move(database))
    , m_sink(std::move(sink))
    , m_stored(m_target.loss)
    , m_downSinceNs(monotonicNowNs())
    , m_thread([this](std::stop_token stop) { loop(stop); }) {}

NodeFollower::~NodeFollower() {
    hangUp();
}

void NodeFollower::hangUp() {
    m_thread.request_stop();
    m_waker.wake();
}

void NodeFollower::send(Command command, int64_t untilNs) {
    {
        const std::lock_guard lock(m_mutex);
        const auto isIt = [&](const Unanswered& each) { return each.command.id == command.id; };
        const auto known = std::ranges::find_if(m_unanswered, isIt);
        if (known != m_unanswered.end())
            known->untilNs = untilNs;
        else
            m_unanswered.push_back({std::move(command), untilNs});
    }
    m_waker.wake();
}

bool NodeFollower::takeBack(const std::string& id) {
    const std::lock_guard lock(m_mutex);
    bool wasEver = false;
    for (const Unanswered& each : m_unanswered)
        wasEver = wasEver || (each.command.id == id && each.wasEver);
    std::erase_if(m_unanswered, [&](const Unanswered& each) { return each.command.id == id; });
    return wasEver;
}

void NodeFollower::believeMissing(bool isLast) {
    if (!isLast)
        m_lastSinceNs = 0;
    else if (m_lastSinceNs == 0)
        m_lastSinceNs = monotonicNowNs();
}

bool NodeFollower::hasUnanswered() {
    const std::lock_guard lock(m_mutex);
    return !m_unanswered.empty();
}

/// The commands that are to be sent now.
std::vector<Command> NodeFollower::takeDue(bool isNewLink) {
    const int64_t now = wallNowNs();
    const std::lock_guard lock(m_mutex);
    std::vector<Command> due;
    for (Unanswered& each : m_unanswered) {
        if ((each.isSent && !isNewLink) || each.untilNs < now)
            continue;
        each.isSent = each.wasEver = true;
        due.push_back(each.command);
    }
    return due;
}

void NodeFollower::onAnswer(const CommandState& state) {
    if (state.progress != CommandProgress::kAccepted) {
        const std::lock_guard lock(m_mutex);
        std::erase_if(m_unanswered,
                      [&](const Unanswered& each) { return each.command.id == state.id; });
    }
    m_sink.commandState(state);
}

void NodeFollower::report(LiveState::Link link, const QString& why) {
    if (isDown(link) && !isDown(m_link.link))
        m_link.lostSinceNs = wallNowNs();
    m_link.node = m_target.node.name;
    m_link.link = link;
    m_link.why = why;
    m_sink.linkChanged(m_link);
}

/// Whether a connection that ended so is not followed by another.
bool NodeFollower::isOver() {
    const auto isLongerAgo = [](std::chrono::seconds patience, int64_t sinceNs) {
        return std::chrono::nanoseconds(monotonicNowNs() - sinceNs) >= patience;
    };
    if (!m_saidMissing)
        m_missingSinceNs = 0;
    else if (m_missingSinceNs == 0)
        m_missingSinceNs = monotonicNowNs();
    if (m_isFinal || (m_target.looksAgain && isLongerAgo(kMissingFor, m_downSinceNs)))
        return true;
    const int64_t lastSinceNs = m_lastSinceNs;
    return m_saidMissing && lastSinceNs != 0 &&
           isLongerAgo(m_target.missingFor, std::max(m_missingSinceNs, lastSinceNs));
}

/// Stores one event per loss, and another for each new reason of it: of two that take turns, as
/// where a network is half up, the first one is kept. Brief losses are not stored, nor are logins
/// that a person is asked about.
void NodeFollower::noteLost() {
    const bool isRefused = m_refused == ConnectFailure::Need::kNothing;
    const bool lasts = isRefused || (!m_refused && monotonicNowNs() - m_downSinceNs > kBriefLossNs);
    const std::string words = lossWords();
    const bool isSettled = m_stored.why.empty() || words == m_lastLoss;
    m_lastLoss = words;
    if (m_stored.why == words || !isSettled || !lasts)
        return;
    if (m_stored.why.empty())
        m_stored.sinceNs = unreachableSinceNs(m_link);
    m_stored.why = words;
    storeEvent(Severity::kWarning, kNodeLostEvent, m_stored.sinceNs, words);
}

std::string NodeFollower::lossWords() const {
    const char* id = "run.node-unreachable-as";
    if (m_refused)
        id = m_isOtherKey ? "run.node-has-other-key" : "run.node-refuses-login";
    else if (m_link.link == LiveState::Link::kMissing)
        id = "run.node-has-nothing";
    return say(id, {{"node", m_link.node}, {"why", m_link.why.toStdString()}});
}

void NodeFollower::noteStored(const Result<void>& how) {
    const bool isStoredAgain = how && m_isUnstored;
    m_failedToStore = !how.has_value();
    // Other failures are of what was sent.
    m_isUnstored = !how && (how.error().code == ErrorCode::kExhausted ||
                            how.error().code == ErrorCode::kUnavailable);
    if (isStoredAgain && m_link.link == LiveState::Link::kUnstored)
        report(LiveState::Link::kLive);
}

void NodeFollower::noteBack() {
    m_lastLoss.clear();
    if (!std::exchange(m_stored, {}).why.empty())
        storeEvent(Severity::kInfo, kNodeBackEvent, wallNowNs(),
                   say("run.node-reachable-again", {{"node", m_target.node.name}}));
}

void NodeFollower::storeEvent(Severity severity, const char* code, int64_t wallNs,
                              const std::string& message) {
    if (!m_sink.commit || !m_target.reportsLink)
        return;
    IngestBatch batch;
    batch.run = m_target.run;
    batch.nodeIndex = m_target.nodeIndex;
    batch.records.emplace_back(Event{-1, -1, wallNs, severity, code, message});
    // A failure to store it is not handled here: the next commit fails likewise and reports it.
    (void)m_sink.commit(std::move(batch));
}

void NodeFollower::retry() {
    {
        const std::lock_guard lock(m_mutex);
        m_mayRetry = true;
    }
    m_retried.notify_all();
}

void NodeFollower::beginConnection() {
    m_refused.reset();
    m_failedToStore = m_saidMissing = m_isOtherKey = false;
    const std::lock_guard lock(m_mutex);
    m_mayRetry = false;
}

/// Whether it was asked for; else the pause is over, if there is one.
bool NodeFollower::awaitRetry(std::stop_token stop,
                              std::optional<std::chrono::milliseconds> pause) {
    std::unique_lock lock(m_mutex);
    const auto isAskedFor = [this] { return m_mayRetry; };
    return pause ? m_retried.wait_for(lock, stop, *pause, isAskedFor)
                 : m_retried.wait(lock, stop, isAskedFor);
}

/// Pauses grow until a connection was live. A full disk of this computer is no lost link. A refused
/// login waits for a person, as accounts may be locked after a few failures, unless none was tried.
void NodeFollower::loop(std::stop_token stop) {
    BackOff backOff(kLongestPause);
    report(LiveState::Link::kConnecting);
    while (!stop.stop_requested()) {
        beginConnection();
        const Result<bool> over = Connection(*this).run(stop);
        if (stop.stop_requested())
            return;
        if (over) {
            report(LiveState::Link::kNone);
            return m_sink.ended({});
        }
        if (m_link.link == LiveState::Link::kLive)
            backOff.reset();
        const QString why = QString::fromStdString(over.error().message);
        const bool isUnstored = m_isUnstored && m_failedToStore;
        report(m_refused       ? LiveState::Link::kRefused
               : isUnstored    ? LiveState::Link::kUnstored
               : m_saidMissing ? LiveState::Link::kMissing
                               : LiveState::Link::kLost,
               why);
        if (isOver())
            return m_sink.ended(tl::unexpected<Error>(over.error()));
        if (!isUnstored)
            noteLost();
        if (std::exchange(m_asked, m_refused) != m_refused && m_refused)
            m_sink.loginRefused(*m_refused);
        if (!m_refused) {
            waitUnlessStopped(stop, backOff.next());
        } else if (awaitRetry(stop, m_isOtherKey ? std::optional(backOff.next()) : std::nullopt)) {
            m_asked.reset();
            report(LiveState::Link::kConnecting);
        }
    }
}

} // namespace rm
