// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/wire/command_kind.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rm {

/// The attach stream (PROTOCOL.md beside this): frames as in shared/io/frame.h over the stdin and
/// stdout of `ringmaster-agent attach RUN_ID NODE`.
inline constexpr uint32_t kWireVersion = 1;
inline constexpr size_t kMaxSlice = 256 * 1024;
inline constexpr size_t kMaxStamps = 4096;    ///< of one slice
inline constexpr int64_t kHeartbeatMs = 2000; ///< each side sends at least this often
inline constexpr int64_t kSilenceMs = 10000;  ///< nothing for so long: the link is dead

/// First message of both sides. The app checks `version`.
struct Hello {
    uint32_t version = kWireVersion;
    std::string release; ///< of the sender, e.g. "0.1.0"
    std::string runId;
    int32_t nodeIndex = 0;
    bool operator==(const Hello&) const = default;
};

struct FileCursor {
    std::string file; ///< relative to the run directory: "journal/rank-00003.rmj"
    uint64_t offset = 0;
    bool operator==(const FileCursor&) const = default;
};

/// App -> agent: send every file from these cursors (0 for those not named), then go on.
struct Attach {
    std::vector<FileCursor> cursors;
    bool operator==(const Attach&) const = default;
};

/// What lies before the byte `end` of a log, and not before that of an earlier stamp, was in the
/// file by `wallNs` of its node's clock. 0: nobody noted when.
struct LogStamp {
    uint64_t end = 0;
    int64_t wallNs = 0;
    bool operator==(const LogStamp&) const = default;
};

/// Agent -> app: bytes of a file, in order per file and without a gap, but for a log of which more
/// than kMostLog waited: its slices go on further behind.
struct Slice {
    std::string file;
    uint64_t offset = 0;
    std::vector<std::byte> bytes;
    /// Of a log, by their ends, all behind `offset`. None: it is not known when it was written, as
    /// by agents that do not note it.
    std::vector<LogStamp> stamps = {};
    bool operator==(const Slice&) const = default;
};

/// App -> agent. Sending an id again only asks for its state; a command takes effect once.
struct Command {
    std::string id; ///< UUID; for the run's own commands: "rule-...", "again-..."
    CommandKind kind = CommandKind::kHold;
    std::vector<std::pair<std::string, std::string>> args;
    bool operator==(const Command&) const = default;
};

enum class CommandProgress : uint8_t {
    kAccepted = 0, ///< on the board of rank 0 (or, kill, being done)
    kApplied = 1,  ///< all ranks acted; `step` says after which step
    kRefused = 2,  ///< will not happen; `message` says why
};

struct CommandState {
    std::string id;
    CommandProgress progress = CommandProgress::kAccepted;
    int64_t step = -1;
    std::string message;
    bool operator==(const CommandState&) const = default;
};

/// How RunState::noRoom ends where the disk is read-only now, as after an error of ext4.
inline constexpr std::string_view kReadOnlyDisk = " is on a disk that is read-only now";

/// One rank right now, as the agent sees it on its board.
struct RankState {
    int32_t rank = 0;
    int64_t pid = 0; ///< 0: not running
    int64_t step = 0;
    uint8_t phase = 0;   ///< rm::Phase
    int64_t sinceMs = 0; ///< in this phase
    int32_t exitCode = 0;
    int32_t signal = 0;
    bool isStopped = false;     ///< its process is stopped, by SIGSTOP or a debugger
    uint8_t journalProblem = 0; ///< 0: none; else 1 + rm::ErrorCode: it cannot write its journal
    int64_t droppedRecords = 0; ///< in this attempt, for want of room for its journal
    bool isWaiting = false;     ///< in a collective, for other ranks or for their bytes
    bool operator==(const RankState&) const = default;
};

/// Agent -> app, on change and at least each second while ranks run.
/// It is what the agent of one node says of the run right now; that of all nodes, with their
/// links, and what is stored of the run are the app's LiveState and RunSummary.
struct RunState {
    int32_t attempt = 0;
    bool supervised = false; ///< an agent supervises the run right now
    bool ended = false;      ///< AttemptEnded of `attempt` is in the journal
    uint8_t outcome = 0;     ///< rm::Outcome once ended
    int64_t wallNs = 0;      ///< the node's clock
    std::vector<RankState> ranks;
    bool hasNoRoom = false;    ///< the disk of the run's folder takes nothing more
    std::string waitsFor = {}; ///< why a scheduler has not started the ranks yet; empty: it has
    /// hasNoRoom: "DIR has 0 B, and 65.5 kB are needed", or DIR and kReadOnlyDisk.
    std::string noRoom = {};
    bool isDiskReadOnly() const { return noRoom.ends_with(kReadOnlyDisk); }
    bool operator==(const RunState&) const = default;
};

/// Both ways.
struct Heartbeat {
    int64_t sentNs = 0; ///< sender's CLOCK_MONOTONIC
    int64_t echoNs = 0; ///< last sentNs received, 0: none yet
    bool operator==(const Heartbeat&) const = default;
};

/// Agent -> app, then the stream ends: the request cannot be served.
struct Refusal {
    uint8_t code = 0; ///< rm::ErrorCode
    std::string message;
    bool operator==(const Refusal&) const = default;
};

using Message =
    std::variant<Hello, Attach, Slice, Command, CommandState, RunState, Heartbeat, Refusal>;

std::vector<std::byte> encodeMessage(const Message& message);

/// kTooNew: a type from the future, to be skipped; kCorrupt: end the connection.
Result<Message> decodeMessage(std::span<const std::byte> payload);

/// encodeMessage() in a frame, ready to send.
std::vector<std::byte> frameMessage(const Message& message);

/// Whether a peer may name this file: "journal/NAME.rmj" or "log/NAME.log" with NAME of [a-z0-9-].
bool isReplicatedFile(const std::string& file);

} // namespace rm
