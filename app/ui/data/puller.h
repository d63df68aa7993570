// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/answer.h"

#include <QObject>
#include <QPointer>
#include <QTimer>

namespace rm {

/// Turns "something is new" into at most one query every `intervalMs`, never two at a time. Drops
/// the answers of queries that restart() made obsolete. GUI thread.
class Puller : public QObject {
    Q_OBJECT
public:
    explicit Puller(int intervalMs, QObject* parent);

    void request(); ///< pull() comes soon
    void restart(); ///< forget the question under way (its answer is stale), ask anew

    /// Inside pull(): continues with `use(answer)` unless it is stale by then.
    template <class T, class Use>
    void await(QFuture<T> future, QObject* context, Use use) {
        m_busy = true;
        const int generation = m_generation;
        const auto onFinished = [this, generation, guard = QPointer<QObject>(context),
                                 use](const QFuture<T>& finished) mutable {
            if (generation == m_generation && guard && finished.resultCount() > 0)
                use(finished.result());
            done(generation);
        };
        whenFinished(future, this, onFinished);
    }

Q_SIGNALS:
    void pull();

private:
    void fire();
    void done(int generation);

    QTimer m_timer;
    int m_generation = 0;
    bool m_busy = false;
    bool m_again = false;
};

} // namespace rm
