// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/command_queue.h"

#include <algorithm>

namespace rm {

CommandQueue::CommandQueue(bool hostsRankZero, CommandTarget& target, AppliedCommands& applied)
    : m_hostsRankZero(hostsRankZero)
    , m_target(target)
    , m_applied(applied) {}

std::vector<CommandState> CommandQueue::onCommand(const Command& command) {
    if (const std::optional<CommandState> applied = m_applied.find(command.id))
        return {*applied};
    if (const auto known = m_states.find(command.id); known != m_states.end())
        return {known->second};
    if (command.kind == CommandKind::kKill)
        return {killAll(command)};
    if (!m_hostsRankZero)
        return {{command.id, CommandProgress::kRefused, -1,
                 std::string(commandKindName(command.kind)) +
                     ": rank 0 is not on this node; send it to the node of rank 0"}};
    if (m_target.isPosted(command.id)) {
        m_posted[command.id] = command;
        return {remember({command.id, CommandProgress::kAccepted, -1, {}})};
    }
    const bool isQueued = std::any_of(m_waiting.begin(), m_waiting.end(),
                                      [&](const Command& other) { return other.id == command.id; });
    if (!isQueued)
        m_waiting.push_back(command);
    return tick();
}

std::vector<CommandState> CommandQueue::tick() {
    std::vector<CommandState> changed;
    while (!m_waiting.empty()) {
        const std::string id = m_waiting.front().id;
        const Result<bool> posted = m_target.post(m_waiting.front());
        if (posted && !*posted)
            break;
        if (posted)
            m_posted[id] = m_waiting.front();
        m_waiting.pop_front();
        changed.push_back(remember(
            posted ? CommandState{id, CommandProgress::kAccepted, -1, {}}
                   : CommandState{id, CommandProgress::kRefused, -1, posted.error().message}));
    }
    return changed;
}

std::vector<CommandState> CommandQueue::onEnded() {
    for (const Command& command : m_waiting)
        m_states[command.id] = {command.id, CommandProgress::kAccepted, -1, {}};
    m_waiting.clear();
    return settleAccepted();
}

std::vector<Command> CommandQueue::takeEndings() {
    const auto ends = [](const Command& command) {
        return rowOf(command.kind).isForRanks && rowOf(command.kind).endsAttempt;
    };
    std::vector<Command> taken;
    for (const auto& [id, command] : m_posted)
        if (ends(command) && !m_applied.find(id))
            taken.push_back(command);
    for (const Command& command : m_waiting)
        if (ends(command))
            taken.push_back(command);
    std::erase_if(m_waiting, ends);
    std::erase_if(m_posted, [&](const auto& entry) { return ends(entry.second); });
    for (const Command& command : taken)
        m_states[command.id] = {command.id, CommandProgress::kApplied, -1,
                                "the ranks ended by themselves before; the run does not go on"};
    return taken;
}

std::vector<CommandState> CommandQueue::onRestart(int64_t attempt, uint64_t appliedBefore) {
    m_posted.clear();
    auto settled = settleAccepted();
    if (m_applied.areHeld(
            appliedBefore)) // else a person who comes back would find that it has trained on
        m_waiting.push_front({"again-" + std::to_string(attempt), CommandKind::kHold, {}});
    return settled;
}

std::vector<CommandState> CommandQueue::settleAccepted() {
    std::vector<CommandState> changed;
    for (auto& [id, state] : m_states) {
        if (state.progress != CommandProgress::kAccepted)
            continue;
        const std::optional<CommandState> applied = m_applied.find(id);
        state = applied ? *applied
                        : CommandState{id, CommandProgress::kRefused, -1,
                                       "the ranks ended before it was applied"};
        changed.push_back(state);
    }
    return changed;
}

CommandState CommandQueue::killAll(const Command& command) {
    m_target.killAll();
    return remember({command.id, CommandProgress::kApplied, -1, "killed"});
}

CommandState CommandQueue::remember(CommandState state) {
    m_states[state.id] = state;
    return state;
}

} // namespace rm
