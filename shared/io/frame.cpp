// SPDX-License-Identifier: Apache-2.0
#include "shared/io/frame.h"

#include "shared/enforce.h"
#include "shared/io/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <utility>

namespace rm {

namespace {

uint64_t checksum(std::span<const std::byte> payload) {
    return XXH3_64bits(payload.data(), payload.size());
}

Error corruptFrame(uint64_t offset, const std::string& cause) {
    return {ErrorCode::kCorrupt, "frame at byte " + std::to_string(offset) + ": " + cause};
}

// Limits the search for frames behind all damage of a file, as a hostile file may consist of
// lengths alone.
constexpr size_t kSearchBudget = 256 * kMaxRecord;

/// The length in the frame that begins `bytes`; nullopt: no frame has such a length.
std::optional<size_t> payloadLength(std::span<const std::byte> bytes) {
    const auto length = loadInt<uint32_t>(bytes);
    return length > 0 && length <= kMaxRecord ? std::optional<size_t>(length) : std::nullopt;
}

bool isRightFrame(std::span<const std::byte> bytes, size_t length) {
    return loadInt<uint64_t>(bytes.subspan(4)) == checksum(bytes.subspan(kFrameHeader, length));
}

} // namespace

void appendFrame(std::vector<std::byte>& out, std::span<const std::byte> payload) {
    RM_ENFORCE(!payload.empty() && payload.size() <= kMaxRecord);
    appendInt(out, uint32_t(payload.size()));
    appendInt(out, uint64_t(checksum(payload)));
    out.insert(out.end(), payload.begin(), payload.end());
}

void FrameScanner::feed(std::span<const std::byte> bytes) {
    if (m_error && m_onDamage == OnDamage::kEnd)
        return;
    m_buffer.erase(m_buffer.begin(), m_buffer.begin() + std::ptrdiff_t(m_head));
    m_head = 0;
    m_buffer.insert(m_buffer.end(), bytes.begin(), bytes.end());
}

Result<std::optional<std::span<const std::byte>>> FrameScanner::next() {
    for (;;) {
        if (m_error && m_onDamage == OnDamage::kEnd)
            return tl::unexpected(*m_error);
        if (m_error && !findNextFrame())
            return std::nullopt;
        const auto rest = std::span<const std::byte>(m_buffer).subspan(m_head);
        if (rest.size() < sizeof(uint32_t) || isTornOff(rest))
            return std::nullopt;
        const std::optional<size_t> length = payloadLength(rest);
        const bool isWhole = length && rest.size() >= kFrameHeader + *length;
        if (length && !isWhole && !m_isFinished)
            return std::nullopt;
        if (isWhole && isRightFrame(rest, *length)) {
            m_head += kFrameHeader + *length;
            m_consumed += kFrameHeader + *length;
            return rest.subspan(kFrameHeader, *length);
        }
        m_error = corruptFrame(m_consumed, isWhole  ? "wrong checksum"
                                           : length ? "its end is missing"
                                                    : "impossible length " +
                                                          std::to_string(loadInt<uint32_t>(rest)));
        if (length && !isWhole && !findNextFrame()) {
            m_error.reset(); // torn off, as by a crash
            return std::nullopt;
        }
    }
}

/// Zeros are what a power cut leaves of bytes that never reached the disk.
bool FrameScanner::isTornOff(std::span<const std::byte> rest) const {
    return m_isFinished && std::ranges::all_of(rest, [](std::byte b) { return b == std::byte{0}; });
}

void FrameScanner::finish() {
    m_isFinished = true;
    if (m_onDamage == OnDamage::kSkip && m_dropped == 0 &&
        isTornOff(std::span<const std::byte>(m_buffer).subspan(m_head)))
        m_error.reset();
}

std::vector<LostBytes> FrameScanner::takeLost() {
    return std::exchange(m_lost, {});
}

/// Moves to the next whole frame in the buffer. A frame of which only a part has come is not taken
/// for one, but stays in the buffer.
bool FrameScanner::findNextFrame() {
    const auto rest = std::span<const std::byte>(m_buffer).subspan(m_head);
    for (size_t at = m_dropped ? 0 : 1; at + kFrameHeader < rest.size(); ++at) {
        const auto candidate = rest.subspan(at);
        const std::optional<size_t> length = payloadLength(candidate);
        if (!length || kFrameHeader + *length > candidate.size())
            continue;
        m_hashed += *length;
        if (m_hashed > kSearchBudget)
            break;
        if (!isRightFrame(candidate, *length))
            continue;
        m_lost.push_back({m_consumed, m_dropped + at, m_error->message});
        m_consumed += m_dropped + at;
        m_head += at;
        m_dropped = 0;
        m_error.reset();
        return true;
    }
    const size_t keep = kFrameHeader + kMaxRecord;
    if (rest.size() > keep) {
        m_dropped += rest.size() - keep;
        m_head += rest.size() - keep;
    }
    return false;
}

} // namespace rm
