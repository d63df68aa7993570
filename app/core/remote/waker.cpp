// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host.h"

#include <QtGlobal>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace rm {

Waker::Waker() {
    std::array<int, 2> ends{-1, -1};
    if (::pipe(ends.data()) != 0)
        qFatal("make a pipe to wake a worker: %s", std::strerror(errno));
    for (const int end : ends) {
        ::fcntl(end, F_SETFD, FD_CLOEXEC);
        ::fcntl(end, F_SETFL, O_NONBLOCK);
    }
    m_readFd = ends[0];
    m_writeFd = ends[1];
}

Waker::~Waker() {
    ::close(m_readFd);
    ::close(m_writeFd);
}

void Waker::wake() {
    const char byte = 1;
    // A failed write is fine: a full pipe is readable already.
    while (::write(m_writeFd, &byte, 1) < 0 && errno == EINTR) {
    }
}

bool Waker::isRaised() const {
    pollfd fd{m_readFd, POLLIN, 0};
    return ::poll(&fd, 1, 0) > 0;
}

void Waker::clear() {
    std::array<char, 64> sink;
    for (;;) {
        const auto got = ::read(m_readFd, sink.data(), sink.size());
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return;
    }
}

} // namespace rm
