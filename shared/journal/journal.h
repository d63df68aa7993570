// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/frame.h"
#include "shared/journal/records.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A journal file is 16 bytes of header (magic "RMJOURNL", u32 version, u32 zero) and frames.
inline constexpr size_t kJournalHeader = 16;
inline constexpr uint32_t kJournalVersion = 1;

/// Bytes after which a journal goes on in another segment.
inline constexpr uint64_t kSegmentBytes = 32u << 20;

/// Appends records to one file at a time, whose only writer it is. Not thread-safe.
class JournalWriter {
public:
    /// Begins a new segment (segment.h) of the journal `source` in `folder`, and later the next
    /// ones. kUnavailable while another process writes that journal.
    static Result<JournalWriter> begin(const std::string& folder, const std::string& source,
                                       int attempt, uint64_t segmentBytes = kSegmentBytes);

    /// One file without segments: creates it or continues after its last whole record (a torn tail
    /// is cut off). kCorrupt with file and offset if it is damaged before the end; the file is then
    /// not changed. kUnavailable while another process writes the file.
    static Result<JournalWriter> open(const std::string& path);

    JournalWriter(JournalWriter&&) noexcept;
    JournalWriter& operator=(JournalWriter&&) noexcept;
    ~JournalWriter();

    /// Buffers a record. Infallible.
    void append(const Record& record);

    /// Hands the buffer to the kernel with one write: it then survives a crash of this process, not
    /// of the machine. On error the unwritten rest stays buffered for the next flush(), so that
    /// writing resumes when a full disk has room again.
    Result<void> flush();

    /// flush() and fdatasync().
    Result<void> sync();

    /// From now on a thread calls fdatasync() every kSyncMs while something is written, so that a
    /// power cut costs no more than that. It never delays the caller.
    void keepSynced();
    static constexpr int64_t kSyncMs = 3000;

private:
    JournalWriter();
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Turns the bytes of one journal, fed in order from a cursor, into records. Not thread-safe.
class JournalScanner {
public:
    /// `cursor` is 0 or what cursor() gave; `name` is for messages.
    JournalScanner(std::string name, uint64_t cursor);

    void feed(std::span<const std::byte> bytes);

    /// Next record; nullopt: needs more bytes. Records of unknown type are skipped and counted,
    /// damage as takeLost() says. An error is final: it is no journal, or one of a newer release.
    Result<std::optional<Record>> next();

    /// No more bytes will come. Call next() afterwards.
    void finish() { m_frames.finish(); }

    /// The damaged bytes that next() has left out since the last call.
    std::vector<LostBytes> takeLost();
    /// The damage behind which no record has been found (yet).
    const std::optional<Error>& damage() const { return m_frames.damage(); }

    /// Where to continue: offset of the first byte not yet returned by next(), within the file.
    uint64_t cursor() const;
    uint64_t skipped() const { return m_skipped; }

private:
    void takeHeader();

    std::string m_name;
    FrameScanner m_frames;
    std::vector<std::byte> m_header;
    bool m_headerSeen;
    uint64_t m_skipped = 0;
    std::vector<LostBytes> m_refused; ///< frames that are whole, but no record
    std::optional<Error> m_error;
};

/// A journal in the run directory with CommandApplied of all attempts again: rank 0 writes it for
/// the agent, which then need not read rank 0's journal.
inline constexpr const char* kAppliedJournal = "applied.rmj";

/// Reads a whole journal file; a torn tail is not an error. kCorrupt with file and offset if
/// anything in it is damaged.
Result<std::vector<Record>> readJournal(const std::string& path);

/// readJournal() of all segments of a journal, in order.
Result<std::vector<Record>> readSegments(const std::string& folder, const std::string& source);

} // namespace rm
