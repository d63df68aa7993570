// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/segment.h"
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

    /// Where to begin. Of an attempt's segments of a journal the newest that is named counts: what
    /// was written before it is not sent again. An attempt without a name that is older than all
    /// that are named is known as a whole. Files that are not named begin at 0. kInvalid: no file
    /// that is replicated.
    Result<void> seek(const std::vector<FileCursor>& cursors);

    /// Looks for new files and new bytes. A journal that is shorter than what was sent is sent on
    /// once it has grown beyond that, a log from where it ends now.
    /// A file that cannot be read is left out until it can be.
    void refresh();

    /// The next bytes of some file, journals first, in a round robin; nullopt: everything that
    /// refresh() found has been returned. A journal's segments come in their order.
    std::optional<Slice> next(size_t maxBytes);

private:
    struct Tail {
        Descriptor fd; ///< once something of it is sent
        uint64_t offset = 0;
        uint64_t size = 0;
        bool isOver = false; ///< all of it is sent, and its writer has begun another file
    };
    struct Key {
        std::string source; ///< "journal/rank-00003", or a log's name
        Segment segment;    ///< of a log: none
        auto operator<=>(const Key&) const = default;
        std::string file() const;
    };
    static Key keyOf(const std::string& file);
    void findFiles(const std::string& folder);
    bool isSent(const Key& key) const;
    void measure(const Key& key, Tail& tail) const;
    std::optional<Slice> nextOf(const std::string& folder, size_t maxBytes);
    std::vector<std::byte> read(const Key& key, Tail& tail, size_t maxBytes) const;

    std::string m_runDir;
    std::map<Key, Tail> m_tails;
    /// By source and attempt: the number of the newest cursor.
    std::map<std::string, std::map<int, int>> m_begins;
    std::map<std::string, std::string> m_lastServed; ///< by folder: the source whose turn it was
};

} // namespace rm
