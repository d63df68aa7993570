// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace rm {

struct FileHash {
    std::string sha256;
    int64_t size = 0;
    bool operator==(const FileHash&) const = default;
};

/// SHA-256 of files of this computer, computed once for each state of a file: what was hashed is
/// kept by path, size, time of change and inode, in memory and in a file. Thread-safe; one file
/// is hashed at a time, so that four nodes that need the same bundle hash it once.
class HashCache {
public:
    /// `file` may be missing or damaged: it only saves work.
    explicit HashCache(std::string file);

    /// The one of this process, in Paths::cache.
    static HashCache& instance();

    Result<FileHash> hashOf(const std::string& path);
    /// Writes new entries to the file. Losing them only costs time, so a failure is not reported.
    void save();

    int64_t computed() const; ///< files that were read

private:
    struct State {
        int64_t size = 0;
        int64_t changedNs = 0;
        int64_t inode = 0;
        bool operator==(const State&) const = default;
    };
    struct Entry {
        State state;
        std::string sha256;
    };
    void load();
    static Result<State> stateOf(const std::string& path);

    mutable std::mutex m_mutex;
    std::string m_file;
    std::map<std::string, Entry> m_entries;
    int64_t m_computed = 0;
    bool m_changed = false;
};

} // namespace rm
