// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/transfer_rate.h"

namespace rm {

namespace {
constexpr auto kReportEvery = std::chrono::milliseconds(100);
}

TransferRate::TransferRate(QString stage, std::function<void(const Progress&)> sink)
    : m_stage(std::move(stage))
    , m_sink(std::move(sink)) {}

void TransferRate::update(size_t transfer, int64_t done, int64_t total) {
    const std::lock_guard lock(m_mutex);
    m_parts[transfer] = {done, total};
    Progress progress{m_stage};
    for (const auto& [key, part] : m_parts) {
        progress.done += part.done;
        progress.total += part.total;
    }
    const auto now = Clock::now();
    if (progress.done < progress.total && now - m_reported < kReportEvery)
        return;
    m_reported = now;
    const double seconds = std::chrono::duration<double>(now - m_started).count();
    if (seconds > 0 && progress.done > 0) {
        progress.bytesPerSec = static_cast<double>(progress.done) / seconds;
        progress.secondsLeft =
            static_cast<double>(progress.total - progress.done) / progress.bytesPerSec;
    }
    m_sink(progress);
}

} // namespace rm
