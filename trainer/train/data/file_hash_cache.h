// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace rm {

/// Remembers from start to start what was found out about files by reading them whole, for as long
/// as they are the same: device, inode, size, time of change of content and of inode. A file
/// changed within the last seconds before it was read is not remembered: its times could not tell
/// another change soon after. One thread.
class FileHashCache {
public:
    /// Opens the notebook at `path`. One that is not there, or cannot be understood, is empty.
    explicit FileHashCache(std::string path);

    /// Lower-case hex of the SHA-256 of `file`.
    Result<std::string> sha256(const std::string& file);

    /// Runs `check` unless this file has passed it before under the name `what`.
    Result<void> once(const std::string& file, const std::string& what,
                      const std::function<Result<void>()>& check);

    /// Writes the notebook, with the files seen since it was opened alone. Best effort: without it
    /// the next start takes longer.
    void save() const;

    int64_t filesRead() const { return m_filesRead; } ///< whole, since it was opened

private:
    struct Identity {
        uint64_t device = 0, inode = 0;
        int64_t size = 0, modifiedNs = 0, changedNs = 0;
        bool operator==(const Identity&) const = default;
    };
    struct Entry {
        Identity identity;
        std::string sha256; ///< empty: never asked for
        std::set<std::string> passed;
    };

    static Result<Identity> identityOf(const std::string& file);
    static bool isSettled(const Identity& identity);
    Result<Entry*> entryOf(const std::string& file);
    void load();

    std::string m_path;
    std::map<std::string, Entry> m_before; ///< by path
    std::map<std::string, Entry> m_now;
    int64_t m_filesRead = 0;
};

} // namespace rm
