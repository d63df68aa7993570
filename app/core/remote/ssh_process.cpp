// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_process.h"

#include "app/core/findings/text.h"
#include "app/core/remote/ssh_error.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

#include <poll.h>

#include <algorithm>
#include <array>

namespace rm {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kStartTimeout{15};
/// Limit for the startup files of the login shell.
constexpr seconds kShellTimeout{15};
/// In less time no startup file gives up waiting for input.
constexpr milliseconds kQuickShell{500};
/// A peer that takes no byte for so long is considered gone; TCP would notice after 15 minutes.
constexpr seconds kStall{60};
/// Limit for what a program prints while it is being written to.
constexpr size_t kMostPending = 64u << 20;

} // namespace

SshProcess::SshProcess(std::shared_ptr<SshLink> link, std::string name, std::stop_token stop)
    : m_link(std::move(link))
    , m_name(std::move(name))
    , m_stop(std::move(stop)) {
    const SshLink::Turn turn(*m_link);
    m_channel = ssh_channel_new(m_link->get());
    if (m_channel == nullptr)
        qFatal("make an SSH channel: out of memory");
    m_callbacks.userdata = this;
    m_callbacks.channel_exit_status_function = &SshProcess::onExitStatus;
    m_callbacks.channel_exit_signal_function = &SshProcess::onExitSignal;
    ssh_callbacks_init(&m_callbacks);
    ssh_set_channel_callbacks(m_channel, &m_callbacks);
}

SshProcess::~SshProcess() {
    m_owner.enforce();
    const SshLink::Turn turn(*m_link);
    ssh_remove_channel_callbacks(m_channel, &m_callbacks);
    if (ssh_channel_is_open(m_channel) != 0) {
        // A login shell whose startup files wait would go on waiting without us. The signal goes to
        // all that they started. OpenSSH from 7.9 on obeys, unless the login is root's.
        if (!m_outputMark.isSeen() && !m_ended)
            ssh_channel_request_send_signal(m_channel, "KILL");
        ssh_channel_close(m_channel);
    }
    ssh_channel_free(m_channel);
}

void SshProcess::onExitStatus(ssh_session, ssh_channel, int status, void* self) {
    static_cast<SshProcess*>(self)->m_exitStatus = status;
}

void SshProcess::onExitSignal(ssh_session, ssh_channel, const char* signal, int, const char*,
                              const char*, void* self) {
    static_cast<SshProcess*>(self)->m_exitSignal = signal;
}

std::string SshProcess::attempt(const char* phrase) const {
    return say(phrase, {{"program", m_name}, {"where", m_link->where()}});
}

tl::unexpected<Error> SshProcess::failed(const char* attempted, const std::string& why) const {
    return failAs(attempt(attempted), {ErrorCode::kUnavailable, why});
}

Result<void> SshProcess::begin(const std::string& commandLine) {
    const SshLink::Turn turn(*m_link);
    const std::string what = attempt("ssh.start");
    const Patience patience{Clock::now() + kStartTimeout, m_stop};
    auto answer = m_link->drive([this] { return ssh_channel_open_session(m_channel); }, SSH_AGAIN,
                                what, patience);
    m_wasRefused = answer && *answer != SSH_OK && ssh_is_connected(m_link->get()) != 0;
    if (answer && *answer == SSH_OK)
        answer =
            m_link->drive([&] { return ssh_channel_request_exec(m_channel, commandLine.c_str()); },
                          SSH_AGAIN, what, patience);
    if (!answer)
        return tl::unexpected(answer.error());
    if (*answer != SSH_OK)
        return tl::unexpected(sshError(*m_link, what));
    m_requested = Clock::now();
    m_begunBy = m_requested + kShellTimeout;
    return {};
}

/// The last line that the login shell wrote, of its errors if it has any, when it did not start the
/// program.
std::string SshProcess::lastLineOfShell() const {
    const std::string said = lastLine(withoutEscapes(m_outputMark.before()));
    const std::string complaint = lastLine(withoutEscapes(m_errorMark.before()));
    return complaint.empty() ? said : complaint;
}

