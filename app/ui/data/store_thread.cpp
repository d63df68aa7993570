// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/store_thread.h"

#include "app/core/store/store_reader.h"

#include <QFileInfo>

namespace rm {

StoreThread::StoreThread(QString databasePath, QObject* parent)
    : QObject(parent)
    , m_path(std::move(databasePath))
    , m_worker(new QObject) {
    m_worker->moveToThread(&m_thread);
    m_thread.setObjectName("store reader");
    m_thread.start();
}

StoreThread::~StoreThread() {
    {
        const std::lock_guard lock(m_mutex);
        m_isEnding = true;
        if (m_reader)
            m_reader->interrupt();
    }
    m_thread.quit();
    m_thread.wait();
    delete m_worker;
}

void StoreThread::post(Job job) {
    QMetaObject::invokeMethod(
        m_worker,
        [this, job = std::move(job)] {
            std::unique_lock lock(m_mutex);
            if (m_isEnding)
                return;
            StoreReader* opened = reader();
            lock.unlock();
            job(opened);
        },
        Qt::QueuedConnection);
}

StoreReader* StoreThread::reader() {
    if (m_reader || !QFileInfo::exists(m_path))
        return m_reader.get();
    auto opened = StoreReader::open(m_path);
    if (opened) {
        m_reader = std::move(*opened);
    } else if (!m_complained) {
        m_complained = true;
        Q_EMIT broken(QString::fromStdString(opened.error().message));
    }
    return m_reader.get();
}

} // namespace rm
