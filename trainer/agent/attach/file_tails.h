// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/messages.h"
#include "trainer/agent/posix/fd.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The journals and logs of a run directory as streams of slices from given cursors on. Reads no
/// more than is asked for. Not thread-safe.
class FileTails {
public:
    explicit FileTails(std::string runDir);

    /// Where to begin; files that are not named begin at 0. kInvalid: no file that is replicated.
    /// kCorrupt: the file is shorter than its cursor.
    Result<void> seek(const std::vector<FileCursor>& cursors);

    /// Looks for new files and new bytes. kCorrupt: a file became shorter than what was sent.
    Result<void> refresh();

    /// The next bytes of some file, journals first, in a round robin; nullopt: everything that
    /// refresh() found has been returned.
    Result<std::optional<Slice>> next(size_t maxBytes);

private:
    struct Tail {
        Descriptor fd;
        uint64_t offset = 0;
        uint64_t size = 0;
    };
    void findFiles(const std::string& folder);
    Result<void> measure(const std::string& file, Tail& tail);
    Result<std::optional<Slice>> nextOf(const std::string& folder, size_t maxBytes);

    std::string m_runDir;
    std::map<std::string, Tail> m_tails;
    std::map<std::string, std::string> m_lastServed; ///< by folder: whose turn it was
};

} // namespace rm
