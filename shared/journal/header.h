// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rm {

/// Bytes of a journal that are read at once.
inline constexpr size_t kJournalReadBlock = 256 * 1024;

/// The 16 bytes with which a journal begins.
std::vector<std::byte> journalHeader();

/// kCorrupt or kTooNew when `header`, kJournalHeader bytes, is not one that we read.
Result<void> checkJournalHeader(std::span<const std::byte> header, const std::string& name);

/// Offset behind the last whole record of an open journal, 0 when not even the header is whole.
/// kCorrupt when what follows is more than a torn tail.
Result<uint64_t> findJournalEnd(int fd, const std::string& path);

/// Whether `rest`, the bytes from the last whole record to the end of the file, can be what a
/// crash left: the front of one frame, or zeros. False when whole frames follow.
bool isTornTail(std::span<const std::byte> rest);

} // namespace rm
