// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace rm {

/// Finds where a program's own output begins in one of its streams. A login shell first runs its
/// startup files (~/.bashrc), and what they print is skipped.
class StartMark {
public:
    static constexpr size_t kMostBefore = 64 * 1024;

    /// Shell commands that write the mark to stdout and stderr; without a single quote.
    static std::string commands();

    /// The part of `bytes` that the program wrote. kCorrupt: no mark within kMostBefore bytes.
    Result<std::string_view> skip(std::string_view bytes);

    bool isSeen() const { return m_isSeen; }
    /// What came before the mark, or everything so far while the mark has not come.
    const std::string& before() const { return m_before; }

private:
    std::string m_before;
    bool m_isSeen = false;
};

} // namespace rm
