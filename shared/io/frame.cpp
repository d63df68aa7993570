// SPDX-License-Identifier: Apache-2.0
#include "shared/io/frame.h"

#include "shared/enforce.h"
#include "shared/io/bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace rm {

namespace {

uint64_t checksum(std::span<const std::byte> payload) {
    return XXH3_64bits(payload.data(), payload.size());
}

Error corruptFrame(uint64_t offset, const std::string& cause) {
    return {ErrorCode::kCorrupt, "frame at byte " + std::to_string(offset) + ": " + cause};
}

} // namespace

void appendFrame(std::vector<std::byte>& out, std::span<const std::byte> payload) {
    RM_ENFORCE(!payload.empty() && payload.size() <= kMaxRecord);
    appendInt(out, uint32_t(payload.size()));
    appendInt(out, uint64_t(checksum(payload)));
    out.insert(out.end(), payload.begin(), payload.end());
}

void FrameScanner::feed(std::span<const std::byte> bytes) {
    if (m_error)
        return;
    m_buffer.erase(m_buffer.begin(), m_buffer.begin() + std::ptrdiff_t(m_head));
    m_head = 0;
    m_buffer.insert(m_buffer.end(), bytes.begin(), bytes.end());
}

Result<std::optional<std::span<const std::byte>>> FrameScanner::next() {
    if (m_error)
        return tl::unexpected(*m_error);
    const auto rest = std::span<const std::byte>(m_buffer).subspan(m_head);
    if (rest.size() < sizeof(uint32_t))
        return std::nullopt;
    const auto length = loadInt<uint32_t>(rest);
    if (length == 0 || length > kMaxRecord)
        m_error = corruptFrame(m_consumed, "impossible length " + std::to_string(length));
    else if (rest.size() < kFrameHeader + length)
        return std::nullopt;
    else if (loadInt<uint64_t>(rest.subspan(4)) != checksum(rest.subspan(kFrameHeader, length)))
        m_error = corruptFrame(m_consumed, "wrong checksum");
    if (m_error)
        return tl::unexpected(*m_error);
    m_head += kFrameHeader + length;
    m_consumed += kFrameHeader + length;
    return rest.subspan(kFrameHeader, length);
}

} // namespace rm
