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

/// To what goes in a second.
void SendWindow::narrow(uint64_t bytes, int64_t tookNs) {
    const double rate = static_cast<double>(bytes) / static_cast<double>(tookNs);
    m_limit = std::clamp(static_cast<size_t>(rate * kSecondNs), kLeast, kMost);
}

void SendWindow::onEcho(int64_t sentNs, int64_t nowNs) {
    const auto mark = std::ranges::find(m_marks, sentNs, &Mark::sentNs);
    if (mark == m_marks.end())
        return; // told before
    const int64_t tookNs = nowNs - sentNs;
    const uint64_t bytes = mark->bytes - m_arrived;
    const int64_t sinceNs = nowNs - (m_arrivedNs > 0 ? m_arrivedNs : sentNs);
    m_arrived = mark->bytes;
    m_arrivedNs = nowNs;
    m_marks.erase(m_marks.begin(), mark + 1);
    if (tookNs >= kLateNs)
        narrow(bytes, std::clamp(sinceNs, int64_t{1}, tookNs + kSecondNs));
    else if (m_limit > 0 && tookNs <= kSoonNs && bytes >= m_limit / 2)
        m_limit = m_limit * 2 > kMost ? 0 : m_limit * 2;
}

size_t SendWindow::room(int64_t nowNs) const {
    if (!m_marks.empty() && nowNs - m_marks.front().sentNs >= kLateNs)
        return 0;
    if (m_limit == 0)
        return std::numeric_limits<size_t>::max();
    return m_limit - std::min<uint64_t>(m_limit, m_sent - m_arrived);
}

bool SendWindow::needsHeartbeat(int64_t nowNs) const {
    return room(nowNs) == 0 && (m_marks.empty() || m_marks.back().bytes < m_sent);
}

} // namespace rm
