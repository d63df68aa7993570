// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/journal.h"

#include "shared/io/descriptor.h"
#include "shared/journal/header.h"
#include "shared/return_if_error.h"

#include <fcntl.h>

#include <cstdio>

namespace rm {

namespace {

std::string numbered(const char* format, int number) {
    char text[64];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

} // namespace

JournalScanner::JournalScanner(std::string name, uint64_t cursor)
    : m_name(std::move(name))
    , m_frames(std::max<uint64_t>(cursor, kJournalHeader))
    , m_headerSeen(cursor >= kJournalHeader) {
    if (cursor > 0 && !m_headerSeen)
        m_error =
            Error{ErrorCode::kInvalid, "read " + m_name + ": a cursor of " +
                                           std::to_string(cursor) + " lies within the header"};
}

void JournalScanner::feed(std::span<const std::byte> bytes) {
    if (m_error)
        return;
    if (!m_headerSeen) {
        const size_t missing = std::min(bytes.size(), kJournalHeader - m_header.size());
        m_header.insert(m_header.end(), bytes.begin(), bytes.begin() + std::ptrdiff_t(missing));
        bytes = bytes.subspan(missing);
        takeHeader();
    }
    if (!bytes.empty())
        m_frames.feed(bytes);
}

void JournalScanner::takeHeader() {
    if (m_header.size() < kJournalHeader)
        return;
    m_headerSeen = true;
    if (auto known = checkJournalHeader(m_header, m_name); !known)
        m_error = known.error();
}

Result<std::optional<Record>> JournalScanner::next() {
    while (!m_error) {
        auto payload = m_frames.next();
        if (payload && !*payload)
            return std::nullopt;
        auto record = payload.and_then([](const auto& bytes) { return decodeRecord(*bytes); });
        if (record)
            return std::move(*record);
        if (record.error().code == ErrorCode::kTooNew)
            ++m_skipped;
        else
            m_error = Error{record.error().code, "read " + m_name + " before byte " +
                                                     std::to_string(cursor()) + ": " +
                                                     record.error().message};
    }
    return tl::unexpected(*m_error);
}

uint64_t JournalScanner::cursor() const {
    return m_headerSeen ? m_frames.consumed() : 0;
}

Result<std::vector<Record>> readJournal(const std::string& path) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, O_RDONLY));
    JournalScanner scanner(path, 0);
    std::vector<Record> records;
    std::vector<std::byte> block(kJournalReadBlock);
    for (;;) {
        RM_ASSIGN_OR_RETURN(const auto got, readSome(file.get(), block, path));
        scanner.feed(std::span(block).first(got));
        auto record = scanner.next();
        for (; record && *record; record = scanner.next())
            records.push_back(std::move(**record));
        if (!record)
            return tl::unexpected(record.error());
        if (got < block.size())
            return records;
    }
}

std::string rankJournalName(int rank) {
    return numbered("rank-%05d.rmj", rank);
}
std::string nodeJournalName(int nodeIndex) {
    return numbered("node-%05d.rmj", nodeIndex);
}
std::string rankLogName(int rank) {
    return numbered("rank-%05d.log", rank);
}
std::string boardName(int rank) {
    return numbered("rank-%05d", rank);
}

} // namespace rm
