// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/wire/messages.h"
#include "trainer/agent/posix/fd.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rm {

// When a rank's log was written: a file beside it, log/rank-NNNNN.times, which the supervisor
// appends to as the log grows (RUN_DIRECTORY.md has its format). The log stays as its rank wrote
// it.

inline constexpr size_t kMostLogTimes = 262'144; ///< entries of one file, 4 MiB

/// "log/rank-00003.times" for "log/rank-00003.log".
std::string logTimesPath(const std::string& log);

/// The entries of such a file, by their ends; up to the first one that is damaged. kCorrupt: it is
/// no such file.
Result<std::vector<LogStamp>> parseLogTimes(std::span<const std::byte> bytes);
std::vector<std::byte> encodeLogTimes(std::span<const LogStamp> entries);

/// Of a file that is full: of its older three quarters every second entry goes, so that what was
/// written there gets the time of the next one.
std::vector<LogStamp> thinned(std::span<const LogStamp> entries);

/// Writes the times of one log. What the disk has no room for is left out: later entries stand for
/// it.
class LogTimesWriter {
public:
    /// Goes on with a file that is there. `log` is relative to the working directory. `begin`: how
    /// long it was when its rank was started a moment ago; nullopt: that is not known.
    explicit LogTimesWriter(const std::string& log, std::optional<uint64_t> begin = std::nullopt);

    /// Notes how long the log is now, if it has grown. A log that has become shorter begins anew.
    void look(int64_t wallNs);

private:
    void open(int64_t wallNs);
    void append(LogStamp entry);
    void rewrite(const std::vector<LogStamp>& entries);

    std::string m_log, m_path;
    std::optional<uint64_t> m_begin;
    Descriptor m_file;
    uint64_t m_entries = 0;
    LogStamp m_last;
};

/// The stamps of bytes `begin` to `end` of a log, for one slice: at most kMaxStamps. What was
/// written last may not be noted yet: it has the time of the log's last change. Empty: nobody notes
/// times of this log. `fd` is the log's.
std::vector<LogStamp> logStamps(const std::string& log, int fd, uint64_t begin, uint64_t end);

} // namespace rm
