// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_link.h"

#include "app/core/findings/text.h"

#include <libssh/server.h> // ssh_send_keepalive(), which is of both sides
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace rm {

using std::chrono::milliseconds;

namespace {

std::chrono::nanoseconds sinceBoot() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

} // namespace

SshLink::SshLink()
    : m_session(ssh_new())
    , m_lastHeard(sinceBoot()) {
    if (m_session == nullptr)
        qFatal("make an SSH session: out of memory");
    ssh_set_blocking(m_session, 0);
    ssh_set_counters(m_session, &m_carried, nullptr);
}

SshLink::~SshLink() {
    if (m_event != nullptr) {
        ssh_event_remove_session(m_event, m_session);
        ssh_event_free(m_event);
    }
    // libssh 0.10 closes no socket that it was given when it says good-bye, unless it forgets that.
    ssh_options_set(m_session, SSH_OPTIONS_FD, nullptr);
    if (ssh_is_connected(m_session) != 0)
        ssh_disconnect(m_session);
    ssh_free(m_session);
}

SshLink::Turn::Turn(SshLink& link)
    : m_link(link) {
    m_link.m_turn.lock();
}

SshLink::Turn::~Turn() {
    m_link.notifyOthers();
    m_link.m_turn.unlock();
}

/// What this turn took from the socket may be for channels of theirs, and lies in libssh now.
void SshLink::notifyOthers() {
    const bool hasHeard = std::exchange(m_heardBytes, m_carried.in_bytes) != m_carried.in_bytes;
    if (hasHeard)
        m_lastHeard = sinceBoot();
    if (hasHeard || ssh_is_connected(m_session) == 0)
        for (Waker* waiting : m_waiting)
            waiting->wake();
}

bool SshLink::seemsOpen() {
    constexpr std::chrono::seconds kLongestSilence{30};
    const Turn turn(*this);
    pump(); // an end that has arrived is seen by this alone
    notifyOthers();
    return ssh_is_connected(m_session) != 0 && sinceBoot() - m_lastHeard < kLongestSilence;
}

bool SshLink::hasUnsentBytes() {
    const bool has = (ssh_get_status(m_session) & SSH_WRITE_PENDING) != 0;
    m_timesEmptied += has ? 0 : 1;
    return has;
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

void SshLink::awaitFirstAnswer(const Patience& patience) {
    const auto heard = m_carried.in_bytes;
    askForAnswer();
    const auto answer = drive(
        [&] {
            pump();
            return m_carried.in_bytes == heard && ssh_is_connected(m_session) != 0 ? SSH_AGAIN
                                                                                   : SSH_OK;
        },
        SSH_AGAIN, {}, patience);
    m_answers = answer.has_value();
}

// TCP alone would find out after 15 minutes, or never where nothing is sent, and knows nothing of
// what is behind a proxy. So a silent server is asked: it answers while its programs compute.
Result<void> SshLink::checkAlive(const std::string& attempt) {
    using Verdict = SignOfLife::Verdict;
    if (!m_answers)
        return {};
    const auto verdict = m_signOfLife.look(std::chrono::steady_clock::now(), m_carried.in_bytes,
                                           m_carried.out_bytes);
    if (verdict == Verdict::kGone)
        return failAs(attempt, {ErrorCode::kUnavailable, say("ssh.silent")});
    if (verdict == Verdict::kAsk)
        askForAnswer();
    return {};
}

// libssh keeps one such request at a time, and a call that finds the last one answered only takes
// note of that.
void SshLink::askForAnswer() {
    const auto before = m_carried.out_bytes;
    ssh_send_keepalive(m_session);
    if (m_carried.out_bytes == before && !hasUnsentBytes())
        ssh_send_keepalive(m_session);
}

// A server keeps its next small packet back until the one before is acknowledged, and the kernel
// here would do that up to 40 ms later. Through a proxy there is no such option, nor need of it.
void SshLink::acknowledge() {
    const int yes = 1;
    ::setsockopt(ssh_get_fd(m_session), IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof yes);
}

void SshLink::wait(milliseconds timeout, int wakeFd) {
    const auto untilLook =
        std::chrono::ceil<milliseconds>(m_signOfLife.nextLook() - std::chrono::steady_clock::now());
    if (m_answers)
        timeout = std::min(timeout, std::max(untilLook, milliseconds(0)));
    sleep(timeout, wakeFd);
}

void SshLink::sleep(milliseconds timeout, int wakeFd) {
    acknowledge();
    const short writing = hasUnsentBytes() ? POLLOUT : 0;
    thread_local Waker waker;
    waker.clear();
    std::array<pollfd, 3> fds{{{ssh_get_fd(m_session), static_cast<short>(POLLIN | writing), 0},
                               {wakeFd, POLLIN, 0},
                               {waker.fd(), POLLIN, 0}}};
    notifyOthers();
    m_waiting.push_back(&waker);
    m_turn.unlock();
    ::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
    m_turn.lock();
    std::erase(m_waiting, &waker);
}

Result<void> SshLink::waitForTurn(const std::string& attempt,
                                  std::chrono::steady_clock::time_point deadline) {
    // A connect in progress and a stop make no descriptor readable, so wait only briefly.
    constexpr milliseconds kLook{20};
    if (std::chrono::steady_clock::now() >= deadline)
        return failAs(attempt, {ErrorCode::kUnavailable, say("ssh.no-answer")});
    sleep(kLook);
    return {};
}

bool SshLink::setHost(const std::string& name) {
    m_host = name;
    const bool isTaken = ssh_options_set(m_session, SSH_OPTIONS_HOST, name.c_str()) == SSH_OK;
    if (!isTaken) // so that it takes the other settings
        ssh_options_set(m_session, SSH_OPTIONS_HOST, "127.0.0.1");
    return isTaken;
}

void SshLink::setSocket(Descriptor socket) {
    constexpr int kMost = 0xffff; // that libssh keeps of a number
    if (socket.get() > kMost)
        qFatal("more than %d files are open", kMost);
    const int fd = socket.release();
    ssh_options_set(m_session, SSH_OPTIONS_FD, &fd);
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
    return "ssh " + (user.empty() ? "" : user + '@') + m_host + ':' + std::to_string(port());
}

} // namespace rm
