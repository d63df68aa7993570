// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/host.h"

#include <QtGlobal>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace rm {

Waker::Waker() {
    m_fd = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (m_fd < 0)
        qFatal("make what wakes a worker: %s", std::strerror(errno));
}

Waker::~Waker() {
    ::close(m_fd);
}

void Waker::wake() {
    // It fails only where it is raised already, as often as can be counted.
    (void)::eventfd_write(m_fd, 1);
}

bool Waker::isRaised() const {
    pollfd fd{m_fd, POLLIN, 0};
    return ::poll(&fd, 1, 0) > 0;
}

void Waker::clear() {
    eventfd_t times = 0;
    (void)::eventfd_read(m_fd, &times);
}

} // namespace rm
