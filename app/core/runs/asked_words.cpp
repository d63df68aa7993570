// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/asked_words.h"

#include "app/core/findings/text.h"
#include "app/core/store/asked_command.h"
#include "shared/wire/messages.h"

namespace rm {

std::string askerWords(const Asker& by) {
    const Value who{"who", by.who.empty() ? say("run.somebody") : by.who};
    switch (by.from) {
    case AskedFrom::kWindow:
        return say("run.by-window", {who});
    case AskedFrom::kTerminal:
        return say("run.by-terminal", {who});
    case AskedFrom::kRule:
        return say("run.by-rule");
    case AskedFrom::kRun:
        return say("run.by-itself");
    case AskedFrom::kElsewhere:
        break;
    }
    return say("run.by-other", {who});
}

std::string askedWords(const AskedCommand& command) {
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

std::string fateWords(const AskedCommand& command) {
    const std::string& answer = command.answer;
    switch (command.state) {
    case AskedState::kWaiting:
        return say("run.waits-for-node");
    case AskedState::kAccepted:
        return say(command.kind == "kill" ? "run.done-in-part" : "run.waits-for-ranks");
    case AskedState::kApplied:
        if (command.kind == commandKindName(CommandKind::kContinue) && !answer.empty())
            return answer; // it was not held
        return withAnswer(command.step < 0
                              ? say("run.done")
                              : say("run.took-effect", {{"step", std::to_string(command.step)}}),
                          answer);
    case AskedState::kRefused:
        return withAnswer(say("run.refused"), answer);
    case AskedState::kWithdrawn:
        return answer.empty() ? say("run.withdrawn") : answer;
    case AskedState::kLapsed:
        break;
    }
    return withAnswer(say("run.no-effect"), answer);
}

} // namespace rm
