// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/queue_driver.h"

#include "app/core/answer.h"

#include <utility>

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

void QueueDriver::ask() {
    if (std::exchange(m_isAsking, true)) {
        m_asksAgain = true;
        return;
    }
    m_asksAgain = false;
    whenFinished(m_engine.ask(StartQueuedRequest{}), this,
                 [this](const QFuture<Result<QueueProgress>>& finished) {
                     m_isAsking = false;
                     if (finished.resultCount() == 0)
                         return;
                     const auto progress = finished.result();
                     if (progress)
                         Q_EMIT looked(*progress);
                     else
                         Q_EMIT failed(QString::fromStdString(progress.error().message));
                     if (m_asksAgain)
                         m_soon.start();
                 });
}

} // namespace rm
