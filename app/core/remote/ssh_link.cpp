// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_link.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

namespace rm {

using std::chrono::milliseconds;

SshLink::SshLink()
    : m_session(ssh_new()) {
    if (m_session == nullptr)
        qFatal("make an SSH session: out of memory");
    ssh_set_blocking(m_session, 0);
}

SshLink::~SshLink() {
    m_owner.enforce();
    if (m_event != nullptr) {
        ssh_event_remove_session(m_event, m_session);
        ssh_event_free(m_event);
    }
    if (ssh_is_connected(m_session) != 0)
        ssh_disconnect(m_session);
    ssh_free(m_session);
}

bool SshLink::hasUnsentBytes() const {
    return (ssh_get_status(m_session) & SSH_WRITE_PENDING) != 0;
}

// libssh's own reads stop looking at the socket once a channel has seen its end, while the exit
// code and other channels' bytes still lie there.
void SshLink::pump() {
    if (m_event == nullptr) {
        m_event = ssh_event_new();
        ssh_event_add_session(m_event, m_session);
    }
    ssh_event_dopoll(m_event, 0);
}

// A server keeps its next small packet back until the one before is acknowledged, and the kernel
// here would do that up to 40 ms later. Through a proxy there is no such option, nor need of it.
void SshLink::acknowledge() {
    const int yes = 1;
    ::setsockopt(ssh_get_fd(m_session), IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof yes);
}

void SshLink::wait(milliseconds timeout, int wakeFd) {
    acknowledge();
    const short writing = hasUnsentBytes() ? POLLOUT : 0;
    std::array<pollfd, 2> fds{
        {{ssh_get_fd(m_session), static_cast<short>(POLLIN | writing), 0}, {wakeFd, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
}

Result<void> SshLink::waitForTurn(const std::string& attempt,
                                  std::chrono::steady_clock::time_point deadline) {
    // A connect in progress and a stop make no descriptor readable, so wait only briefly.
    constexpr milliseconds kLook{20};
    if (std::chrono::steady_clock::now() >= deadline)
        return fail(ErrorCode::kUnavailable, attempt + ": no answer in time");
    wait(kLook);
    return {};
}

std::string SshLink::option(ssh_options_e which) const {
    char* value = nullptr;
    if (ssh_options_get(m_session, which, &value) != SSH_OK || value == nullptr)
        return {};
    std::string copy = value;
    ssh_string_free_char(value);
    return copy;
}

unsigned SshLink::port() const {
    unsigned port = 22;
    ssh_options_get_port(m_session, &port);
    return port;
}

std::string SshLink::where() const {
    const std::string user = option(SSH_OPTIONS_USER);
    return "ssh " + (user.empty() ? "" : user + '@') + option(SSH_OPTIONS_HOST) + ':' +
           std::to_string(port());
}

} // namespace rm
