// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/header.h"

#include "shared/io/bytes.h"
#include "shared/io/descriptor.h"
#include "shared/journal/journal.h"
#include "shared/return_if_error.h"

#include <algorithm>

namespace rm {

namespace {

constexpr char kMagic[] = "RMJOURNL";
// Bounds the search for frames in a tail; an accidental candidate costs at most kMaxRecord.
constexpr size_t kSearchBudget = 64 * kMaxRecord;

bool allZero(std::span<const std::byte> bytes) {
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

bool beginsWithFrame(std::span<const std::byte> bytes) {
    FrameScanner scanner;
    scanner.feed(bytes);
    const auto payload = scanner.next();
    return payload && *payload;
}

size_t plausibleFrame(std::span<const std::byte> bytes) {
    const size_t length = loadInt<uint32_t>(bytes);
    const bool fits = length > 0 && length <= kMaxRecord && kFrameHeader + length <= bytes.size();
    return fits ? kFrameHeader + length : 0;
}

bool containsFrame(std::span<const std::byte> bytes) {
    size_t searched = 0;
    for (size_t at = 1; at + kFrameHeader < bytes.size() && searched < kSearchBudget; ++at) {
        const size_t frame = plausibleFrame(bytes.subspan(at));
        searched += frame;
        if (frame > 0 && beginsWithFrame(bytes.subspan(at, frame)))
            return true;
    }
    return false;
}

tl::unexpected<Error> damaged(const std::string& path, const Error& cause) {
    return fail(ErrorCode::kCorrupt, "read " + path + ": " + cause.message);
}

// The header is the first thing written, so a file shorter than it holds its front or nothing.
Result<uint64_t> endOfShortFile(std::span<const std::byte> bytes, const std::string& path) {
    const auto header = journalHeader();
    if (allZero(bytes) || std::ranges::equal(bytes, std::span(header).first(bytes.size())))
        return uint64_t{0};
    return fail(ErrorCode::kCorrupt, "read " + path + ": not a journal");
}

// Keeps the bytes that are not in whole frames yet, to judge them at the end.
class EndFinder {
public:
    Result<void> feed(std::span<const std::byte> bytes) {
        m_rest.insert(m_rest.end(), bytes.begin(), bytes.end());
        if (m_error)
            return onlyZerosAfterError();
        m_frames.feed(bytes);
        auto payload = m_frames.next();
        while (payload && *payload)
            payload = m_frames.next();
        dropWholeFrames();
        if (!payload)
            m_error = payload.error();
        return onlyZerosAfterError();
    }

    Result<uint64_t> end() const {
        if (allZero(m_rest) || (!m_error && isTornTail(m_rest)))
            return m_frames.consumed();
        return tl::unexpected(m_error.value_or(
            Error{ErrorCode::kCorrupt,
                  "frame at byte " + std::to_string(m_frames.consumed()) + ": wrong length"}));
    }

private:
    void dropWholeFrames() {
        const uint64_t whole = m_frames.consumed() - m_start;
        m_rest.erase(m_rest.begin(), m_rest.begin() + std::ptrdiff_t(whole));
        m_start = m_frames.consumed();
    }

    // A power cut leaves zeros where data never arrived; anything else is damage, at once.
    Result<void> onlyZerosAfterError() const {
        if (m_error && !allZero(m_rest))
            return tl::unexpected(*m_error);
        return {};
    }

    FrameScanner m_frames{kJournalHeader};
    uint64_t m_start = kJournalHeader;
    std::vector<std::byte> m_rest;
    std::optional<Error> m_error;
};

} // namespace

std::vector<std::byte> journalHeader() {
    const auto magic = std::as_bytes(std::span(kMagic, 8));
    std::vector<std::byte> header(magic.begin(), magic.end());
    appendInt(header, kJournalVersion);
    appendInt(header, uint32_t{0});
    return header;
}

Result<void> checkJournalHeader(std::span<const std::byte> header, const std::string& name) {
    const auto expected = journalHeader();
    if (!std::ranges::equal(header.first(8), std::span(expected).first(8)))
        return fail(ErrorCode::kCorrupt, "read " + name + ": not a journal");
    const auto version = loadInt<uint32_t>(header.subspan(8));
    if (version > kJournalVersion)
        return fail(ErrorCode::kTooNew, "read " + name + ": journal version " +
                                            std::to_string(version) +
                                            " is of a newer release; this one reads up to " +
                                            std::to_string(kJournalVersion));
    if (!std::ranges::equal(header, expected))
        return fail(ErrorCode::kCorrupt, "read " + name + ": damaged journal header");
    return {};
}

bool isTornTail(std::span<const std::byte> rest) {
    return allZero(rest) || !containsFrame(rest);
}

Result<uint64_t> findJournalEnd(int fd, const std::string& path) {
    std::vector<std::byte> block(kJournalReadBlock);
    auto got = readSome(fd, std::span(block).first(kJournalHeader), path);
    if (!got)
        return tl::unexpected(got.error());
    const auto header = std::span<const std::byte>(block).first(*got);
    if (*got < kJournalHeader || allZero(header))
        return endOfShortFile(header, path);
    RM_RETURN_IF_ERROR(checkJournalHeader(header, path));
    EndFinder finder;
    for (;;) {
        got = readSome(fd, block, path);
        if (!got)
            return tl::unexpected(got.error());
        if (auto fed = finder.feed(std::span(block).first(*got)); !fed)
            return damaged(path, fed.error());
        if (*got < block.size())
            break;
    }
    auto end = finder.end();
    return end ? end : damaged(path, end.error());
}

} // namespace rm
