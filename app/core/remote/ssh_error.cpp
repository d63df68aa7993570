// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_error.h"

#include "app/core/remote/error_tail.h"

#include <array>

namespace rm {

namespace {

using Cause = ConnectFailure::Cause;

/// Maps a text of libssh, or of errno within it, to what a person is told.
struct Saying {
    const char* words; ///< part of what libssh says
    ErrorCode code;
    Cause cause; ///< of a failed connection
    const char* told;
};

constexpr const char* kNoRoute =
    "there is no route to it from this computer; check the address, the network and the VPN";
constexpr const char* kLost = "the connection was lost; check that the machine runs and can be "
                              "reached, then try again";

constexpr std::array kSayings{
    Saying{"no match for method", ErrorCode::kDenied, Cause::kAlgorithms,
           "the server speaks no algorithm that is safe to use; its sshd must offer one, such as "
           "aes256-gcm@openssh.com among its Ciphers (AES-GCM)"},
    Saying{"Too many authentication failures", ErrorCode::kDenied, Cause::kLogin,
           "the server closed after too many keys were offered; name the right key file for this "
           "node, or set IdentitiesOnly in ssh_config"},
    Saying{"Failed to resolve", ErrorCode::kUnavailable, Cause::kName,
           "its name was not found; check how it is written, and the VPN"},
    Saying{
        "Connection refused", ErrorCode::kUnavailable, Cause::kRefused,
        "nothing listens at that port, so it is refused; check the port, and that sshd runs there"},
    Saying{"No route to host", ErrorCode::kUnavailable, Cause::kRoute, kNoRoute},
    Saying{"Network is unreachable", ErrorCode::kUnavailable, Cause::kRoute, kNoRoute},
    // What Linux reports for a blackhole route, and for a prohibited one.
    Saying{"Failed to connect: Invalid argument", ErrorCode::kUnavailable, Cause::kRoute, kNoRoute},
    Saying{"Failed to connect: Permission denied", ErrorCode::kUnavailable, Cause::kRoute,
           "a route or firewall of this computer forbids it; allow it there"},
    Saying{"timed out", ErrorCode::kUnavailable, Cause::kNoAnswer,
           "no answer in time; the machine may be off, or a firewall is between: check both"},
    Saying{"Timeout", ErrorCode::kUnavailable, Cause::kNoAnswer,
           "no answer in time; the machine may be off, or a firewall is between: check both"},
    Saying{"Connection reset", ErrorCode::kUnavailable, Cause::kTurnedAway, kLost},
    Saying{"Socket error: disconnected", ErrorCode::kUnavailable, Cause::kTurnedAway, kLost},
    Saying{"Broken pipe", ErrorCode::kUnavailable, Cause::kTurnedAway, kLost},
    // The answer to a keep-alive request, after which nothing else was said.
    Saying{"Global request", ErrorCode::kUnavailable, Cause::kTurnedAway, kLost},
};

const Saying* sayingOf(const std::string& said) {
    for (const Saying& saying : kSayings)
        if (said.find(saying.words) != std::string::npos)
            return &saying;
    return nullptr;
}

std::string saidBy(const SshLink& link) {
    return lastLine(withoutEscapes(ssh_get_error(link.get())));
}

} // namespace

Error sshError(const SshLink& link, const std::string& attempt) {
    const std::string said = saidBy(link);
    if (said.empty())
        return {ErrorCode::kUnavailable, attempt + ": " + kLost};
    if (const Saying* saying = sayingOf(said))
        return {saying->code, attempt + ": " + saying->told};
    const bool denied = ssh_get_error_code(link.get()) == SSH_REQUEST_DENIED;
    return {denied ? ErrorCode::kDenied : ErrorCode::kUnavailable, attempt + ": " + said};
}

ConnectFailure connectFailure(const SshLink& link, const std::string& attempt) {
    const Saying* saying = sayingOf(saidBy(link));
    ConnectFailure failure{sshError(link, attempt), {}, {}};
    failure.cause = saying == nullptr ? Cause::kOther : saying->cause;
    if (saying == nullptr)
        failure.error.message += "; ssh -v to it may say more";
    if (failure.cause != Cause::kTurnedAway)
        return failure;
    // A server without a common cipher may hang up before its offer was read, when only its banner
    // is known. A server with too many logins in progress hangs up before the banner.
    const bool hasBanner = ssh_get_serverbanner(link.get()) != nullptr;
    failure.cause = hasBanner ? Cause::kAlgorithms : Cause::kTurnedAway;
    failure.error.message =
        attempt +
        (hasBanner ? ": the server answered and ended the connection before keys were agreed on; "
                     "it may offer no AES-GCM cipher, which is required: add "
                     "aes256-gcm@openssh.com to the Ciphers of its sshd"
                   : ": the server ended the connection at once; it takes no more logins at the "
                     "moment (MaxStartups of its sshd), or is no SSH server: try again, or check "
                     "the port");
    return failure;
}

} // namespace rm
