// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rm {

/// One line on stderr that tells how far something is: written over and over on a terminal, else a
/// new one every few seconds.
class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine(); ///< clears it on a terminal

    /// Cheap: shows it only when the last one is old enough.
    void show(const std::string& text);

    double seconds() const; ///< since it was made

private:
    bool m_terminal;
    int64_t m_began;
    int64_t m_shown;
    bool m_dirty = false;
};

} // namespace rm
