// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"
#include "shared/spec/node_plan.h"
#include "trainer/agent/posix/process.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rm {

/// The file in a run directory with the supervisor's complaints. It stays on the node.
inline constexpr const char* kAgentLog = "log/agent.log";

/// Bytes on the disk of a run's folder without which no attempt is begun.
inline constexpr size_t kNeededRoom = 64 << 10;

/// `agent.json` in a run directory: the supervisor's processes, for later commands (stop, attach,
/// the next start). What happened is recorded in the journals only.
struct AgentState {
    ProcessId supervisor;
    std::string boot;    ///< bootId() when it was written: pids mean nothing after another boot
    std::string machine; ///< machineId() then, as several may share this folder
    int32_t attempt = 0;
    int32_t nodeIndex = 0;
    uint64_t appliedBefore = 0; ///< bytes of applied.rmj when a person started the run last
    bool ended = false;
    Outcome outcome = Outcome::kFinished;
    struct Rank {
        int32_t rank = 0;
        ProcessId process;
        bool exited = false;
        int32_t exitCode = 0;
        int32_t signal = 0;
        bool operator==(const Rank&) const = default;
    };
    std::vector<Rank> ranks;
    bool operator==(const AgentState&) const = default;

    /// The ranks whose processes run at this moment.
    std::vector<Rank> living() const;
    /// Whether it is another machine's, of whose processes nothing can be known here.
    bool isElsewhere() const;
};

Result<void> saveAgentState(const std::string& runDir, const AgentState& state);
/// kNotFound when no attempt was started here.
Result<AgentState> loadAgentState(const std::string& runDir);
/// Whether ranks of it run on this machine, or an agent that waits to start some.
bool isAliveIn(const std::string& runDir, const AgentState& state);

/// plan.toml of the run directory.
Result<NodePlan> loadPlan(const std::string& runDir);

/// The right to supervise a run: an open-file-description lock on `agent.pid`. The kernel releases
/// it when the supervisor ends, however that happens.
class RunLock {
public:
    /// kUnavailable when another process holds it.
    static Result<RunLock> take(const std::string& runDir);
    /// Asks without touching the lock.
    static bool isHeld(const std::string& runDir);

    /// Notes the holder's pid in the file, for people.
    void writePid() const;

private:
    explicit RunLock(Descriptor fd)
        : m_fd(std::move(fd)) {}
    Descriptor m_fd;
};

} // namespace rm
