// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/text.h"
#include "app/core/remote/error_tail.h"
#include "app/core/remote/host.h"
#include "shared/exit_code.h"
#include "shared/io/clock.h"
#include "shared/return_if_error.h"

namespace rm {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr size_t kMostOutput = 16u << 20;

Result<std::string> readToEnd(HostProcess& process, const std::string& attempt,
                              Clock::time_point deadline, const std::stop_token& stop) {
    Waker waker;
    const std::stop_callback wake(stop, [&waker] { waker.wake(); });
    std::string output;
    for (;;) {
        RM_ASSIGN_OR_RETURN(const auto bytes, process.read(timeLeft(deadline), &waker));
        if (bytes.ended)
            return output;
        if (stop.stop_requested())
            return failCancelled(attempt);
        if (Clock::now() >= deadline)
            return failAs(attempt, {ErrorCode::kUnavailable, say("ssh.not-ended")});
        output.append(reinterpret_cast<const char*>(bytes.data.data()), bytes.data.size());
        if (output.size() > kMostOutput)
            return failAs(attempt, {ErrorCode::kExhausted, say("ssh.prints-too-much")});
    }
}

Result<void> feed(HostProcess& process, const std::string& input) {
    if (!input.empty()) {
        if (auto sent = process.write(std::as_bytes(std::span(input))); !sent)
            return sent;
    }
    return process.closeWrite();
}

/// The exit code of a shell that did not find the program: it was removed since it was sent.
constexpr int kNotThere = 127;
/// The exit code of a shell that may not execute it, as on a disk that is mounted noexec.
constexpr int kNotExecuted = 126;

} // namespace

ErrorCode codeOfExit(int exitCode) {
    if (exitCode == kNotThere)
        return ErrorCode::kUnavailable;
    if (exitCode == kNotExecuted)
        return ErrorCode::kDenied;
    for (const ErrorCode code :
         {ErrorCode::kInvalid, ErrorCode::kNotFound, ErrorCode::kCorrupt, ErrorCode::kTooNew,
          ErrorCode::kUnavailable, ErrorCode::kDenied, ErrorCode::kExhausted}) {
        if (static_cast<int>(exitCodeFor(code)) == exitCode)
            return code;
    }
    return ErrorCode::kInternal;
}

Result<void> checkEnd(HostProcess& process, const std::string& attempt,
                      std::chrono::milliseconds timeout) {
    const auto exitCode = process.exitCode(timeout);
    if (!exitCode && exitCode.error().message.starts_with(attempt))
        return tl::unexpected(exitCode.error());
    if (!exitCode)
        return failAs(attempt, exitCode.error());
    if (*exitCode == 0)
        return {};
    const std::string said = lastLine(process.errorText());
    return failAs(
        attempt,
        {codeOfExit(*exitCode),
         said.empty() ? say("ssh.exit-code", {{"code", std::to_string(*exitCode)}}) : said});
}

Result<std::string> runToEnd(HostSession& session, const std::string& program,
                             const std::vector<std::string>& arguments, const std::string& input,
                             milliseconds timeout, std::stop_token stop) {
    const auto deadline = Clock::now() + timeout;
    RM_ASSIGN_OR_RETURN(auto process, session.start(program, arguments, stop));
    const std::string attempt = say("ssh.run", {{"program", program}, {"where", session.where()}});
    // If the program did not read its input, its stderr says why.
    const auto fed = feed(*process, input);
    auto output = readToEnd(*process, attempt, deadline, stop);
    if (!output)
        return output;
    RM_RETURN_IF_ERROR(checkEnd(*process, attempt, timeLeft(deadline) + milliseconds(1000)));
    if (!fed)
        return tl::unexpected(fed.error());
    return output;
}

} // namespace rm
