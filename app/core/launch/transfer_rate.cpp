// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/transfer_rate.h"

namespace rm {

namespace {

using namespace std::chrono_literals;

constexpr auto kReportEvery = 100ms;
constexpr auto kWindow = 5s;
constexpr auto kShortest = 500ms; ///< less says nothing about a pace

} // namespace

TransferRate::TransferRate(QString stage, std::function<void(const Progress&)> sink,
                           std::function<Clock::time_point()> now)
    : m_stage(std::move(stage))
    , m_sink(std::move(sink))
    , m_now(std::move(now)) {}

Transferred TransferRate::sum() const {
    Transferred all;
    for (const auto& [key, part] : m_parts) {
        all.done += part.done;
        all.total += part.total;
        all.sent += part.sent;
    }
    return all;
}

void TransferRate::remember(const Moment& moment) {
    m_moments.push_back(moment);
    // The first one is the last that is older than the window: so a stall counts in full.
    while (m_moments.size() > 2 && moment.when - m_moments[1].when >= kWindow)
        m_moments.pop_front();
}

void TransferRate::update(size_t transfer, const Transferred& transferred) {
    const std::lock_guard lock(m_mutex);
    m_parts[transfer] = transferred;
    const Transferred all = sum();
    const auto now = m_now();
    if (all.done < all.total && now - m_reported < kReportEvery)
        return;
    m_reported = now;
    remember({now, all.done, all.sent});
    Progress progress{m_stage, all.done, all.total, all.sent};
    const Moment& before = m_moments.front();
    const double seconds = std::chrono::duration<double>(now - before.when).count();
    if (now - before.when >= kShortest && all.done > before.done) {
        progress.bytesPerSec = static_cast<double>(all.sent - before.sent) / seconds;
        progress.secondsLeft = static_cast<double>(all.total - all.done) * seconds /
                               static_cast<double>(all.done - before.done);
    }
    m_sink(progress);
}

} // namespace rm
