// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/puller.h"

namespace rm {

Puller::Puller(int intervalMs, QObject* parent)
    : QObject(parent) {
    m_timer.setSingleShot(true);
    m_timer.setInterval(intervalMs);
    connect(&m_timer, &QTimer::timeout, this, &Puller::fire);
}

void Puller::request() {
    if (m_busy)
        m_again = true;
    else if (!m_timer.isActive())
        m_timer.start();
}

void Puller::restart() {
    ++m_generation;
    m_busy = false;
    m_again = false;
    m_timer.stop();
    fire();
}

void Puller::fire() {
    Q_EMIT pull();
}

void Puller::done(int generation) {
    if (generation != m_generation)
        return;
    m_busy = false;
    if (std::exchange(m_again, false))
        request();
}

} // namespace rm
