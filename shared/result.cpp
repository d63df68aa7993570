// SPDX-License-Identifier: Apache-2.0
#include "shared/result.h"

#include <cerrno>
#include <cstring>

namespace rm {

namespace {

ErrorCode codeOfErrno(int errnoValue) {
    if (isDiskFull(errnoValue))
        return ErrorCode::kExhausted;
    switch (errnoValue) {
    case ENOENT:
    case ENOTDIR:
    case ESRCH:
        return ErrorCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
        return ErrorCode::kDenied;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EFBIG:
        return ErrorCode::kExhausted;
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ETIMEDOUT:
    case EPIPE:
    case EADDRINUSE:
    case EAGAIN:
    case EIO:
        return ErrorCode::kUnavailable;
    case EINVAL:
    case ENAMETOOLONG:
    case EISDIR:
        return ErrorCode::kInvalid;
    default:
        return ErrorCode::kInternal;
    }
}

} // namespace

tl::unexpected<Error> failErrno(const std::string& attempt, int errnoValue) {
    return fail(codeOfErrno(errnoValue), attempt + ": " + std::strerror(errnoValue));
}

bool isDiskFull(int errnoValue) {
    return errnoValue == ENOSPC || errnoValue == EDQUOT;
}

const char* errorCodeName(ErrorCode code) {
    switch (code) {
    case ErrorCode::kInvalid:
        return "invalid";
    case ErrorCode::kNotFound:
        return "not-found";
    case ErrorCode::kCorrupt:
        return "corrupt";
    case ErrorCode::kTooNew:
        return "too-new";
    case ErrorCode::kUnavailable:
        return "unavailable";
    case ErrorCode::kDenied:
        return "denied";
    case ErrorCode::kExhausted:
        return "exhausted";
    case ErrorCode::kInternal:
        return "internal";
    }
    return "internal";
}

} // namespace rm
