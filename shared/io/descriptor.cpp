// SPDX-License-Identifier: Apache-2.0
#include "shared/io/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace rm {

Descriptor::~Descriptor() {
    if (m_fd >= 0)
        ::close(m_fd);
}

Result<Descriptor> openFile(const std::string& path, int flags, unsigned mode) {
    int fd = -1;
    do
        fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return failErrno("open " + path, errno);
    return Descriptor(fd);
}

Result<size_t> readSome(int fd, std::span<std::byte> buffer, const std::string& path) {
    size_t done = 0;
    while (done < buffer.size()) {
        const ssize_t n = ::read(fd, buffer.data() + done, buffer.size() - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failErrno("read " + path, errno);
        if (n == 0)
            break;
        done += size_t(n);
    }
    return done;
}

Result<void> writeAll(int fd, std::span<const std::byte> bytes, const std::string& path,
                      size_t* written) {
    size_t done = 0;
    int error = 0;
    while (done < bytes.size() && error == 0) {
        const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
        if (n > 0)
            done += size_t(n);
        else if (n == 0)
            error = EIO;
        else if (errno != EINTR)
            error = errno;
    }
    if (written)
        *written = done;
    if (error != 0)
        return failErrno("write " + path, error);
    return {};
}

} // namespace rm
