// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace rm {

/// Where /proc, /sys and /etc are looked up; a test gives a recorded tree.
struct SysRoot {
    std::string prefix; ///< empty: this machine

    std::string path(const std::string& absolute) const { return prefix + absolute; }
    /// The whole file, empty when it cannot be read.
    std::string text(const std::string& absolute) const;
    /// The first line, trimmed.
    std::string line(const std::string& absolute) const;
};

} // namespace rm
