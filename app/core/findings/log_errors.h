// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace rm {

/// A message that libraries, drivers and systems write when training fails.
struct KnownError {
    const char* id;   ///< "nccl-timeout"
    const char* area; ///< "NCCL": rows of one area lie together
    /// What a line has: these characters, with anything in place of each " ... ". Any of them.
    std::array<const char*, 3> patterns;
    const char* meaning;
    const char* fix;
};

/// All of them. Where several rows fit a line, the first one counts.
std::span<const KnownError> knownErrors();

/// The row that fits the line; nullptr: none. Thread-safe.
const KnownError* knownErrorIn(std::string_view line);
/// The first row, by its place in the text, that fits one of the lines.
const KnownError* knownErrorInText(std::string_view lines);

/// In the language of this process.
std::string areaOf(const KnownError& error);
std::string meaningOf(const KnownError& error);
std::string fixOf(const KnownError& error);

} // namespace rm
