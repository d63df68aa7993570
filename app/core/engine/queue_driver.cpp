// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/queue_driver.h"

#include "app/core/answer.h"

namespace rm {

namespace {

using namespace std::chrono_literals;

constexpr auto kSoon = 500ms; ///< changes come in bursts
constexpr auto kOften = 20s;  ///< a node may be free that nobody tells of, as one that was away

} // namespace

QueueDriver::QueueDriver(Engine& engine, QObject* parent)
    : QObject(parent)
    , m_engine(engine) {
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoon);
    m_often.setInterval(kOften);
    connect(&m_soon, &QTimer::timeout, this, &QueueDriver::ask);
    connect(&m_often, &QTimer::timeout, this, &QueueDriver::ask);
    connect(&engine, &Engine::runsChanged, this, [this] {
        if (!m_soon.isActive())
            m_soon.start();
    });
    m_often.start();
    m_soon.start();
}

/// The answer comes once what was found to start trains: other nodes may be free before that.
void QueueDriver::ask() {
    ++m_open;
    whenAnswered(m_engine.ask(StartQueuedRequest{}), this,
                 [this](const Result<QueueProgress>& answer) {
                     --m_open;
                     if (!answer) {
                         Q_EMIT failed(QString::fromStdString(answer.error().message));
                         return;
                     }
                     QueueProgress progress = *answer;
                     if (progress.look > m_newest.look)
                         m_newest = progress;
                     progress.waiting = m_newest.waiting;
                     progress.undecided = m_newest.undecided;
                     Q_EMIT looked(progress);
                 });
}

} // namespace rm
