// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/messages.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// `relay/` in a run directory: what a supervisor in a job and those who attach elsewhere, who
/// cannot reach its machine but share the folder, leave each other there. Each file is one framed
/// message of shared/wire/messages.h, under its name once it is whole; who reads it removes it.
///
///     command-*     to the supervisor: a Command
///     answer-*      of the supervisor: a CommandState
///     state         of the supervisor, about once a second, and never removed: its RunState
///
/// On a network file system one side may see what the other wrote after a few seconds only.
class PartFiles {
public:
    explicit PartFiles(const std::string& partDir);

    /// The supervisor's: makes the folder, and removes the state of an earlier one.
    Result<void> open() const;
    std::vector<Command> takeCommands() const;
    void answer(const std::vector<CommandState>& states) const;
    void publish(const RunState& state) const;

    /// Of who attaches.
    Result<void> put(const Command& command) const;
    std::vector<CommandState> takeAnswers() const;
    /// As published last; nullopt: not yet.
    std::optional<RunState> state() const;

private:
    std::string m_folder;
};

} // namespace rm
