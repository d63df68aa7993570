// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/messages.h"

#include <optional>
#include <string>
#include <vector>

namespace rm {

/// `relay/` in a run directory: messages between a supervisor in a job and processes that attach
/// elsewhere, which cannot reach its machine but share the folder. Each file is one framed message
/// of shared/wire/messages.h, under its name once it is whole; its reader removes it.
///
///     command-*     to the supervisor: a Command
///     answer-*      from the supervisor: a CommandState
///     state         from the supervisor, about once a second, and never removed: its RunState
///
/// On a network file system one side may see what the other wrote after a few seconds only.
class PartFiles {
public:
    explicit PartFiles(const std::string& partDir);

    /// For the supervisor: makes the folder, and removes the state of an earlier one.
    Result<void> open() const;
    std::vector<Command> takeCommands() const;
    void answer(const std::vector<CommandState>& states) const;
    void publish(const RunState& state) const;

    /// For the process that attaches.
    Result<void> put(const Command& command) const;
    std::vector<CommandState> takeAnswers() const;
    /// The state that was published last; nullopt: none yet.
    std::optional<RunState> state() const;

private:
    std::string m_folder;
};

} // namespace rm
