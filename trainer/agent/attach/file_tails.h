// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/segment.h"
#include "shared/wire/messages.h"
#include "trainer/agent/posix/fd.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rm {

/// The journals and logs of a run directory as streams of slices from given cursors on. Reads no
/// more than is asked for. Not thread-safe.
class FileTails {
public:
    explicit FileTails(std::string runDir);

    /// Sets where to begin. Of a journal's segments of one attempt the newest with a cursor counts:
    /// what was written before it is not sent again. An attempt without a cursor that is older than
    /// all with one is known as a whole. Files without a cursor begin at 0. kInvalid: a file that
    /// is not replicated.
    Result<void> seek(const std::vector<FileCursor>& cursors);

    /// Looks for new files and new bytes. A journal that is shorter than what was sent is sent on
    /// once it has grown beyond that, a log from where it ends now; of a log of which more than
    /// kMostLog waits, only the last part.
    /// A file that cannot be read waits until it can be, and what comes behind it in its journal
    /// with it: a cursor in a later segment says that this one is known. stderr tells of it once.
    void refresh();

    /// The next bytes of some file, journals first, in a round robin; nullopt: everything that
    /// refresh() found has been returned. A journal's segments come in their order. A slice without
    /// bytes: the journal ends there, before what was sent of it.
    std::optional<Slice> next(size_t maxBytes);

private:
    struct Tail {
        Descriptor fd; ///< once something of it is sent
        uint64_t offset = 0;
        uint64_t size = 0;
        bool isOver = false;   ///< all of it is sent, and its writer has begun another file
        bool isUnread = false; ///< the last try to measure or read it failed
        bool isCut = false;    ///< a journal that is shorter than what was sent
        bool mustReportCut = false;
    };
    struct Key {
        std::string source; ///< "journal/rank-00003", or a log's name
        Segment segment;    ///< for a log: none
        auto operator<=>(const Key&) const = default;
        std::string file() const;
    };
    using Tails = std::map<Key, Tail>;

    static Key keyOf(const std::string& file);
    void findFiles(const std::string& folder);
    bool isSent(const Key& key) const;
    void measure(const Key& key, Tail& tail);
    Tails::iterator firstToSend(const std::string& folder, const std::string& behind);
    std::optional<Slice> nextOf(const std::string& folder, size_t maxBytes);
    std::vector<std::byte> read(const Key& key, Tail& tail, size_t maxBytes);
    void reportOnce(const std::string& path, const Error& why);

    std::string m_runDir;
    Tails m_tails;
    std::set<std::string> m_reported; ///< paths that could not be read, as stderr was told
    /// The number of the newest segment with a cursor, by source and attempt.
    std::map<std::string, std::map<int, int>> m_begins;
    std::map<std::string, std::string> m_lastServed; ///< by folder: the source whose turn it was
};

} // namespace rm
