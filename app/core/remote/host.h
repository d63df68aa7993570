// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "app/core/remote/secret.h"
#include "shared/result.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace rm {

/// Wakes a HostProcess::read() from another thread. Thread-safe; lives as long as its users.
class Waker {
public:
    Waker();
    ~Waker();
    Waker(const Waker&) = delete;
    Waker& operator=(const Waker&) = delete;
    void wake();
    void clear();
    bool isRaised() const; ///< by wake(), not cleared since
    int fd() const { return m_fd; }

private:
    int m_fd = -1;
};

/// A program running on a host, with its pipes. One thread.
class HostProcess {
public:
    virtual ~HostProcess() = default; ///< hangs up: closes the pipes, does not wait

    struct Bytes {
        std::vector<std::byte> data; ///< of stdout; empty: timeout or woken
        bool ended = false;          ///< stdout is closed and everything was read
    };
    /// Waits until bytes, end, `timeout` or `waker`. kUnavailable: the link is gone.
    virtual Result<Bytes> read(std::chrono::milliseconds timeout, const Waker* waker = nullptr) = 0;
    /// Blocks until all is handed on.
    virtual Result<void> write(std::span<const std::byte> bytes) = 0;
    virtual Result<void> closeWrite() = 0;
    /// After the end of stdout: the exit code; kUnavailable when the program was killed or lost.
    virtual Result<int> exitCode(std::chrono::milliseconds timeout) = 0;
    /// stderr so far, at most its last 64 KiB, terminal escapes stripped.
    virtual std::string errorText() const = 0;
};

/// One authenticated connection to a host. Thread-safe; programs of several threads share it.
class HostSession {
public:
    virtual ~HostSession() = default;

    /// Starts `program`, a name or an absolute path, with `arguments`, which may hold only
    /// [A-Za-z0-9._:/=,@%+-], so that a shell cannot misread them; other data goes over stdin. On
    /// this computer no shell is involved. After `stop` start, write() and exitCode() end soon with
    /// kUnavailable.
    virtual Result<std::unique_ptr<HostProcess>> start(const std::string& program,
                                                       const std::vector<std::string>& arguments,
                                                       std::stop_token stop = {}) = 0;
    /// Starts one of our own fixed shell scripts (`sh -c`), as the bootstrap of the agent does.
    virtual Result<std::unique_ptr<HostProcess>> startScript(const std::string& fixedScript,
                                                             std::stop_token stop = {}) = 0;

    /// "this computer", or "ssh user@host:port": for messages.
    virtual std::string where() const = 0;
    /// Its processes run on this computer.
    virtual bool isLocal() const { return false; }
    /// Key files that could not be used for the login, each with the reason; another way was found.
    virtual std::vector<std::string> keyProblems() const { return {}; }
    /// False where the connection is known to have ended, or nothing came from the host for so
    /// long that it may have: the laptop slept, or a router dropped it. Does not wait for anything.
    virtual bool seemsOpen() { return true; }
};

/// Why a connection was not made, and what a person could decide.
struct ConnectFailure {
    enum class Need {
        kNothing,      ///< nothing that a person could enter helps: see the error
        kTrustHostKey, ///< first contact: show `fingerprint`, then Credentials::trustedFingerprint
        kPassword,     ///< ask, then Credentials::password
        kPassphrase,   ///< a key file is protected: ask, then Credentials::passphrase
    };
    /// Causes of a failed connection, in the order in which they can occur.
    enum class Cause {
        kOther,
        kName,       ///< it has no address
        kRoute,      ///< no way leads there
        kJumpHost,   ///< ssh came not past the host that it goes through
        kRefused,    ///< the host answers, but no server listens
        kNoAnswer,   ///< nobody answered in time
        kTurnedAway, ///< the server hung up at once: it is busy, or does not speak SSH
        kAlgorithms, ///< no common algorithms
        kHostKey,
        kLogin,
    };
    Error error;
    Need need = Need::kNothing;
    std::string fingerprint = {}; ///< "SHA256:..." of the key that the host showed
    Cause cause = Cause::kOther;

    /// It may succeed a moment later: the server is restarting or has too many logins in progress.
    bool mayPass() const { return cause == Cause::kRefused || cause == Cause::kTurnedAway; }
    /// The host was reached and lets nobody in without a person's doing.
    bool isRefusal() const { return error.code == ErrorCode::kDenied && cause != Cause::kOther; }
};

/// A heading of a few words for it: "No route", "Host key".
std::string causeTitle(ConnectFailure::Cause cause);

/// What a person entered or the keyring had, for one attempt.
struct Credentials {
    std::optional<Secret> password;
    std::optional<Secret> passphrase; ///< of the key files that have one
    /// Write this key to known_hosts if, and only if, the host shows exactly it.
    std::optional<std::string> trustedFingerprint;
    bool operator==(const Credentials&) const = default;
};

/// Connects, checks the host key before any authentication, authenticates. Blocks at most ~15 s,
/// and ends soon after `stop`. For the local node it starts processes of this computer.
/// Thread-safe.
tl::expected<std::unique_ptr<HostSession>, ConnectFailure>
openSession(const Node& node, const Credentials& credentials, std::stop_token stop);

/// Before a pause between two attempts to connect.
struct ConnectPause {
    Error why;
    std::chrono::milliseconds pause;
    std::chrono::milliseconds left; ///< for further attempts
};
using OnConnectPause = std::function<void(const ConnectPause&)>;

/// For how long a failure that may pass is tried again.
struct ConnectPatience {
    std::chrono::milliseconds refused; ///< nothing listens at the port: sshd may be restarting
    std::chrono::milliseconds busy;    ///< turned away: too many logins may be in progress
};
inline constexpr ConnectPatience kLoginPatience{std::chrono::seconds(30), std::chrono::seconds(30)};
/// For what a person waits for while nothing has begun: a port that refuses is the answer at once,
/// as it can be asked again.
inline constexpr ConnectPatience kRequestPatience{std::chrono::seconds(0),
                                                  std::chrono::seconds(10)};

/// openSession(), repeated with jittered pauses while the failure may pass, for `patience` at most.
/// Thread-safe.
tl::expected<std::unique_ptr<HostSession>, ConnectFailure>
openSessionPatiently(const Node& node, const Credentials& credentials, std::stop_token stop,
                     const OnConnectPause& onPause = {}, ConnectPatience patience = kLoginPatience);

/// Runs a program to its end: `input` to stdin, stdout back (at most 16 MiB). Its end as in
/// checkEnd().
Result<std::string> runToEnd(HostSession& session, const std::string& program,
                             const std::vector<std::string>& arguments, const std::string& input,
                             std::chrono::milliseconds timeout, std::stop_token stop = {});

/// The code of an error that a program of ours reported by this exit code.
ErrorCode codeOfExit(int exitCode);

/// Call it after the end of stdout. Success if the program exits with 0. Otherwise an error of
/// `attempt` with the last line of its stderr as the cause and the ErrorCode of its rm::ExitCode;
/// kUnavailable if the program is not there.
Result<void> checkEnd(HostProcess& process, const std::string& attempt,
                      std::chrono::milliseconds timeout);

} // namespace rm
