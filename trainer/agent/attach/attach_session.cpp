// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/attach/attach_session.h"

#include "shared/wire/adoption.h"
#include "trainer/agent/run_dir/release.h"
#include "trainer/agent/supervisor/run_state.h"

#include <algorithm>

namespace rm {

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kHeartbeatNs = kHeartbeatMs * kMs / 2;
constexpr int64_t kSilenceNs = kSilenceMs * kMs;
constexpr int64_t kLookNs = 200 * kMs; // for changes that inotify misses (NFS, mmap)
constexpr int64_t kStateNs = 1000 * kMs;
constexpr int64_t kUnknownNs = 2000 * kMs; // of a state that was known
constexpr int64_t kAdoptNs = kAdoptMs * kMs;
constexpr int64_t kAdoptionNs = 15'000 * kMs; // commands wait for it so long
constexpr int64_t kAnswerNs = 2000 * kMs;     // for the first answer to a command
constexpr int64_t kAliveNs = 3000 * kMs;      // for a sign of life after that

/// Why a command is refused that no supervisor took.
std::string refusalOf(const RunState& state, const Error& why) {
    if (!state.ended)
        return why.message;
    return std::string("its ranks had ended by then: ") +
           outcomeName(static_cast<Outcome>(state.outcome));
}

} // namespace

AttachSession::AttachSession(std::string runDir, std::string runId, int32_t nodeIndex, Ports ports,
                             int64_t nowNs)
    : m_runId(std::move(runId))
    , m_ports(std::move(ports))
    , m_tails(runDir)
    , m_applied(runDir)
    , m_nowNs(nowNs)
    , m_lastHeardNs(nowNs)
    , m_nextHeartbeatNs(nowNs + kHeartbeatNs)
    , m_nextLookNs(nowNs)
    , m_nextStateNs(nowNs) {
    send(Hello{kWireVersion, kRelease, m_runId, nodeIndex});
}

void AttachSession::onBytes(std::span<const std::byte> bytes, int64_t nowNs) {
    m_lastHeardNs = m_nowNs = nowNs;
    m_frames.feed(bytes);
    while (m_stage != Stage::kEnded) {
        const auto payload = m_frames.next();
        if (!payload)
            return refuse(payload.error());
        if (!*payload)
            return;
        const Result<Message> message = decodeMessage(**payload);
        if (message)
            handle(*message);
        else if (message.error().code != ErrorCode::kTooNew)
            refuse(message.error());
    }
}

void AttachSession::onFilesChanged() {
    if (m_stage != Stage::kStreaming)
        return;
    m_tails.refresh();
    lookForApplied();
}

void AttachSession::onCommandState(const CommandState& state) {
    const auto pending = m_pending.find(state.id);
    if (pending == m_pending.end())
        return;
    onSupervisorAlive();
    pending->second.isAccepted = true;
    if (state.progress != CommandProgress::kAccepted)
        m_pending.erase(pending);
    send(state);
}

void AttachSession::onSupervisorGone() {
    lookForApplied();
    m_requestedNs = 0;
    for (auto& [id, pending] : m_pending) {
        pending.isForwarded = false;
        pending.sinceNs = m_nowNs;
    }
}

void AttachSession::tick(int64_t nowNs) {
    m_nowNs = nowNs;
    if (m_stage == Stage::kEnded)
        return;
    if (nowNs - m_lastHeardNs >= kSilenceNs)
        return refuse(
            {ErrorCode::kUnavailable, "attach " + m_runId + ": the other side is silent"});
    if (nowNs >= m_nextHeartbeatNs) {
        m_owesHeartbeat = true;
        m_nextHeartbeatNs = nowNs + kHeartbeatNs;
    }
    if (m_stage == Stage::kStreaming && nowNs >= m_nextLookNs) {
        lookAtRun(nowNs);
        m_nextLookNs = nowNs + kLookNs;
    }
}

int64_t AttachSession::nextDeadline() const {
    const int64_t linkNs = std::min(m_nextHeartbeatNs, m_lastHeardNs + kSilenceNs);
    return m_stage == Stage::kStreaming ? std::min(linkNs, m_nextLookNs) : linkNs;
}

std::optional<std::vector<std::byte>> AttachSession::nextFrame() {
    m_window.onLinkReady(m_nowNs);
    if (m_answers.empty() && (m_owesHeartbeat || m_window.needsHeartbeat(m_nowNs))) {
        send(Heartbeat{m_nowNs, m_echoNs});
        m_window.onHeartbeat(m_nowNs);
        m_owesHeartbeat = false;
    }
    if (m_answers.empty() && m_nextState) {
        send(*m_nextState);
        m_nextState.reset();
    }
    if (m_answers.empty() && m_stage == Stage::kStreaming)
        if (auto slice = nextSlice())
            return slice;
    if (m_answers.empty() && m_endState && m_window.room(m_nowNs) > 0) {
        send(*m_endState);
        m_endState.reset();
    }
    if (m_answers.empty())
        return std::nullopt;
    std::vector<std::byte> frame = std::move(m_answers.front());
    m_answers.pop_front();
    return frame;
}

