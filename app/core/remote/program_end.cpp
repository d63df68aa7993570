// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/program_end.h"

#include "app/core/remote/error_tail.h"
#include "shared/exit_code.h"

namespace rm {

namespace {

ErrorCode codeOfExit(int exitCode) {
    for (const ErrorCode code :
         {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kCorrupt, ErrorCode::kTooNew,
          ErrorCode::kUnavailable, ErrorCode::kDenied, ErrorCode::kExhausted}) {
        if (static_cast<int>(exitCodeFor(code)) == exitCode)
            return code;
    }
    return ErrorCode::kInternal;
}

} // namespace

Result<void> checkEnd(HostProcess& process, const std::string& attempt,
                      std::chrono::milliseconds timeout) {
    const auto exitCode = process.exitCode(timeout);
    if (!exitCode)
        return failAs(attempt, exitCode.error());
    if (*exitCode == 0)
        return {};
    const std::string said = lastLine(process.errorText());
    return fail(codeOfExit(*exitCode),
                attempt + ": " + (said.empty() ? "exit code " + std::to_string(*exitCode) : said));
}

} // namespace rm
