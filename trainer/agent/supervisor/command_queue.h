// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/messages.h"
#include "trainer/agent/supervisor/applied_commands.h"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace rm {

/// Where commands take effect.
class CommandTarget {
public:
    virtual ~CommandTarget() = default;
    /// Board of rank 0: false while its slot is taken or the rank is not up yet.
    virtual Result<bool> post(const Command& command) = 0;
    /// Whether that command waits in the slot, which an earlier agent may have put there.
    virtual bool isPosted(const std::string& id) = 0;
    virtual void killAll() = 0;
};

/// The commands of a run on their way through the agent. Passive. Commands act in order of
/// arrival; each id acts once, however often it is sent.
class CommandQueue {
public:
    CommandQueue(bool hostsRankZero, CommandTarget& target, AppliedCommands& applied);

    /// Takes a command. Returns the answers for now; empty while it waits for the slot.
    std::vector<CommandState> onCommand(const Command& command);
    /// Tries again to post waiting commands; returns the states that changed.
    std::vector<CommandState> tick();
    /// The ranks are gone: returns a final state for every command without one.
    std::vector<CommandState> onEnded();
    /// The ranks are gone: removes and returns the commands to end the run that they did not obey.
    std::vector<Command> takeEndings();
    /// The ranks are gone, and others will come: a final state for those that were on the board.
    /// The others wait for the new ranks. These are held at their first boundary if the ones
    /// before were, by what was applied behind `appliedBefore` (AppliedCommands::areHeld()):
    /// command "again-ATTEMPT".
    std::vector<CommandState> onRestart(int64_t attempt, uint64_t appliedBefore);
    bool isWaiting() const { return !m_waiting.empty(); }

private:
    CommandState killAll(const Command& command);
    std::vector<CommandState> settleAccepted();
    CommandState remember(CommandState state);

    bool m_hostsRankZero;
    CommandTarget& m_target;
    AppliedCommands& m_applied;
    std::deque<Command> m_waiting;
    std::map<std::string, Command> m_posted;      ///< not known to be applied
    std::map<std::string, CommandState> m_states; ///< kAccepted until it is final
};

} // namespace rm