/// Call it when no byte of the program has arrived.
Result<void> SshProcess::checkBegun() {
    if (m_outputMark.isSeen() || (!m_ended && Clock::now() < m_begunBy))
        return {};
    const Value said{"said", lastLineOfShell()};
    const Value limit{"seconds", std::to_string(kShellTimeout.count())};
    if (said.text.empty())
        return failed("ssh.start",
                      m_ended ? say("ssh.shell-ended") : say("ssh.shell-waits", {limit}));
    return failed("ssh.start", m_ended ? say("ssh.shell-ended-saying", {said})
                                       : say("ssh.shell-waits-saying", {limit, said}));
}

/// Holds back what the program is to read, as startup files of the login shell that read would take
/// it. Once they have come to the program soon without any input, later ones do as well, and get it
/// at once.
Result<void> SshProcess::awaitBegun() {
    if (m_link->shellReadsNothing())
        return {};
    while (!m_outputMark.isSeen() && !m_ended) {
        RM_RETURN_IF_ERROR(takeAll());
        RM_RETURN_IF_ERROR(checkBegun());
        if (!m_outputMark.isSeen() && !m_ended)
            RM_RETURN_IF_ERROR(waitForTurn(m_begunBy, "ssh.start"));
    }
    if (m_outputMark.isSeen() && Clock::now() - m_requested < kQuickShell)
        m_link->setShellReadsNothing();
    return {};
}

std::string SshProcess::errorText() const {
    return m_errorMark.isSeen() ? m_tail.text() : withoutEscapes(m_errorMark.before());
}

/// Sleeps until something arrives, but only briefly, as a stop does not wake the socket.
Result<void> SshProcess::waitForTurn(Clock::time_point deadline, const char* attempted) {
    constexpr milliseconds kLook{50};
    if (m_stop.stop_requested())
        return failCancelled(attempt(attempted));
    m_link->wait(std::min(timeLeft(deadline), kLook));
    return {};
}

/// Takes what has arrived out of libssh, which reopens the window for the peer.
Result<size_t> SshProcess::takePiece(bool ofErrors) {
    std::array<char, 32 * 1024> piece;
    const int got =
        ssh_channel_read_nonblocking(m_channel, piece.data(), piece.size(), ofErrors ? 1 : 0);
    if (got == SSH_ERROR)
        return tl::unexpected(sshError(*m_link, attempt("ssh.read-from")));
    if (got == SSH_EOF)
        m_ended = true;
    if (got <= 0)
        return 0u;
    const auto size = static_cast<size_t>(got);
    if (auto kept = keep({piece.data(), size}, ofErrors); !kept)
        return failAs(attempt("ssh.start"), kept.error());
    return size;
}

Result<void> SshProcess::keep(std::string_view piece, bool ofErrors) {
    RM_ASSIGN_OR_RETURN(const auto own, (ofErrors ? m_errorMark : m_outputMark).skip(piece));
    if (ofErrors) {
        m_tail.append(own);
    } else {
        const auto bytes = std::as_bytes(std::span(own));
        m_pending.insert(m_pending.end(), bytes.begin(), bytes.end());
    }
    return {};
}

Result<void> SshProcess::takeAll() {
    constexpr size_t kEnough = 1u << 20; // then the caller has its turn
    m_link->pump();
    RM_RETURN_IF_ERROR(m_link->checkAlive(attempt("ssh.run")));
    for (size_t taken = 0; taken < kEnough;) {
        const auto errors = takePiece(true);
        RM_ASSIGN_OR_RETURN(const auto output, errors ? takePiece(false) : errors);
        if (*errors + output == 0)
            return {};
        taken += *errors + output;
    }
    return {};
}

