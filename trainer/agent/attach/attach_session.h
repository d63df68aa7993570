// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/frame.h"
#include "shared/wire/messages.h"
#include "trainer/agent/attach/file_tails.h"
#include "trainer/agent/attach/send_window.h"
#include "trainer/agent/supervisor/applied_commands.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The agent's side of one attach stream. Passive: bytes and time go in; frames come out one at a
/// time, when the link can take one. With a slow link files are simply read later, and nothing is
/// buffered. Answers and heartbeats go before file bytes, and no more of these than the link
/// carries in about a second is on its way.
///
///   waiting for Hello -> waiting for Attach -> streaming -> ended
class AttachSession {
public:
    struct Ports {
        std::function<RunState()> runState;
        /// Hands a command to the supervisor; its answers come by onCommandState(). An error:
        /// there is no supervisor.
        std::function<Result<void>(const Command&)> forward;
        /// Asks the supervisor for a sign of life, for onSupervisorAlive().
        std::function<void()> ask;
        /// Ends a supervisor that gives no sign; onSupervisorGone() is called then.
        std::function<void()> endSupervisor;
        /// Starts another supervisor for an attempt that has lost its own.
        std::function<void()> adopt;
    };

    AttachSession(std::string runDir, std::string runId, int32_t nodeIndex, Ports ports,
                  int64_t nowNs);

    void onBytes(std::span<const std::byte> bytes, int64_t nowNs);
    void onFilesChanged();
    void onCommandState(const CommandState& state);
    void onSupervisorAlive() { m_requestedNs = 0; }
    /// The link to the supervisor broke. Commands that are not known to be applied go to the next
    /// one, or are refused when there is none for kAdoptionNs.
    void onSupervisorGone();
    void tick(int64_t nowNs);
    int64_t nextDeadline() const; ///< CLOCK_MONOTONIC, for tick()

    /// The frame to write next; nullopt: none now.
    std::optional<std::vector<std::byte>> nextFrame();

    /// Why the stream has to end once nextFrame() returns nullopt; nullopt: it need not end.
    const std::optional<Error>& failure() const { return m_failure; }

private:
    enum class Stage { kHello, kAttach, kStreaming, kEnded };

    /// A command without a final answer.
    struct Pending {
        Command command;
        bool isForwarded = false; ///< to the supervisor there is now
        bool isAccepted = false;  ///< nothing is due but the ranks' answer
        int64_t sinceNs = 0;      ///< when it came, or its supervisor went
        int64_t forwardedNs = 0;
    };

    void handle(const Message& message);
    void onHello(const Hello& hello);
    void onAttach(const Attach& attach);
    void onCommand(const Command& command);
    void send(const Message& message);
    void refuse(const Error& error);
    void lookAtRun(int64_t nowNs);
    void onUnknownState(int64_t nowNs);
    void lookForApplied();
    void watchSupervisor(const RunState& state, int64_t nowNs);
    void forwardWaiting(const RunState& state, int64_t nowNs);
    std::optional<std::vector<std::byte>> nextSlice();

    std::string m_runId;
    Ports m_ports;
    Stage m_stage = Stage::kHello;
    FrameScanner m_frames;
    FileTails m_tails;
    SendWindow m_window;
    AppliedCommands m_applied;
    std::deque<std::vector<std::byte>> m_answers;
    std::map<std::string, Pending> m_pending; ///< by id
    int64_t m_nowNs;
    int64_t m_adoptedNs = 0;   ///< when adopt() was last called; 0: never
    int64_t m_requestedNs = 0; ///< when ask() was called without an answer since; 0: it was not
    std::optional<RunState> m_sentState;
    std::optional<RunState> m_nextState; ///< to be sent, unless a later one comes before
    std::optional<RunState> m_endState;  ///< sent after the last byte of every file
    std::optional<Error> m_failure;
    int64_t m_lastHeardNs;
    int64_t m_nextHeartbeatNs;
    bool m_owesHeartbeat = false;
    int64_t m_unknownSinceNs = 0; ///< since when the state cannot be read; 0: it can
    int64_t m_nextLookNs;
    int64_t m_nextStateNs;
    int64_t m_echoNs = 0;
};

} // namespace rm
