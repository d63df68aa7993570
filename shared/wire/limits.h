// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace rm {

/// Limits of one message; a decoder refuses more before it copies anything.
inline constexpr size_t kMaxTables = 4096; ///< cursors of an Attach, ranks of a RunState
inline constexpr size_t kMaxArguments = 64;
inline constexpr size_t kMaxArgument = 4096; ///< bytes of a name or a value

} // namespace rm