Result<HostProcess::Bytes> SshProcess::read(milliseconds timeout, const Waker* waker) {
    m_owner.enforce();
    const SshLink::Turn turn(*m_link);
    const auto deadline = Clock::now() + timeout;
    for (;;) {
        const auto taken = takeAll();
        if (!m_pending.empty())
            return Bytes{std::exchange(m_pending, {}), false};
        if (!taken)
            return tl::unexpected(taken.error());
        RM_RETURN_IF_ERROR(checkBegun());
        if (m_ended)
            return Bytes{{}, true};
        if ((waker && waker->isRaised()) || Clock::now() >= deadline)
            return Bytes{};
        const auto until = m_outputMark.isSeen() ? deadline : std::min(deadline, m_begunBy);
        m_link->wait(std::min(timeLeft(until), milliseconds(60'000)),
                     waker == nullptr ? -1 : waker->fd());
    }
}

/// 0: the window is closed.
Result<size_t> SshProcess::writePiece(std::span<const std::byte> bytes) {
    constexpr size_t kPiece = 32 * 1024;
    if (ssh_channel_is_open(m_channel) == 0 || ssh_channel_is_eof(m_channel) != 0) {
        m_ended = true;
        RM_RETURN_IF_ERROR(checkBegun());
        return failed("ssh.write-to", say("ssh.input-unread"));
    }
    const size_t window = ssh_channel_window_size(m_channel);
    const size_t size = std::min({bytes.size(), window, kPiece});
    if (size == 0)
        return 0u;
    const int sent = ssh_channel_write(m_channel, bytes.data(), static_cast<uint32_t>(size));
    if (sent < 0)
        return tl::unexpected(sshError(*m_link, attempt("ssh.write-to")));
    return static_cast<size_t>(sent);
}

Result<void> SshProcess::write(std::span<const std::byte> bytes) {
    m_owner.enforce();
    const SshLink::Turn turn(*m_link);
    RM_RETURN_IF_ERROR(awaitBegun());
    return handOn(bytes);
}

Result<void> SshProcess::handOn(std::span<const std::byte> bytes) {
    auto deadline = Clock::now() + kStall;
    uint64_t queued = m_link->timesEmptied();
    // The first piece does not wait for earlier bytes to go out, as another thread may always have
    // some on their way.
    bool isFirst = true;
    while (!bytes.empty() || !m_link->hasSent(queued)) {
        // Takes what the program prints meanwhile; otherwise both sides could wait for each other.
        RM_RETURN_IF_ERROR(takeAll());
        if (m_pending.size() > kMostPending)
            return failAs(attempt("ssh.write-to"),
                          {ErrorCode::kExhausted, say("ssh.prints-more-than-it-reads")});
        if (bytes.empty() && m_link->hasSent(queued))
            break;
        const bool mayWrite = !bytes.empty() && (isFirst || !m_link->hasUnsentBytes());
        RM_ASSIGN_OR_RETURN(const auto sent, mayWrite ? writePiece(bytes) : Result<size_t>(0u));
        if (sent > 0) {
            bytes = bytes.subspan(sent);
            isFirst = false;
            queued = m_link->timesEmptied();
            deadline = Clock::now() + kStall;
            continue;
        }
        if (Clock::now() >= deadline)
            return failed("ssh.write-to", say("ssh.takes-nothing"));
        RM_RETURN_IF_ERROR(waitForTurn(deadline, "ssh.write-to"));
    }
    return {};
}

Result<void> SshProcess::closeWrite() {
    m_owner.enforce();
    const SshLink::Turn turn(*m_link);
    RM_RETURN_IF_ERROR(awaitBegun());
    if (ssh_channel_is_open(m_channel) == 0)
        return {};
    // SSH_AGAIN: it is queued behind what is on its way, perhaps of another thread.
    if (ssh_channel_send_eof(m_channel) == SSH_ERROR)
        return tl::unexpected(sshError(*m_link, attempt("ssh.end-input-of")));
    return handOn({});
}

Result<int> SshProcess::exitCode(milliseconds timeout) {
    m_owner.enforce();
    const SshLink::Turn turn(*m_link);
    const auto deadline = Clock::now() + timeout;
    for (;;) {
        const auto taken = takeAll();
        if (m_exitStatus)
            return *m_exitStatus;
        if (!m_exitSignal.empty())
            return failed("ssh.run", say("ssh.killed", {{"signal", "SIG" + m_exitSignal}}));
        if (!taken)
            return tl::unexpected(taken.error());
        if (ssh_channel_is_closed(m_channel) != 0)
            return failed("ssh.run", say("ssh.no-exit-code"));
        if (Clock::now() >= deadline)
            return failed("ssh.run", say("ssh.not-ended"));
        RM_RETURN_IF_ERROR(waitForTurn(deadline, "ssh.run"));
    }
}

} // namespace rm
