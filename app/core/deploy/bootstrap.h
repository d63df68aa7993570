// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

/// The fixed script that brings the agent to a host; it needs a POSIX shell and sha256sum or
/// shasum. Programs are those of the system: of the login's search paths for libraries it takes
/// nothing, and of that for programs only on systems that have neither of the two in
/// /usr/local/bin, /usr/bin or /bin (NixOS), and after these. It reads the agent's SHA-256
/// and release as a line. Where that agent is, unchanged since it was last compared, and tells its
/// version, the script says "have PATH" at once, otherwise
///
///     platform KERNEL MACHINE
///     libc TEXT                  e.g. "glibc 2.36" or "musl libc (x86_64)"
///     have PATH | need | need gzip
///
/// and after the latter two reads the line "plain" or, if it said so, "gzip", then the agent's
/// bytes, packed or not, to the end of its input. It publishes them by rename once they have that
/// SHA-256, and says "have PATH". An agent that is
/// there is read once for each inode, size and time of change, which `verified` beside it holds.
/// Its release stands in `.ringmaster-label` there, for people.
extern const char* const kBootstrapScript;

/// kInvalid, naming `node`, unless this machine type can run our programs.
Result<void> checkPlatform(const std::string& node, const std::string& platform);
/// kInvalid, naming `node`, unless it is glibc 2.34 or later.
Result<void> checkLibc(const std::string& node, const std::string& libc);

} // namespace rm
