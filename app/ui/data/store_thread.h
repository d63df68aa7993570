// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"

#include <QFuture>
#include <QObject>
#include <QPromise>
#include <QThread>

#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>

namespace rm {

/// One worker thread with its own StoreReader: no query ever runs on the GUI thread.
class StoreThread : public QObject {
    Q_OBJECT
public:
    explicit StoreThread(QString databasePath, QObject* parent = nullptr);
    ~StoreThread() override; ///< drops what waits, breaks off what runs

    /// The answer to `query(reader)`; cancelled when there is no database (yet). Continue it with
    /// whenAnswered(). Thread-safe.
    template <class Query>
    auto ask(Query query) {
        using Answer = std::invoke_result_t<Query, StoreReader&>;
        auto promise = std::make_shared<QPromise<Answer>>();
        promise->start();
        QFuture<Answer> future = promise->future();
        post([promise, query = std::move(query)](StoreReader* reader) {
            if (reader)
                promise->addResult(query(*reader));
            else
                promise->future().cancel();
            promise->finish();
        });
        return future;
    }

Q_SIGNALS:
    /// The database cannot be read: why.
    void broken(const QString& message);

private:
    using Job = std::function<void(StoreReader*)>;
    void post(Job job);
    StoreReader* reader(); ///< worker thread

    QString m_path;
    QThread m_thread;
    QObject* m_worker;
    std::mutex m_mutex;
    bool m_isEnding = false;               ///< under the mutex
    std::unique_ptr<StoreReader> m_reader; ///< the worker thread's, made under the mutex
    bool m_complained = false;             ///< the worker thread's
};

} // namespace rm
