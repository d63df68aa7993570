// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/journal.h"
#include "shared/wire/messages.h"
#include "trainer/agent/posix/fd.h"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace rm {

/// Which commands rank 0 has journaled as applied, ever. Reads on demand, each byte once.
class AppliedCommands {
public:
    /// Reads kAppliedJournal in that run directory, which need not exist (yet).
    explicit AppliedCommands(const std::string& runDir);

    /// kApplied (or kRefused, when rank 0 said so), or nothing. Catches up with the file first.
    std::optional<CommandState> find(const std::string& id);

private:
    void catchUp();
    void drain();

    std::string m_path;
    Descriptor m_fd;
    uint64_t m_offset = 0;
    JournalScanner m_scanner;
    std::map<std::string, CommandState> m_applied;
};

} // namespace rm
