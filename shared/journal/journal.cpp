// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/journal.h"

#include "shared/io/descriptor.h"
#include "shared/journal/header.h"
#include "shared/journal/segment.h"
#include "shared/return_if_error.h"

#include <fcntl.h>

#include <algorithm>
#include <iterator>

namespace rm {

JournalScanner::JournalScanner(std::string name, uint64_t cursor)
    : m_name(std::move(name))
    , m_frames(std::max<uint64_t>(cursor, kJournalHeader), OnDamage::kSkip)
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
        const auto payload = m_frames.next();
        if (!payload)
            return tl::unexpected(payload.error());
        if (!*payload)
            return std::nullopt;
        auto record = decodeRecord(**payload);
        if (record)
            return std::move(*record);
        if (record.error().code == ErrorCode::kTooNew)
            ++m_skipped;
        else
            m_refused.push_back({cursor() - kFrameHeader - (*payload)->size(),
                                 kFrameHeader + (*payload)->size(), record.error().message});
    }
    return tl::unexpected(*m_error);
}

std::vector<LostBytes> JournalScanner::takeLost() {
    std::vector<LostBytes> lost = m_frames.takeLost();
    lost.insert(lost.end(), m_refused.begin(), m_refused.end());
    m_refused.clear();
    return lost;
}

uint64_t JournalScanner::cursor() const {
    return m_headerSeen ? m_frames.consumed() : 0;
}

namespace {

Result<void> readTo(std::vector<Record>& records, JournalScanner& scanner,
                    const std::string& path) {
    auto record = scanner.next();
    for (; record && *record; record = scanner.next())
        records.push_back(std::move(**record));
    if (!record)
        return tl::unexpected(record.error());
    const std::vector<LostBytes> lost = scanner.takeLost();
    return lost.empty() ? Result<void>()
                        : fail(ErrorCode::kCorrupt, "read " + path + " at byte " +
                                                        std::to_string(lost.front().offset) + ": " +
                                                        lost.front().why);
}

} // namespace

Result<std::vector<Record>> readJournal(const std::string& path) {
    RM_ASSIGN_OR_RETURN(auto file, openFile(path, O_RDONLY));
    JournalScanner scanner(path, 0);
    std::vector<Record> records;
    std::vector<std::byte> block(kJournalReadBlock);
    for (size_t got = block.size(); got == block.size();) {
        RM_ASSIGN_OR_RETURN(got, readSome(file.get(), block, path));
        scanner.feed(std::span(block).first(got));
        RM_RETURN_IF_ERROR(readTo(records, scanner, path));
    }
    scanner.finish();
    RM_RETURN_IF_ERROR(readTo(records, scanner, path));
    if (scanner.damage())
        return failAs("read " + path, *scanner.damage());
    return records;
}

Result<std::vector<Record>> readSegments(const std::string& folder, const std::string& source) {
    std::vector<Record> records;
    for (const Segment& segment : listSegments(folder, source)) {
        RM_ASSIGN_OR_RETURN(auto more, readJournal(folder + "/" + segment.fileName()));
        records.insert(records.end(), std::make_move_iterator(more.begin()),
                       std::make_move_iterator(more.end()));
    }
    return records;
}

} // namespace rm
