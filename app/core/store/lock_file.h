// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <string>

namespace rm {

/// An advisory lock that dies with its process, kill -9 included. The file stays behind.
class LockFile {
public:
    /// kUnavailable with the holder's pid when another process has it. `what` is for the message.
    static Result<LockFile> take(const std::string& path, const std::string& what);

    LockFile(LockFile&& other) noexcept;
    LockFile& operator=(LockFile&& other) noexcept;
    ~LockFile();

private:
    explicit LockFile(int descriptor)
        : m_descriptor(descriptor) {}

    int m_descriptor;
};

} // namespace rm
