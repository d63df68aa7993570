// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/asked_words.h"

#include "app/core/store/asked_command.h"
#include "shared/wire/messages.h"

namespace rm {

std::string askerWords(const Asker& by) {
    const std::string who = by.who.empty() ? "somebody" : by.who;
    switch (by.from) {
    case AskedFrom::kWindow:
        return who + " in the window";
    case AskedFrom::kTerminal:
        return who + " in a terminal";
    case AskedFrom::kRule:
        return "a rule of the run";
    case AskedFrom::kRun:
        return "the run, after a restart";
    case AskedFrom::kElsewhere:
        break;
    }
    return who + " elsewhere";
}

std::string askedWords(const AskedCommand& command) {
    std::string words = command.kind;
    for (const auto& [name, value] : command.args)
        words += ' ' + name + '=' + value;
    return words;
}

std::string fateWords(const AskedCommand& command) {
    const std::string answer = command.answer.empty() ? "" : ": " + command.answer;
    switch (command.state) {
    case AskedState::kWaiting:
        return "waits for a node to accept it";
    case AskedState::kAccepted:
        return command.kind == "kill" ? "done on a part of its nodes"
                                      : "accepted, waits for the ranks";
    case AskedState::kApplied:
        if (command.kind == commandKindName(CommandKind::kContinue) && !command.answer.empty())
            return command.answer; // it was not held
        return (command.step < 0 ? "done"
                                 : "took effect after step " + std::to_string(command.step)) +
               answer;
    case AskedState::kRefused:
        return "refused" + answer;
    case AskedState::kWithdrawn:
        return command.answer.empty() ? "withdrawn" : command.answer;
    case AskedState::kLapsed:
        break;
    }
    return "no effect" + answer;
}

} // namespace rm
