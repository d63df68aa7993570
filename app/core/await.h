// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QEventLoop>
#include <QFuture>
#include <QFutureWatcher>

namespace rm {

/// Runs the event loop until the future has its answer. For a program without a window, or before
/// its window is there.
template <class T>
T await(QFuture<T> future) {
    QEventLoop loop;
    QFutureWatcher<T> watcher;
    QObject::connect(&watcher, &QFutureWatcher<T>::finished, &loop, &QEventLoop::quit);
    watcher.setFuture(future);
    if (!future.isFinished())
        loop.exec();
    return future.result();
}

} // namespace rm
