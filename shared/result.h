// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace rm {

/// Why something failed, as far as callers act on it; the message says the rest. At most eight
/// codes.
enum class ErrorCode {
    kInvalid,     ///< the input is wrong; trying again unchanged cannot help
    kNotFound,    ///< the named thing does not exist
    kCorrupt,     ///< bytes are there but are not what they claim to be
    kTooNew,      ///< written by a newer release than this one
    kUnavailable, ///< a peer, link, port or service does not answer (now)
    kDenied,      ///< permission, authentication or a host key forbids it
    kExhausted,   ///< disk, memory or descriptors are used up
    kInternal,    ///< a fault of ours
};

/// A failure. `message` reads "attempt object: cause", e.g.
/// "copy agent to node3:/opt/rm: disk full", and is fit to be shown to a person as it is.
struct Error {
    ErrorCode code = ErrorCode::kInternal;
    std::string message;

    bool operator==(const Error&) const = default;
};

/// The result of whatever can fail. std::expected once the compiler has it.
template <class T>
using Result = tl::expected<T, Error>;

/// `return fail(ErrorCode::kNotFound, "open /x: no such file");`
inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// Passes an error on, prefixed with what this caller attempted: "attempt: cause".
inline tl::unexpected<Error> failAs(const std::string& attempt, const Error& cause) {
    return fail(cause.code, attempt + ": " + cause.message);
}

/// Maps an errno value; the one place that does. `attempt` is "open /x".
tl::unexpected<Error> failErrno(const std::string& attempt, int errnoValue);

/// Whether an errno value says that a disk has no room, be it full or the user's quota on it.
bool isDiskFull(int errnoValue);

/// Short lower-case name of a code ("not-found"), as `--json` prints it.
const char* errorCodeName(ErrorCode code);

} // namespace rm
