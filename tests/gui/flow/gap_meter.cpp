// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/gap_meter.h"

#include <QFile>

#include <algorithm>
#include <chrono>
#include <utility>

namespace rm::test {

namespace {

using namespace std::chrono_literals;
constexpr auto kTick = 10ms;
constexpr qint64 kNsPerMs = 1'000'000;

/// For how long this thread was ready to run and did not: the second number of schedstat (Linux,
/// Documentation/scheduler/sched-stats); 0 where the kernel does not count.
qint64 waitedForProcessorNs() {
    QFile file("/proc/thread-self/schedstat");
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const QList<QByteArray> numbers = file.readAll().split(' ');
    return numbers.size() > 1 ? numbers[1].toLongLong() : 0;
}

void sleepAndCount(const std::stop_token& stop, std::atomic<qint64>& lateNs) {
    // As much is usual, and many sleeps of it would add up to what they do not tell.
    constexpr qint64 kUsuallyNs = 5 * kNsPerMs;
    while (!stop.stop_requested()) {
        QElapsedTimer slept;
        slept.start();
        std::this_thread::sleep_for(kTick);
        const qint64 late = slept.nsecsElapsed() - std::chrono::nanoseconds(kTick).count();
        lateNs += late > kUsuallyNs ? late : 0;
    }
}

} // namespace

GapMeter::GapMeter()
    : m_sleeper([this](const std::stop_token& stop) { sleepAndCount(stop, m_sleeperLateNs); }) {
    m_timer.setTimerType(Qt::PreciseTimer);
    m_timer.setInterval(kTick);
    connect(&m_timer, &QTimer::timeout, this, &GapMeter::onTimeout);
}

GapMeter::~GapMeter() = default;

void GapMeter::watch() {
    startAnew();
    m_timer.start();
}

void GapMeter::lookAway() {
    m_timer.stop();
}

qint64 GapMeter::largestSinceRequestMs() {
    return std::exchange(m_largestSinceRequestMs, 0);
}

void GapMeter::startAnew() {
    m_sinceTick.start();
    m_waitedNs = waitedForProcessorNs();
    m_lateNs = m_sleeperLateNs;
}

void GapMeter::onTimeout() {
    const qint64 away = m_sinceTick.elapsed();
    // Both may tell of the same moment, so they are not added.
    const qint64 machine =
        std::max(waitedForProcessorNs() - m_waitedNs, m_sleeperLateNs - m_lateNs) / kNsPerMs;
    startAnew();
    const qint64 gap = std::max<qint64>(away - machine, 0);
    if (away >= 500)
        qInfo("the event loop was away for %lld ms, %lld of them for want of a processor", away,
              machine);
    m_largestMs = std::max(m_largestMs, gap);
    m_largestSinceRequestMs = std::max(m_largestSinceRequestMs, gap);
    Q_EMIT ticked();
}

} // namespace rm::test
