// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/command_line.h"

#include "app/core/findings/text.h"
#include "app/core/remote/start_mark.h"
#include "shared/return_if_error.h"

#include <string_view>

namespace rm {

namespace {

constexpr std::string_view kSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789._:/=,@%+-";

bool isSafe(std::string_view word) {
    return !word.empty() && word.find_first_not_of(kSafe) == std::string_view::npos;
}

} // namespace

Result<void> checkWords(const std::string& program, const std::vector<std::string>& arguments) {
    // A word with '=' in front would be an assignment, not a program.
    if (!isSafe(program) || program.find('=') != std::string::npos || program.front() == '-')
        return fail(ErrorCode::kInvalid, say("ssh.odd-program", {{"program", program}}));
    for (const std::string& argument : arguments) {
        if (!isSafe(argument))
            return fail(ErrorCode::kInvalid,
                        say("ssh.odd-argument", {{"program", program}, {"argument", argument}}));
    }
    return {};
}

Result<std::string> commandLine(const std::string& program,
                                const std::vector<std::string>& arguments) {
    RM_RETURN_IF_ERROR(checkWords(program, arguments));
    std::string script = "exec " + program;
    for (const std::string& argument : arguments)
        script += ' ' + argument;
    return scriptLine(script);
}

Result<std::string> scriptLine(const std::string& fixedScript) {
    if (fixedScript.find('\'') != std::string::npos)
        return fail(ErrorCode::kInternal, "start a script: it holds a single quote");
    return "exec /bin/sh -c '" + StartMark::commands() + fixedScript + "'";
}

} // namespace rm
