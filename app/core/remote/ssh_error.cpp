// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/ssh_error.h"

#include "app/core/findings/text.h"
#include "app/core/remote/error_tail.h"

#include <array>

namespace rm {

namespace {

using Cause = ConnectFailure::Cause;

/// Maps a text of libssh, or of errno within it, to what a person is told.
struct Saying {
    const char* words; ///< part of what libssh says
    ErrorCode code;
    Cause cause;        ///< of a failed connection
    const char* phrase; ///< the id of a phrase
};

constexpr std::array kSayings{
    Saying{"no match for method", ErrorCode::kDenied, Cause::kAlgorithms, "ssh.no-algorithm"},
    Saying{"Too many authentication failures", ErrorCode::kDenied, Cause::kLogin,
           "ssh.too-many-keys"},
    Saying{"Failed to verify server hostkey signature", ErrorCode::kDenied, Cause::kHostKey,
           "ssh.key-not-proven"},
    Saying{"RSA_MIN_SIZE", ErrorCode::kDenied, Cause::kLogin, "ssh.key-too-short"},
    Saying{"Failed to resolve", ErrorCode::kUnavailable, Cause::kName, "ssh.no-such-name"},
    Saying{"Connection refused", ErrorCode::kUnavailable, Cause::kRefused, "ssh.refused"},
    Saying{"No route to host", ErrorCode::kUnavailable, Cause::kRoute, "ssh.no-route"},
    Saying{"Network is unreachable", ErrorCode::kUnavailable, Cause::kRoute, "ssh.no-route"},
    // What Linux reports for a blackhole route, and for a prohibited one.
    Saying{"Failed to connect: Invalid argument", ErrorCode::kUnavailable, Cause::kRoute,
           "ssh.no-route"},
    Saying{"Failed to connect: Permission denied", ErrorCode::kUnavailable, Cause::kRoute,
           "ssh.route-forbidden"},
    Saying{"timed out", ErrorCode::kUnavailable, Cause::kNoAnswer, "ssh.timed-out"},
    Saying{"Timeout", ErrorCode::kUnavailable, Cause::kNoAnswer, "ssh.timed-out"},
    Saying{"Connection reset", ErrorCode::kUnavailable, Cause::kTurnedAway, "ssh.lost"},
    Saying{"Socket error: disconnected", ErrorCode::kUnavailable, Cause::kTurnedAway, "ssh.lost"},
    Saying{"Broken pipe", ErrorCode::kUnavailable, Cause::kTurnedAway, "ssh.lost"},
    // The answer to a keep-alive request, after which nothing else was said.
    Saying{"Global request", ErrorCode::kUnavailable, Cause::kTurnedAway, "ssh.lost"},
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
        return failAs(attempt, {ErrorCode::kUnavailable, say("ssh.lost")}).value();
    if (const Saying* saying = sayingOf(said))
        return failAs(attempt, {saying->code, say(saying->phrase)}).value();
    const bool denied = ssh_get_error_code(link.get()) == SSH_REQUEST_DENIED;
    return failAs(attempt, {denied ? ErrorCode::kDenied : ErrorCode::kUnavailable, said}).value();
}

ConnectFailure socketFailure(const std::string& attempt, const std::string& said) {
    const Saying* saying = sayingOf(said);
    ConnectFailure failure{
        failAs(attempt, {ErrorCode::kUnavailable, saying ? say(saying->phrase) : said}).value(),
        {},
        {}};
    failure.cause = saying ? saying->cause : Cause::kOther;
    return failure;
}

Error silenceOf(const SshLink& link, const std::string& attempt, const Error& error) {
    if (ssh_get_serverbanner(link.get()) == nullptr)
        return error;
    return failAs(attempt, {ErrorCode::kUnavailable, say("ssh.large-packets-lost")}).value();
}

ConnectFailure connectFailure(const SshLink& link, const std::string& attempt) {
    const Saying* saying = sayingOf(saidBy(link));
    ConnectFailure failure{sshError(link, attempt), {}, {}};
    failure.cause = saying == nullptr ? Cause::kOther : saying->cause;
    if (saying == nullptr)
        append(failure.error.message, say("ssh.verbose-says-more"));
    if (failure.cause == Cause::kNoAnswer)
        failure.error = silenceOf(link, attempt, failure.error);
    if (failure.cause != Cause::kTurnedAway)
        return failure;
    // A server without a common cipher may hang up before its offer was read, when only its banner
    // is known. A server with too many logins in progress hangs up before the banner.
    const bool hasBanner = ssh_get_serverbanner(link.get()) != nullptr;
    failure.cause = hasBanner ? Cause::kAlgorithms : Cause::kTurnedAway;
    const std::string why = say(hasBanner ? "ssh.no-keys-agreed-on" : "ssh.turned-away");
    failure.error = failAs(attempt, {failure.error.code, why}).value();
    return failure;
}

} // namespace rm
