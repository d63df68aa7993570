// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/gap_meter.h"

#include <QAbstractEventDispatcher>
#include <QCoreApplication>
#include <QEvent>
#include <QFile>
#include <QMetaEnum>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace rm::test {

namespace {

using namespace std::chrono_literals;
constexpr auto kTick = 10ms;
constexpr qint64 kNsPerMs = 1'000'000;
constexpr qint64 kTooLongMs = 50; ///< a person's limit

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
    QCoreApplication::instance()->installEventFilter(this);
    connect(QAbstractEventDispatcher::instance(), &QAbstractEventDispatcher::aboutToBlock, this,
            &GapMeter::endEvent);
}

GapMeter::~GapMeter() = default;

void GapMeter::watch() {
    startAnew();
    m_timer.start();
}

void GapMeter::lookAway() {
    m_timer.stop();
    m_sinceEvent.invalidate();
}

qint64 GapMeter::largestSinceRequestMs() {
    return std::exchange(m_largestSinceRequestMs, 0);
}

/// An event lasts until the next one, or until the loop has nothing to do. What one event sends
/// ends it, so the longest part of it counts under the name of what it sent last.
bool GapMeter::eventFilter(QObject* watched, QEvent* event) {
    if (!m_timer.isActive() || watched == &m_timer || watched->thread() != thread())
        return false;
    endEvent();
    const char* type = QMetaEnum::fromType<QEvent::Type>().valueToKey(event->type());
    m_event = QString("%1 of %2")
                  .arg(type ? QString(type) : QString::number(event->type()),
                       watched->metaObject()->className());
    if (!watched->objectName().isEmpty())
        m_event += ' ' + watched->objectName();
    m_sinceEvent.start();
    return false;
}

void GapMeter::endEvent() {
    if (!m_sinceEvent.isValid())
        return;
    const qint64 tookMs = m_sinceEvent.elapsed();
    m_sinceEvent.invalidate();
    if (tookMs < kTooLongMs)
        return;
    Cost& cost = m_costs[m_event];
    cost.mostMs = std::max(cost.mostMs, tookMs);
    ++cost.tooLong;
}

QStringList GapMeter::longest() const {
    constexpr size_t kMost = 8;
    std::vector<std::pair<QString, Cost>> costs(m_costs.begin(), m_costs.end());
    std::ranges::sort(costs, std::ranges::greater(),
                      [](const auto& each) { return each.second.mostMs; });
    costs.resize(std::min(costs.size(), kMost));
    QStringList lines;
    for (const auto& [event, cost] : costs)
        lines << QString("%1: %2 ms, %3 over %4 ms")
                     .arg(event)
                     .arg(cost.mostMs)
                     .arg(cost.tooLong)
                     .arg(kTooLongMs);
    return lines;
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
