// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/findings/text.h"
#include "app/core/node/node.h"
#include "app/core/remote/host.h"
#include "app/core/remote/sign_of_life.h"
#include "shared/io/descriptor.h"
#include "shared/result.h"
#include "shared/return_if_error.h"

#include <libssh/libssh.h>

#include <chrono>
#include <initializer_list>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

namespace rm {

/// How long to wait: a deadline, and a stop that the person may request.
struct Patience {
    std::chrono::steady_clock::time_point deadline;
    std::stop_token stop;
};

/// A libssh session in non-blocking mode, with every wait bounded. Threads share it by turns: all
/// but a wait is done while the caller has one.
class SshLink {
public:
    /// No other thread has one until it ends, but for the time of wait() and drive()'s waits.
    class Turn {
    public:
        explicit Turn(SshLink& link);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

    private:
        SshLink& m_link;
    };

    SshLink();
    ~SshLink();
    SshLink(const SshLink&) = delete;
    SshLink& operator=(const SshLink&) = delete;

    ssh_session get() const { return m_session; }

    /// Repeats a non-blocking libssh call until it answers something other than `again`.
    /// kUnavailable: out of patience. After a stop the call is not made at all: ssh_connect() may
    /// start a proxy.
    template <class Step>
    Result<int> drive(Step step, int again, const std::string& attempt, const Patience& patience) {
        for (;;) {
            if (patience.stop.stop_requested())
                return failCancelled(attempt);
            const int answer = step();
            if (answer != again)
                return answer;
            RM_RETURN_IF_ERROR(waitForTurn(attempt, patience.deadline));
        }
    }

    /// Handles all that has arrived and sends what can be sent; to be called once connected.
    /// Failures show in the session's state.
    void pump();
    /// Sleeps until the socket or `wakeFd` (-1: none) is ready, another thread took bytes from it
    /// in its turn, the timeout has passed, or checkAlive() is due.
    void wait(std::chrono::milliseconds timeout, int wakeFd = -1);
    bool hasUnsentBytes();
    /// How often nothing was unsent when somebody asked.
    uint64_t timesEmptied() const { return m_timesEmptied; }
    /// What was queued at that time has gone out, whatever other threads have queued since.
    bool hasSent(uint64_t queuedAt) { return !hasUnsentBytes() || m_timesEmptied != queuedAt; }
    bool seemsOpen(); ///< see HostSession; takes a turn of its own
    /// To be called once logged in: waits for the server's first bytes after a keep-alive request.
    /// Where none come, checkAlive() says nothing.
    void awaitFirstAnswer(const Patience& patience);
    /// To be called after pump(), for as long as something of the peer is waited for. kUnavailable:
    /// the peer gave no sign of life for too long, so the link is cut without a word of it.
    Result<void> checkAlive(const std::string& attempt);

    /// Whether startup files of the login shell were seen to come to a program without any input.
    bool shellReadsNothing() const { return m_shellReadsNothing; }
    void setShellReadsNothing() { m_shellReadsNothing = true; }

    /// Sets the host's name; false: libssh does not take it, though OpenSSH may ("gpu_box"). It
    /// needs none, as it is given a socket or a proxy.
    bool setHost(const std::string& name);
    const std::string& host() const { return m_host; }
    /// Gives libssh a connected socket, before the connection is made.
    void setSocket(Descriptor socket);

    std::string option(ssh_options_e which) const; ///< empty: not set
    unsigned port() const;
    /// "ssh user@host:port"
    std::string where() const;

private:
    void notifyOthers();
    void acknowledge();
    void askForAnswer();
    void sleep(std::chrono::milliseconds timeout, int wakeFd = -1);
    Result<void> waitForTurn(const std::string& attempt,
                             std::chrono::steady_clock::time_point deadline);

    std::mutex m_turn;
    std::vector<Waker*> m_waiting; ///< of the threads in wait()
    ssh_session m_session;
    std::string m_host;
    ssh_event m_event = nullptr;    ///< made by the first pump()
    ssh_counter_struct m_carried{}; ///< libssh keeps its address
    uint64_t m_heardBytes = 0;
    uint64_t m_timesEmptied = 0;
    std::chrono::nanoseconds m_lastHeard; ///< since the computer started, its sleeps as well
    SignOfLife m_signOfLife;
    bool m_answers = false; ///< keep-alive requests
    bool m_shellReadsNothing = false;
};

} // namespace rm
