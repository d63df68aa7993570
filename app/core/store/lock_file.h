// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

#include <string>
#include <utility>

namespace rm {

/// The lock file of a database.
std::string lockOf(const QString& database);

/// An advisory lock that dies with its process, kill -9 included. The file stays behind.
class LockFile {
public:
    /// kUnavailable with the holder's pid when another process has it. `what` is for the message.
    static Result<LockFile> take(const std::string& path, const std::string& what);

    /// Writes, after the pid, where the holder can be reached.
    Result<void> announce(const std::string& place) const;
    /// What the last holder announced; empty: nothing. That process may be gone.
    static std::string announced(const std::string& path);
    static bool isHeld(const std::string& path);

    LockFile(LockFile&& other) noexcept;
    LockFile& operator=(LockFile&& other) noexcept;
    ~LockFile();

private:
    LockFile(int descriptor, std::string path)
        : m_descriptor(descriptor)
        , m_path(std::move(path)) {}

    int m_descriptor;
    std::string m_path;
};

} // namespace rm
