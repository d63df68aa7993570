// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFuture>
#include <QFutureWatcher>
#include <QPromise>
#include <QtConcurrent>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace rm {

/// Calls `use(future)` in the thread of `context` once `future` has finished, with an answer or
/// canceled, unless `context` has been destroyed by then. Call it in that thread. It replaces
/// QFuture::then(context, ...), which in Qt 6.4 accesses the context from the answering thread and
/// whose onCanceled() can run on a half-destroyed object.
template <class T, class Use>
void whenFinished(const QFuture<T>& future, QObject* context, Use use) {
    auto* watcher = new QFutureWatcher<T>(context);
    QObject::connect(watcher, &QFutureWatcherBase::finished, context,
                     [watcher, use = std::move(use)]() mutable {
                         watcher->deleteLater();
                         use(watcher->future());
                     });
    watcher->setFuture(future);
}

/// whenFinished(), for the answer alone: never, when it was canceled.
template <class T, class Use>
void whenAnswered(const QFuture<T>& future, QObject* context, Use use) {
    whenFinished(future, context, [use = std::move(use)](const QFuture<T>& finished) mutable {
        if (finished.resultCount() > 0)
            use(finished.result());
    });
}

/// A future with the same answer, which finishes after `use(answer)` was called. Canceled when
/// `context` was destroyed before that.
template <class T, class Use>
QFuture<T> passOn(const QFuture<T>& future, QObject* context, Use use) {
    const auto promise = std::make_shared<QPromise<T>>();
    promise->start();
    whenFinished(future, context,
                 [promise, use = std::move(use)](const QFuture<T>& finished) mutable {
                     if (finished.resultCount() > 0) {
                         use(finished.result());
                         promise->addResult(finished.result());
                     }
                     promise->finish();
                 });
    return promise->future();
}

/// The answer of `work`, which runs in a thread of `pool`. Qt's part of it is compiled once for
/// each type of answer, as all work is a std::function to it, and not once for each call.
template <class Work, class T = std::invoke_result_t<Work>>
QFuture<T> runOn(QThreadPool& pool, Work work) {
    return QtConcurrent::run(&pool, std::function<T()>(std::move(work)));
}

} // namespace rm
