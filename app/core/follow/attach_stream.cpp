// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/follow/attach_stream.h"

#include "app/core/findings/text.h"
#include "shared/io/clock.h"

namespace rm {

AttachStream::AttachStream(std::string runId, std::vector<FileCursor> cursors, Handlers handlers,
                           Clock::time_point now)
    : m_runId(std::move(runId))
    , m_cursors(std::move(cursors))
    , m_handlers(std::move(handlers))
    , m_heard(now)
    , m_sent(now) {}

std::vector<std::byte> AttachStream::opening() const {
    Hello hello;
    hello.release = RINGMASTER_RELEASE;
    hello.runId = m_runId;
    std::vector<std::byte> bytes = frameMessage(hello);
    const std::vector<std::byte> attach = frameMessage(Attach{m_cursors});
    bytes.insert(bytes.end(), attach.begin(), attach.end());
    return bytes;
}

Result<void> AttachStream::onBytes(std::span<const std::byte> bytes, Clock::time_point now) {
    if (!bytes.empty())
        m_heard = now;
    m_frames.feed(bytes);
    for (;;) {
        const auto payload = m_frames.next();
        if (!payload)
            return failAs(say("run.read-from-agent"), payload.error());
        if (!*payload)
            return {};
        const auto message = decodeMessage(**payload);
        if (!message && message.error().code == ErrorCode::kTooNew)
            continue;
        if (!message)
            return failAs(say("run.read-from-agent"), message.error());
        if (const auto handled = onMessage(*message); !handled)
            return handled;
    }
}

Result<void> AttachStream::onHello(const Hello& hello) {
    if (hello.version == kWireVersion)
        return {};
    return failAs(say("run.attach-to", {{"run", m_runId}}),
                  {ErrorCode::kTooNew,
                   say("run.other-protocol", {{"release", hello.release},
                                              {"protocol", std::to_string(hello.version)},
                                              {"our-release", RINGMASTER_RELEASE},
                                              {"our-protocol", std::to_string(kWireVersion)}})});
}

Result<void> AttachStream::onMessage(const Message& message) {
    if (const auto* slice = std::get_if<Slice>(&message))
        return m_handlers.slice(*slice);
    if (const auto* hello = std::get_if<Hello>(&message))
        return onHello(*hello);
    if (const auto* refusal = std::get_if<Refusal>(&message))
        return fail(static_cast<ErrorCode>(refusal->code), refusal->message);
    if (const auto* state = std::get_if<RunState>(&message)) {
        m_handlers.runState(*state);
    } else if (const auto* command = std::get_if<CommandState>(&message)) {
        m_handlers.commandState(*command);
    } else if (const auto* beat = std::get_if<Heartbeat>(&message)) {
        m_lastPeerNs = beat->sentNs;
        m_owesEcho = true;
    }
    return {};
}

Result<std::optional<std::vector<std::byte>>> AttachStream::tick(Clock::time_point now) {
    if (now - m_heard > std::chrono::milliseconds(kSilenceMs))
        return fail(ErrorCode::kUnavailable,
                    say("run.agent-silent", {{"seconds", std::to_string(kSilenceMs / 1000)}}));
    if (!m_owesEcho && now - m_sent < std::chrono::milliseconds(kHeartbeatMs))
        return std::nullopt;
    m_owesEcho = false;
    m_sent = now;
    return frameMessage(Heartbeat{monotonicNowNs(), m_lastPeerNs});
}

} // namespace rm
