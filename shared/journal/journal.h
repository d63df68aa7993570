// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/frame.h"
#include "shared/journal/records.h"

#include <memory>
#include <string>

namespace rm {

/// A journal file is 16 bytes of header (magic "RMJOURNL", u32 version, u32 zero) and frames.
inline constexpr size_t kJournalHeader = 16;
inline constexpr uint32_t kJournalVersion = 1;

/// Appends records to one file; the only writer of that file. Not thread-safe.
class JournalWriter {
public:
    /// Creates the file or continues after its last whole record (a torn tail is cut off). kCorrupt
    /// with file and offset if it is damaged before the end; the file is then not changed.
    /// kUnavailable while another process writes the file.
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

    /// Next record; nullopt: needs more bytes. Records of unknown type are skipped and counted.
    /// An error is final.
    Result<std::optional<Record>> next();

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
    std::optional<Error> m_error;
};

/// Reads a whole journal file; a torn tail is not an error.
Result<std::vector<Record>> readJournal(const std::string& path);

/// "rank-00003.rmj", "node-00001.rmj", "rank-00003.log", "rank-00003" (board).
std::string rankJournalName(int rank);
std::string nodeJournalName(int nodeIndex);
std::string rankLogName(int rank);
std::string boardName(int rank);

} // namespace rm
