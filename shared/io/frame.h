// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rm {

/// The frame of journals and wire alike: u32 length | u64 XXH3-64 of the payload | payload,
/// little-endian, no padding. See shared/journal/FORMAT.md.
inline constexpr size_t kFrameHeader = 12;
inline constexpr size_t kMaxRecord = 1 << 20; ///< payload bytes

/// Appends one frame to `out`. `payload` is at most kMaxRecord (enforced).
void appendFrame(std::vector<std::byte>& out, std::span<const std::byte> payload);

/// Cuts a growing stream of bytes into payloads. Not thread-safe.
class FrameScanner {
public:
    /// `offset` is where in the file or stream the first fed byte lies; errors name it.
    explicit FrameScanner(uint64_t offset = 0)
        : m_consumed(offset) {}

    /// Takes more bytes. Cheap; copies.
    void feed(std::span<const std::byte> bytes);

    /// The next whole payload, nullopt when more bytes are needed, or kCorrupt (bad checksum or
    /// length; final: the scanner stays in that state). The span lives until the next feed().
    Result<std::optional<std::span<const std::byte>>> next();

    /// Offset just behind the last payload that next() gave: a cursor.
    uint64_t consumed() const { return m_consumed; }

private:
    std::vector<std::byte> m_buffer;
    size_t m_head = 0;
    uint64_t m_consumed;
    std::optional<Error> m_error;
};

} // namespace rm
