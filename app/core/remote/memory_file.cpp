// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/memory_file.h"

#include "app/core/findings/text.h"
#include "shared/return_if_error.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

namespace rm {

MemoryFile::MemoryFile(const char* name)
    : m_file(::memfd_create(name, MFD_CLOEXEC)) {}

std::string MemoryFile::path() const {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(m_file.get());
}

Result<void> MemoryFile::write(std::string_view text) {
    if (!m_file)
        return fail(ErrorCode::kUnavailable,
                    say("ssh.write-file", {{"file", path()}}) + ": too many files are open");
    if (::ftruncate(m_file.get(), 0) != 0 || ::lseek(m_file.get(), 0, SEEK_SET) != 0)
        return failErrno(say("ssh.write-file", {{"file", path()}}), errno);
    return writeAll(m_file.get(), std::as_bytes(std::span(text)), path());
}

std::string MemoryFile::tail(size_t most) const {
    const off_t size = m_file ? ::lseek(m_file.get(), 0, SEEK_END) : 0;
    std::string text(std::min(most, static_cast<size_t>(std::max<off_t>(size, 0))), '\0');
    const ssize_t read =
        ::pread(m_file.get(), text.data(), text.size(), size - static_cast<off_t>(text.size()));
    text.resize(static_cast<size_t>(std::max<ssize_t>(read, 0)));
    return text;
}

} // namespace rm
