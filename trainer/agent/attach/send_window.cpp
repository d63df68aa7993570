// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/attach/send_window.h"

#include <algorithm>
#include <limits>

namespace rm {

namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kSoonNs = kSecondNs / 2;
constexpr int64_t kLateNs = 3 * kSecondNs / 2;
constexpr size_t kLeast = size_t{16} << 10; // what is in it takes 2 s at 64 kbit/s
constexpr size_t kMost = size_t{4} << 20;   // a link that is soon through with it needs no window

} // namespace

void SendWindow::onFileBytes(size_t count, int64_t nowNs) {
    m_sent += count;
    m_taking = count;
    m_takingNs = nowNs;
}

void SendWindow::onLinkReady(int64_t nowNs) {
    if (m_taking > 0 && nowNs - m_takingNs >= kLateNs)
        narrow(m_taking, nowNs - m_takingNs);
    m_taking = 0;
}

/// Narrows the window to what goes over the link in a second.
void SendWindow::narrow(uint64_t bytes, int64_t tookNs) {
    const double rate = static_cast<double>(bytes) / static_cast<double>(tookNs);
    m_limit = std::clamp(static_cast<size_t>(rate * kSecondNs), kLeast, kMost);
}

void SendWindow::onEcho(int64_t sentNs, int64_t nowNs) {
    // The last heartbeat of that moment: the app answers several at once by one echo.
    const auto found = std::find_if(m_marks.rbegin(), m_marks.rend(),
                                    [sentNs](const Mark& mark) { return mark.sentNs == sentNs; });
    if (found == m_marks.rend())
        return; // told before
    const int64_t tookNs = nowNs - sentNs;
    m_leastNs = m_leastNs == 0 ? tookNs : std::min(m_leastNs, tookNs);
    const uint64_t bytes = found->bytes - m_arrived;
    const int64_t sinceNs = nowNs - (m_arrivedNs > 0 ? m_arrivedNs : sentNs);
    m_arrived = found->bytes;
    m_arrivedNs = nowNs;
    m_marks.erase(m_marks.begin(), found.base());
    if (isLate(tookNs)) {
        if (sinceNs >= kSoonNs) // else echoes were held up themselves, and tell no rate
            narrow(bytes, std::min(sinceNs, tookNs + kSecondNs));
    } else if (m_limit > 0 && tookNs <= m_leastNs + kSoonNs && bytes >= m_limit / 2) {
        m_limit = m_limit * 2 > kMost ? 0 : m_limit * 2;
    }
}

/// Whether it took much longer than the way alone takes.
bool SendWindow::isLate(int64_t tookNs) const {
    return tookNs >= m_leastNs + kLateNs;
}

size_t SendWindow::room(int64_t nowNs) const {
    if (!m_marks.empty() && isLate(nowNs - m_marks.front().sentNs))
        return 0;
    if (m_limit == 0)
        return std::numeric_limits<size_t>::max();
    return m_limit - std::min<uint64_t>(m_limit, m_sent - m_arrived);
}

bool SendWindow::needsHeartbeat(int64_t nowNs) const {
    return room(nowNs) == 0 && (m_marks.empty() || m_marks.back().bytes < m_sent);
}

} // namespace rm
