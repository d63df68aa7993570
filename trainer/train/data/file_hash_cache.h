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

/// Keeps results of reading whole files, between starts of the trainer, as long as a file's device,
/// inode, size, mtime and ctime stay the same. A file that was changed within seconds before it was
/// read is not kept, as its times might not show another change. One thread.
class FileHashCache {
public:
    /// Opens the cache file at `path`. A missing or unreadable one counts as empty.
    explicit FileHashCache(std::string path);

    /// Lower-case hex of the SHA-256 of `file`.
    Result<std::string> sha256(const std::string& file);

    /// Runs `check` unless this file has passed it before under the name `what`.
    Result<void> once(const std::string& file, const std::string& what,
                      const std::function<Result<void>()>& check);

    /// Writes the cache file, with only the files seen since it was opened. Best effort: without it
    /// the next start takes longer.
    void save() const;

    int64_t filesRead() const { return m_filesRead; } ///< read as a whole, since it was opened

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
