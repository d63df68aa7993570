// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/io/frame.h"
#include "shared/wire/messages.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The app's side of the attach stream, passive: bytes in, messages out (shared/wire/PROTOCOL.md).
/// One thread.
class AttachStream {
public:
    using Clock = std::chrono::steady_clock;

    struct Handlers {
        std::function<Result<void>(const Slice&)> slice;
        std::function<void(const RunState&)> runState;
        std::function<void(const CommandState&)> commandState;
    };

    AttachStream(std::string runId, std::vector<FileCursor> cursors, Handlers handlers,
                 Clock::time_point now);

    /// Bytes to send first: Hello and Attach.
    std::vector<std::byte> opening() const;

    /// Handles all whole messages of `bytes`. An error ends the connection: a refusal by the
    /// agent (its code and words), kTooNew for another protocol version, kCorrupt.
    Result<void> onBytes(std::span<const std::byte> bytes, Clock::time_point now);

    /// A heartbeat when one is due or one of the agent's is to be echoed, and kUnavailable when the
    /// other side has been silent too long.
    Result<std::optional<std::vector<std::byte>>> tick(Clock::time_point now);

private:
    Result<void> onMessage(const Message& message);
    Result<void> onHello(const Hello& hello);

    std::string m_runId;
    std::vector<FileCursor> m_cursors;
    Handlers m_handlers;
    FrameScanner m_frames;
    Clock::time_point m_heard;
    Clock::time_point m_sent;
    int64_t m_lastPeerNs = 0;
    bool m_owesEcho = false; ///< by which the agent knows what has arrived
};

} // namespace rm
