// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/posix/process.h"
#include "trainer/agent/supervisor/rank_environment.h"
#include "trainer/agent/supervisor/rank_group.h"

#include <string>
#include <vector>

namespace rm {

/// A process that runs one rank, leader of a process group of its own.
class RankProcess {
public:
    /// Starts it in the working directory with stdout and stderr appended to `logPath`. An error if
    /// the program cannot be executed.
    static Result<RankProcess> spawn(const std::vector<std::string>& command,
                                     const Environment& environment, const std::string& logPath);

    /// One that another agent started. It may be gone.
    static RankProcess adopt(const ProcessId& id);

    const ProcessId& id() const { return m_id; }
    /// Readable when the process has ended; -1: an adopted one that is gone.
    int pidfd() const { return m_pidfd.get(); }
    void terminate() const;
    void killGroup() const;
    /// Kills what an ended process left in its group, then returns its exit status, which is not
    /// known of an adopted one. nullopt: it has not ended.
    std::optional<ChildStatus> reap();

private:
    ProcessId m_id;
    Descriptor m_pidfd;
    bool m_isChild = false;
};

/// How often the kernel's out-of-memory killer acted since boot, -1: unknown.
int64_t outOfMemoryKills();

} // namespace rm
