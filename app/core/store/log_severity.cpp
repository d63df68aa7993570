// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/log_severity.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace rm {

namespace {

constexpr size_t kHead = 160; ///< bytes in which a logger names its level

bool isLevelDigit(char c) {
    return c >= '0' && c <= '9';
}

bool isOfLevelWord(char c) {
    return isLevelDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool holds(std::string_view line, std::string_view part) {
    return line.find(part) != std::string_view::npos;
}

std::optional<Severity> byLetter(char letter) {
    switch (letter) {
    case 'I':
        return Severity::kInfo;
    case 'W':
        return Severity::kWarning;
    case 'E':
    case 'F':
        return Severity::kError;
    default:
        return std::nullopt;
    }
}

/// glog: "W1130 06:07:14.123456", also in brackets and behind "[rank0]:"; earlier c10d: "[E
/// ProcessGroupNCCL.cpp:474]".
std::optional<Severity> glogLevel(std::string_view line) {
    for (size_t at = 0; at < std::min(line.size(), kHead); ++at) {
        const bool isFirst = at == 0 || line[at - 1] == '[' || line[at - 1] == ' ';
        const auto level = isFirst ? byLetter(line[at]) : std::nullopt;
        if (!level)
            continue;
        size_t digits = at + 1;
        while (digits < line.size() && isLevelDigit(line[digits]))
            ++digits;
        const bool isDate = (digits - at - 1 == 4 || digits - at - 1 == 8) &&
                            digits < line.size() && line[digits] == ' ';
        const std::string_view rest = line.substr(at + 1, 80);
        const bool isC10d = at > 0 && line[at - 1] == '[' && rest.starts_with(' ') &&
                            rest.find(".cpp:") < rest.find(']');
        if (isDate || isC10d)
            return level;
    }
    return std::nullopt;
}

/// The first level that stands as a word of its own: "ERROR:root:", "[WARNING]", "NCCL INFO".
std::optional<Severity> levelWord(std::string_view head) {
    static constexpr std::array<std::pair<std::string_view, Severity>, 8> kLevels = {
        {{"TRACE", Severity::kInfo},
         {"DEBUG", Severity::kInfo},
         {"INFO", Severity::kInfo},
         {"WARN", Severity::kWarning},
         {"WARNING", Severity::kWarning},
         {"ERROR", Severity::kError},
         {"CRITICAL", Severity::kError},
         {"FATAL", Severity::kError}}};
    for (size_t at = 0; at < head.size();) {
        size_t end = at;
        while (end < head.size() && isOfLevelWord(head[end]))
            ++end;
        const auto level = std::ranges::find(kLevels, head.substr(at, end - at),
                                             &std::pair<std::string_view, Severity>::first);
        if (level != kLevels.end())
            return level->second;
        at = end + 1;
    }
    return std::nullopt;
}

/// "error: what", "RuntimeError: what", but no figure such as "validation error: 0.13".
bool namesAnError(std::string_view line, std::string_view word) {
    for (size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
        size_t next = at + word.size();
        while (next < line.size() && line[next] == ' ')
            ++next;
        if (next < line.size() && !isLevelDigit(line[next]) && line[next] != '-' &&
            line[next] != '.')
            return true;
    }
    return false;
}

bool isCrash(std::string_view line) {
    static constexpr std::string_view kBegins[] = {"Traceback (most recent call last)",
                                                   "terminate called",
                                                   "  what():  ",
                                                   "Segmentation fault",
                                                   "Bus error",
                                                   "Illegal instruction",
                                                   "Aborted",
                                                   "Killed",
                                                   "Fatal Python error",
                                                   "*** SIG"};
    static constexpr std::string_view kParts[] = {"CUDA error", "out of memory", "Out of memory",
                                                  "(core dumped)", "Out Of Memory"};
    static constexpr std::string_view kNames[] = {
        "error:", "Error:", "Exception:", "fatal:", "Fatal:"};
    return std::ranges::any_of(kBegins, [&](auto part) { return line.starts_with(part); }) ||
           std::ranges::any_of(kParts, [&](auto part) { return holds(line, part); }) ||
           std::ranges::any_of(kNames, [&](auto word) { return namesAnError(line, word); });
}

} // namespace

Severity severityOf(std::string_view line) {
    if (const auto level = glogLevel(line))
        return *level;
    if (const auto level = levelWord(line.substr(0, kHead)))
        return *level;
    // Behind "[rank0]: ", as torchrun and PyTorch's hook for exceptions write.
    if (line.starts_with("[rank"))
        if (const size_t end = line.find("]: "); end != std::string_view::npos)
            line.remove_prefix(end + 3);
    if (isCrash(line))
        return Severity::kError;
    return holds(line, "arning:") ? Severity::kWarning : Severity::kInfo;
}

} // namespace rm
