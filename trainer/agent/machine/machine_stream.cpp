// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/machine/machine_stream.h"

#include "shared/io/clock.h"
#include "shared/return_if_error.h"
#include "trainer/agent/posix/fd.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>

namespace rm {

namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kFirstMs = 250; ///< rates need two looks
constexpr int64_t kBetweenProcessesMs = 2000;
constexpr int kLeastMsWithPcie = 1000;
constexpr size_t kLongestOrder = 16;

/// The stream's two sides and what is due when, by the monotonic clock.
class MachineStream {
public:
    MachineStream(MachineSampler& sampler, int in, int out)
        : m_sampler(sampler)
        , m_in(in)
        , m_out(out) {}

    Result<void> run();

private:
    Result<bool> wait(int64_t untilNs);
    Result<bool> hear();
    Result<void> obey(const std::string& order);
    Result<void> look();

    MachineSampler& m_sampler;
    int m_in, m_out;
    std::string m_heard;  ///< not yet a whole line
    int m_intervalMs = 0; ///< 0: not told yet
    int64_t m_heardNs = monotonicNowNs();
    int64_t m_nextNs = 0;          ///< of the next sample
    int64_t m_nextProcessesNs = 0; ///< and of the next one with processes
};

/// An interval, of which the first begins the samples.
Result<void> MachineStream::obey(const std::string& order) {
    int ms = 0;
    const auto parsed = std::from_chars(order.data(), order.data() + order.size(), ms);
    if (parsed.ec != std::errc() || parsed.ptr != order.data() + order.size() ||
        ms < kLeastMachineIntervalMs || ms > kMostMachineIntervalMs)
        return fail(ErrorCode::kInvalid, "machine: an interval has " +
                                             std::to_string(kLeastMachineIntervalMs) + " to " +
                                             std::to_string(kMostMachineIntervalMs) + " ms");
    const int64_t now = monotonicNowNs();
    m_heardNs = now;
    // Ends this process even where it waits for somebody to take its output.
    ::alarm(2 * kMachineSilenceMs / 1000);
    if (m_intervalMs == 0) {
        RM_RETURN_IF_ERROR(writeText(m_out, toJson(m_sampler.facts()) + "\n", "stdout"));
        (void)m_sampler.sample(now, wallNowNs(), {.processes = true});
        m_nextNs = monotonicNowNs() + kFirstMs * kNsPerMs;
        m_nextProcessesNs = m_nextNs;
    } else if (ms < m_intervalMs) {
        m_nextNs = std::min(m_nextNs, now + ms * kNsPerMs);
    }
    m_intervalMs = ms;
    return {};
}

/// False: the input has ended.
Result<bool> MachineStream::hear() {
    std::array<std::byte, 256> buffer;
    RM_ASSIGN_OR_RETURN(const size_t count, readAvailable(m_in, buffer, "stdin"));
    if (count == 0)
        return false;
    m_heard.append(reinterpret_cast<const char*>(buffer.data()), count);
    for (size_t end = m_heard.find('\n'); end != std::string::npos; end = m_heard.find('\n')) {
        RM_RETURN_IF_ERROR(obey(m_heard.substr(0, end)));
        m_heard.erase(0, end + 1);
    }
    if (m_heard.size() > kLongestOrder)
        return obey(m_heard).map([] { return true; });
    return true;
}

/// Until then, or until something was heard. False: the input has ended.
Result<bool> MachineStream::wait(int64_t untilNs) {
    const int64_t left = std::max<int64_t>(0, untilNs - monotonicNowNs());
    pollfd input{m_in, POLLIN, 0};
    const int ready = ::poll(&input, 1, static_cast<int>((left + kNsPerMs - 1) / kNsPerMs));
    if (ready < 0 && errno != EINTR)
        return failErrno("machine: wait for stdin", errno);
    return ready > 0 ? hear() : Result<bool>(true);
}

Result<void> MachineStream::look() {
    const int64_t now = monotonicNowNs();
    const bool withProcesses = now >= m_nextProcessesNs;
    if (withProcesses)
        m_nextProcessesNs = now + kBetweenProcessesMs * kNsPerMs;
    const MachineSample sample =
        m_sampler.sample(now, wallNowNs(), {withProcesses, m_intervalMs >= kLeastMsWithPcie});
    // From when it was due, so that the pace is kept; what was missed is not made up for.
    m_nextNs = std::max(m_nextNs + m_intervalMs * kNsPerMs, now + m_intervalMs * kNsPerMs / 2);
    std::string line = toJson(sample);
    if (line.size() > kMaxMachineLine)
        return {}; // of more processes than any machine has
    return writeText(m_out, line + "\n", "stdout");
}

Result<void> MachineStream::run() {
    for (;;) {
        const int64_t silentNs = m_heardNs + kMachineSilenceMs * kNsPerMs;
        const bool samples = m_intervalMs > 0;
        RM_ASSIGN_OR_RETURN(const bool goesOn,
                            wait(samples ? std::min(silentNs, m_nextNs) : silentNs));
        if (!goesOn)
            return {};
        const int64_t now = monotonicNowNs();
        if (now >= m_heardNs + kMachineSilenceMs * kNsPerMs)
            return fail(ErrorCode::kUnavailable, "machine: nothing was heard for " +
                                                     std::to_string(kMachineSilenceMs / 1000) +
                                                     " s");
        if (m_intervalMs > 0 && now >= m_nextNs)
            RM_RETURN_IF_ERROR(look());
    }
}

} // namespace

Result<void> streamMachine(MachineSampler& sampler, int in, int out) {
    return MachineStream(sampler, in, out).run();
}

} // namespace rm