void AttachSession::handle(const Message& message) {
    if (const auto* hello = std::get_if<Hello>(&message); hello && m_stage == Stage::kHello)
        return onHello(*hello);
    if (const auto* attach = std::get_if<Attach>(&message); attach && m_stage == Stage::kAttach)
        return onAttach(*attach);
    if (const auto* command = std::get_if<Command>(&message);
        command && m_stage == Stage::kStreaming)
        return onCommand(*command);
    if (const auto* beat = std::get_if<Heartbeat>(&message)) {
        m_echoNs = beat->sentNs;
        return m_window.onEcho(beat->echoNs, m_nowNs);
    }
    refuse({ErrorCode::kInvalid,
            "attach " + m_runId + ": a message came that has no place at this point"});
}

void AttachSession::onHello(const Hello& hello) {
    if (hello.version != kWireVersion)
        return refuse({ErrorCode::kTooNew, "attach " + m_runId + ": the app " + hello.release +
                                               " speaks wire version " +
                                               std::to_string(hello.version) +
                                               ", this agent is ringmaster " + kRelease +
                                               " (wire " + std::to_string(kWireVersion) + ")"});
    m_stage = Stage::kAttach;
}

void AttachSession::onAttach(const Attach& attach) {
    if (const Result<void> sought = m_tails.seek(attach.cursors); !sought)
        return refuse(sought.error());
    m_stage = Stage::kStreaming;
}

void AttachSession::onCommand(const Command& command) {
    if (const std::optional<CommandState> applied = m_applied.find(command.id))
        return send(*applied);
    m_pending.try_emplace(command.id, Pending{command, false, false, m_nowNs, 0});
    forwardWaiting(m_ports.runState(), m_nowNs);
}

void AttachSession::send(const Message& message) {
    m_answers.push_back(frameMessage(message));
}

void AttachSession::refuse(const Error& error) {
    send(Refusal{static_cast<uint8_t>(error.code), error.message});
    m_failure = error;
    m_stage = Stage::kEnded;
}

void AttachSession::lookAtRun(int64_t nowNs) {
    const RunState state = m_ports.runState();
    if (m_sentState && m_sentState->attempt > 0 && state.attempt == 0)
        return onUnknownState(nowNs);
    m_unknownSinceNs = 0;
    onFilesChanged();
    watchSupervisor(state, nowNs);
    forwardWaiting(state, nowNs);
    const bool isNew = !m_sentState || differsVisibly(*m_sentState, state);
    if (!isNew && (state.ended || nowNs < m_nextStateNs))
        return;
    m_sentState = state;
    m_nextStateNs = nowNs + kStateNs;
    if (state.ended)
        m_endState = state;
    else
        m_nextState = state;
}

/// What the agent keeps of the run cannot be read, though it could: for a moment, or no more.
void AttachSession::onUnknownState(int64_t nowNs) {
    if (m_unknownSinceNs == 0)
        m_unknownSinceNs = nowNs;
    if (nowNs - m_unknownSinceNs >= kUnknownNs)
        refuse({ErrorCode::kNotFound,
                "attach " + m_runId + ": what the agent keeps of it cannot be read any more"});
}

void AttachSession::lookForApplied() {
    for (auto pending = m_pending.begin(); pending != m_pending.end();) {
        const std::optional<CommandState> applied = m_applied.find(pending->first);
        if (applied)
            send(*applied);
        pending = applied ? m_pending.erase(pending) : std::next(pending);
    }
}

/// Replaces a supervisor that was killed, and one that hangs while someone waits for it.
void AttachSession::watchSupervisor(const RunState& state, int64_t nowNs) {
    const bool isLost = state.attempt > 0 && !state.ended && !state.supervised;
    if (isLost && (m_adoptedNs == 0 || nowNs - m_adoptedNs >= kAdoptNs)) {
        m_adoptedNs = nowNs;
        return m_ports.adopt();
    }
    if (m_requestedNs > 0 && nowNs - m_requestedNs >= kAliveNs) {
        m_requestedNs = 0;
        return m_ports.endSupervisor();
    }
    const bool isOverdue = std::ranges::any_of(m_pending, [nowNs](const auto& entry) {
        const Pending& pending = entry.second;
        return pending.isForwarded && !pending.isAccepted &&
               nowNs - pending.forwardedNs >= kAnswerNs;
    });
    if (isOverdue && m_requestedNs == 0) {
        m_requestedNs = nowNs;
        m_ports.ask();
    }
}

void AttachSession::forwardWaiting(const RunState& state, int64_t nowNs) {
    const bool mayCome = state.attempt > 0 && !state.ended;
    for (auto at = m_pending.begin(); at != m_pending.end();) {
        Pending& pending = at->second;
        const Result<void> forwarded =
            pending.isForwarded ? Result<void>() : m_ports.forward(pending.command);
        if (forwarded && !pending.isForwarded) {
            pending.isForwarded = true;
            pending.forwardedNs = nowNs;
        }
        const bool isHopeless = !forwarded && (!mayCome || nowNs - pending.sinceNs >= kAdoptionNs);
        if (isHopeless)
            send(CommandState{at->first, CommandProgress::kRefused, -1,
                              refusalOf(state, forwarded.error())});
        at = isHopeless ? m_pending.erase(at) : std::next(at);
    }
}

std::optional<std::vector<std::byte>> AttachSession::nextSlice() {
    const size_t room = m_window.room(m_nowNs);
    std::optional<Slice> slice = room > 0 ? m_tails.next(std::min(kMaxSlice, room)) : std::nullopt;
    if (slice)
        m_window.onFileBytes(slice->bytes.size(), m_nowNs);
    return slice ? std::optional(frameMessage(std::move(*slice))) : std::nullopt;
}

} // namespace rm
