// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/requested_words.h"

#include "app/core/findings/text.h"
#include "app/core/store/requested_command.h"
#include "shared/wire/messages.h"

namespace rm {

std::string requesterWords(const Requester& by) {
    const Value who{"who", by.who.empty() ? say("run.somebody") : by.who};
    switch (by.from) {
    case RequestedFrom::kWindow:
        return say("run.by-window", {who});
    case RequestedFrom::kTerminal:
        return say("run.by-terminal", {who});
    case RequestedFrom::kRule:
        return say("run.by-rule");
    case RequestedFrom::kRun:
        return say("run.by-itself");
    case RequestedFrom::kElsewhere:
        break;
    }
    return say("run.by-other", {who});
}

std::string requestedWords(const RequestedCommand& command) {
    std::string words = command.kind;
    for (const auto& [name, value] : command.args)
        words += ' ' + name + '=' + value;
    return words;
}

namespace {

std::string withAnswer(const std::string& fate, const std::string& answer) {
    return answer.empty() ? fate : say("run.fate-as", {{"fate", fate}, {"answer", answer}});
}

} // namespace

std::string fateWords(const RequestedCommand& command) {
    const std::string& answer = command.answer;
    switch (command.state) {
    case RequestedState::kWaiting:
        return say("run.waits-for-node");
    case RequestedState::kAccepted:
        return say(command.kind == "kill" ? "run.done-in-part" : "run.waits-for-ranks");
    case RequestedState::kApplied:
        if (command.kind == commandKindName(CommandKind::kContinue) && !answer.empty())
            return answer; // it was not held
        return withAnswer(command.step < 0
                              ? say("run.done")
                              : say("run.took-effect", {{"step", std::to_string(command.step)}}),
                          answer);
    case RequestedState::kRefused:
        return withAnswer(say("run.refused"), answer);
    case RequestedState::kWithdrawn:
        return answer.empty() ? say("run.withdrawn") : answer;
    case RequestedState::kLapsed:
        break;
    }
    return withAnswer(say("run.no-effect"), answer);
}

} // namespace rm
