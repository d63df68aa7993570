// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace rm {

/// Limits of one message; a decoder refuses more before it copies anything.
inline constexpr size_t kMaxTables = 4096; ///< cursors of an Attach, ranks of a RunState
inline constexpr size_t kMaxArguments = 64;
inline constexpr size_t kMaxArgument = 4096; ///< bytes of a name or a value

/// Of a rank's log no more bytes than these wait to be sent, and no more are stored: what a rank
/// prints must not keep back what it measures, or a command.
inline constexpr uint64_t kMostLog = uint64_t{16} << 20;

} // namespace rm
