// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/gap_meter.h"

#include <algorithm>
#include <utility>

namespace rm::test {

namespace {
constexpr int kTickMs = 10;
}

GapMeter::GapMeter() {
    m_timer.setTimerType(Qt::PreciseTimer);
    m_timer.setInterval(kTickMs);
    connect(&m_timer, &QTimer::timeout, this, &GapMeter::onTimeout);
}

void GapMeter::watch() {
    m_sinceTick.start();
    m_timer.start();
}

void GapMeter::lookAway() {
    m_timer.stop();
}

qint64 GapMeter::largestSinceAskedMs() {
    return std::exchange(m_largestSinceAskedMs, 0);
}

void GapMeter::onTimeout() {
    const qint64 gap = m_sinceTick.restart();
    m_largestMs = std::max(m_largestMs, gap);
    m_largestSinceAskedMs = std::max(m_largestSinceAskedMs, gap);
    Q_EMIT ticked();
}

} // namespace rm::test
