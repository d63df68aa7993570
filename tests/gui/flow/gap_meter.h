// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QStringList>
#include <QTimer>

#include <atomic>
#include <map>
#include <thread>

namespace rm::test {

/// How long the thread's event loop was away at most by its own doing, seen by a timer of 10 ms.
/// Not counted is what the machine did: the time for which the thread could have run but got no
/// processor, or for which another thread, which only sleeps, was woken late. It says which events
/// took longest. Starts blind.
class GapMeter : public QObject {
    Q_OBJECT
public:
    GapMeter();
    ~GapMeter() override;

    void watch();
    void lookAway(); ///< while the test itself does what blocks
    qint64 largestMs() const { return m_largestMs; }
    qint64 largestSinceRequestMs();
    /// The events that took longest, the longest first, as "Paint of QCustomPlot plot: 87 ms, 3
    /// over 50 ms". Their times are those of the clock, so they have what the machine did.
    QStringList longest() const;

Q_SIGNALS:
    void ticked();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    /// What a kind of event costs at most, and how often it is too long.
    struct Cost {
        qint64 mostMs = 0;
        int tooLong = 0;
    };
    void endEvent();
    void onTimeout();
    void startAnew();

    QTimer m_timer;
    QElapsedTimer m_sinceTick;
    qint64 m_waitedNs = 0;      ///< for a processor, up to the last tick
    qint64 m_lateNs = 0;        ///< the sleeper's lateness up to the last tick
    QElapsedTimer m_sinceEvent; ///< invalid: none is being handled
    QString m_event;            ///< that is being handled
    std::map<QString, Cost> m_costs;
    qint64 m_largestMs = 0;
    qint64 m_largestSinceRequestMs = 0;
    std::atomic<qint64> m_sleeperLateNs = 0;
    std::jthread m_sleeper;
};

/// Looks away for a scope.
class Blind {
public:
    explicit Blind(GapMeter& meter)
        : m_meter(meter) {
        m_meter.lookAway();
    }
    ~Blind() { m_meter.watch(); }
    Blind(const Blind&) = delete;
    Blind& operator=(const Blind&) = delete;

private:
    GapMeter& m_meter;
};

} // namespace rm::test
