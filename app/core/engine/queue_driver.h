// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"

#include <QObject>
#include <QString>
#include <QTimer>

namespace rm {

/// Has the engine start what waits in the queue whenever a node may have become free, for as long
/// as it lives. A window has one, and the terminal's `queue work`. Several do no harm.
class QueueDriver : public QObject {
    Q_OBJECT
public:
    explicit QueueDriver(Engine& engine, QObject* parent = nullptr);

    /// All has been looked at since the last change, and nothing is being started for it.
    bool isIdle() const { return m_open == 0 && !m_soon.isActive(); }

Q_SIGNALS:
    /// After each time: what was started, and what the newest look said waits still.
    void looked(const rm::QueueProgress& progress);
    void failed(const QString& why); ///< the engine could not be asked

private:
    void ask();

    Engine& m_engine;
    QTimer m_soon;
    QTimer m_often;
    int m_open = 0;         ///< unanswered requests
    QueueProgress m_newest; ///< the newest look that was answered
};

} // namespace rm
