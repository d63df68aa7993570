// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/frame.h"
#include "shared/wire/messages.h"
#include "trainer/agent/attach/file_tails.h"
#include "trainer/agent/supervisor/applied_commands.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// The agent's side of one attach stream. Passive: bytes and time go in; frames come out one at a
/// time, when the link can take one. With a slow link files are simply read later, and nothing is
/// buffered. Answers and heartbeats go before file bytes.
///
///   waiting for Hello -> waiting for Attach -> streaming -> ended
class AttachSession {
public:
    struct Ports {
        std::function<RunState()> runState;
        /// Hands a command to the supervisor; its answers come by onCommandState(). An error:
        /// there is no supervisor.
        std::function<Result<void>(const Command&)> forward;
    };

    AttachSession(std::string runDir, std::string runId, int32_t nodeIndex, Ports ports,
                  int64_t nowNs);

    void onBytes(std::span<const std::byte> bytes, int64_t nowNs);
    void onFilesChanged();
    void onCommandState(const CommandState& state);
    /// The link to the supervisor broke: commands that wait for it are looked up in the journal, or
    /// refused.
    void onSupervisorGone();
    void tick(int64_t nowNs);
    int64_t nextDeadline() const; ///< CLOCK_MONOTONIC, for tick()

    /// What to write next; nullopt: nothing now.
    std::optional<std::vector<std::byte>> nextFrame();

    /// Why the stream has to end once nextFrame() returns nullopt; nullopt: it need not end.
    const std::optional<Error>& failure() const { return m_failure; }

private:
    enum class Stage { kHello, kAttach, kStreaming, kEnded };

    void handle(const Message& message);
    void onHello(const Hello& hello);
    void onAttach(const Attach& attach);
    void onCommand(const Command& command);
    void send(const Message& message);
    void refuse(const Error& error);
    void lookAtRun(int64_t nowNs);
    void lookForApplied();
    std::optional<std::vector<std::byte>> nextSlice();

    std::string m_runId;
    Ports m_ports;
    Stage m_stage = Stage::kHello;
    FrameScanner m_frames;
    FileTails m_tails;
    AppliedCommands m_applied;
    std::deque<std::vector<std::byte>> m_answers;
    std::set<std::string> m_pending; ///< commands without a final answer
    std::optional<RunState> m_sentState;
    std::optional<RunState> m_endState; ///< sent after the last byte of every file
    std::optional<Error> m_failure;
    int64_t m_lastHeardNs;
    int64_t m_nextHeartbeatNs;
    int64_t m_nextLookNs;
    int64_t m_nextStateNs;
    int64_t m_echoNs = 0;
};

} // namespace rm
