// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rm {

/// The frame of journals and wire alike: u32 length | u64 XXH3-64 of the payload | payload,
/// little-endian, no padding. See shared/journal/FORMAT.md.
inline constexpr size_t kFrameHeader = 12;
inline constexpr size_t kMaxRecord = 1 << 20; ///< payload bytes

/// Appends one frame to `out`. `payload` is at most kMaxRecord (enforced).
void appendFrame(std::vector<std::byte>& out, std::span<const std::byte> payload);

/// Bytes of a file that hold no whole frame.
struct LostBytes {
    uint64_t offset = 0;
    uint64_t bytes = 0;
    std::string why;
    bool operator==(const LostBytes&) const = default;
};

/// The reaction of a scanner to a wrong checksum or length.
enum class OnDamage {
    kEnd,  ///< next() fails from then on: whoever sent that cannot be trusted
    kSkip, ///< next() goes on with the next whole frame behind it; takeLost() tells
};

/// Cuts a growing stream of bytes into payloads. Not thread-safe.
class FrameScanner {
public:
    /// `offset` is where in the file or stream the first fed byte lies; errors name it.
    explicit FrameScanner(uint64_t offset = 0, OnDamage onDamage = OnDamage::kEnd)
        : m_onDamage(onDamage)
        , m_consumed(offset) {}

    /// Takes more bytes. Cheap; copies.
    void feed(std::span<const std::byte> bytes);

    /// The next whole payload, nullopt when more bytes are needed, or, with kEnd, kCorrupt (bad
    /// checksum or length; final). The span lives until the next call of feed() or next().
    Result<std::optional<std::span<const std::byte>>> next();

    /// With kSkip: no more bytes will come, so that next() takes a frame whose end is missing for
    /// damage if whole frames lie behind its begin.
    void finish();

    /// The damage that next() has skipped since the last call.
    std::vector<LostBytes> takeLost();

    /// The damage behind which no frame has been found (yet).
    const std::optional<Error>& damage() const { return m_error; }

    /// Offset just behind the last payload that next() gave, or at a later frame's begin when
    /// damage was skipped: a cursor.
    uint64_t consumed() const { return m_consumed; }

private:
    bool findNextFrame();
    bool isTornOff(std::span<const std::byte> rest) const;

    OnDamage m_onDamage;
    std::vector<std::byte> m_buffer;
    size_t m_head = 0;
    uint64_t m_consumed;
    std::optional<Error> m_error;
    bool m_isFinished = false;
    uint64_t m_dropped = 0; ///< bytes of the damage that are not in the buffer any more
    size_t m_hashed = 0;    ///< bytes, in search of frames
    std::vector<LostBytes> m_lost;
};

} // namespace rm
