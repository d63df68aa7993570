// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/io/descriptor.h"

#include <string>
#include <string_view>

namespace rm {

/// A file for libraries and programs that take nothing but a path. It lies in memory, so that
/// nothing of it is left where this process is killed.
class MemoryFile {
public:
    explicit MemoryFile(const char* name); ///< for people who look into /proc

    /// Valid for this process and for programs that it starts, of the same user.
    std::string path() const;
    /// Replaces what it holds. kUnavailable: there is no memory for it.
    Result<void> write(std::string_view text);
    /// The last `most` bytes of what it holds.
    std::string tail(size_t most) const;

private:
    Descriptor m_file;
};

} // namespace rm
