// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace rm::test {

/// How long the thread's event loop was away at most, seen by a timer of 10 ms. Starts blind.
class GapMeter : public QObject {
    Q_OBJECT
public:
    GapMeter();

    void watch();
    void lookAway(); ///< while the test itself does what blocks
    qint64 largestMs() const { return m_largestMs; }
    qint64 largestSinceAskedMs();

Q_SIGNALS:
    void ticked();

private:
    void onTimeout();

    QTimer m_timer;
    QElapsedTimer m_sinceTick;
    qint64 m_largestMs = 0;
    qint64 m_largestSinceAskedMs = 0;
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
