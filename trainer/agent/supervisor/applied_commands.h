// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/journal.h"
#include "shared/wire/messages.h"
#include "trainer/agent/posix/fd.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace rm {

/// What is said of a run's end that ranks brought about as a person asked: a pause or a stop.
std::string howObeyed(Outcome outcome);

/// Which commands rank 0 has journaled as applied, ever. Reads on demand, each byte once.
class AppliedCommands {
public:
    /// Reads kAppliedJournal in that run directory, which need not exist (yet).
    explicit AppliedCommands(const std::string& runDir);

    /// kApplied (or kRefused, when rank 0 said so), or nothing. Catches up with the file first.
    std::optional<CommandState> find(const std::string& id);

    /// Whether what was applied behind the first `since` bytes of the journal leaves ranks held.
    bool areHeld(uint64_t since);
    /// How a person ended the run by what was applied behind the first `since` bytes; nullopt: not.
    std::optional<Outcome> endingSince(uint64_t since);
    /// Bytes of the journal that are known; catches up with the file first.
    uint64_t size();

private:
    void catchUp();
    void drain();

    std::string m_path;
    Descriptor m_fd;
    uint64_t m_offset = 0;
    JournalScanner m_scanner;
    std::map<std::string, CommandState> m_applied;
    /// The last command that began or ended a hold, and where it ends in the journal.
    std::optional<std::pair<CommandApplied, uint64_t>> m_lastHold;
    /// Likewise the last pause or stop of a person.
    std::optional<std::pair<Outcome, uint64_t>> m_lastEnding;
};

} // namespace rm
