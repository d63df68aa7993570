// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/command_line.h"

#include "app/core/findings/text.h"
#include "app/core/remote/start_mark.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <string_view>

namespace rm {

namespace {

constexpr std::string_view kSafe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                   "0123456789._:/=,@%+-";

bool isSafe(std::string_view word) {
    return !word.empty() && word.find_first_not_of(kSafe) == std::string_view::npos;
}

/// A program's place may be below a home with any name.
bool isPath(std::string_view text) {
    return text.starts_with('/') &&
           std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

/// No shell reads anything into it, in single or in double quotes.
bool isPlain(char c) {
    return kSafe.find(c) != std::string_view::npos || c == ' ';
}

/// As printf's %b reads it.
std::string octal(std::string_view text) {
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (isPlain(c))
            out += c;
        else
            for (const int digit : {-1, byte >> 6, (byte >> 3) & 7, byte & 7})
                out += digit < 0 ? std::string("\\0") : std::to_string(digit);
    }
    return out;
}

} // namespace

std::string quotedForShell(const std::string& text) {
    std::string out = "'";
    for (const char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

Result<void> checkWords(const std::string& program, const std::vector<std::string>& arguments) {
    // A word with '=' in front would be an assignment, not a program.
    const bool isName =
        isSafe(program) && program.find('=') == std::string::npos && program.front() != '-';
    if (!isName && !isPath(program))
        return fail(ErrorCode::kInvalid, say("ssh.odd-program", {{"program", program}}));
    for (const std::string& argument : arguments)
        if (!isSafe(argument))
            return fail(ErrorCode::kInvalid,
                        say("ssh.odd-argument", {{"program", program}, {"argument", argument}}));
    return {};
}

Result<std::string> commandLine(const std::string& program,
                                const std::vector<std::string>& arguments) {
    RM_RETURN_IF_ERROR(checkWords(program, arguments));
    std::string script = "exec " + (isSafe(program) ? program : quotedForShell(program));
    for (const std::string& argument : arguments)
        script += ' ' + argument;
    return scriptLine(script);
}

std::string scriptLine(const std::string& script) {
    // The csh expands '!' in single quotes, too.
    const bool isOneLine = script.find_first_of("'!\n\\") == std::string::npos;
    return "exec /bin/sh -c '" + StartMark::commands() +
           (isOneLine ? script : "eval \"$(printf %b \"" + octal(script) + "\")\"") + '\'';
}

} // namespace rm
