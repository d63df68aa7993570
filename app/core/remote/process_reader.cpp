// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/process_reader.h"

#include "app/core/findings/text.h"
#include "shared/return_if_error.h"

namespace rm {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

ProcessReader::ProcessReader(HostProcess& process, std::string attempt, std::stop_token stop)
    : m_process(process)
    , m_attempt(std::move(attempt))
    , m_stop(std::move(stop))
    , m_wakeOnStop(m_stop, [this] { m_waker.wake(); }) {}

Result<std::vector<std::byte>> ProcessReader::bytes(milliseconds timeout) {
    auto read = m_process.read(timeout, &m_waker);
    if (m_stop.stop_requested())
        return failCancelled(m_attempt);
    if (!read)
        return failAs(m_attempt, read.error());
    if (read->ended) {
        RM_RETURN_IF_ERROR(checkEnd(m_process, m_attempt, milliseconds(5000)));
        return failAs(m_attempt, {ErrorCode::kUnavailable, say("ssh.ended-early")});
    }
    if (read->data.empty() && timeout > milliseconds(0))
        return failAs(m_attempt, {ErrorCode::kUnavailable, say("ssh.program-silent")});
    return std::move(read->data);
}

Result<std::string> ProcessReader::line(milliseconds timeout) {
    constexpr size_t kLongest = 4096;
    const auto deadline = Clock::now() + timeout;
    for (;;) {
        if (const size_t end = m_text.find('\n'); end != std::string::npos) {
            std::string line = m_text.substr(0, end);
            m_text.erase(0, end + 1);
            return line;
        }
        if (m_text.size() > kLongest)
            return failAs(m_attempt, {ErrorCode::kCorrupt, say("ssh.no-lines")});
        const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
        RM_ASSIGN_OR_RETURN(const auto more, bytes(std::max(left, milliseconds(1))));
        m_text.append(reinterpret_cast<const char*>(more.data()), more.size());
    }
}

} // namespace rm
