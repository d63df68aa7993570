// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/runs_feed.h"

#include "app/core/engine/engine.h"
#include "app/core/store/store_reader.h"
#include "app/ui/data/store_thread.h"

namespace rm {

RunsFeed::RunsFeed(Engine& engine, StoreThread& store, QObject* parent)
    : QObject(parent)
    , m_store(store)
    , m_puller(kPullMs, this) {
    connect(&engine, &Engine::runsChanged, &m_puller, &Puller::request);
    connect(&engine, &Engine::attemptEnded, &m_puller, &Puller::request);
    connect(&m_puller, &Puller::pull, this, &RunsFeed::pull);
    m_puller.restart();
}

const RunSummary* RunsFeed::find(const QString& id) const {
    const auto found = m_places.constFind(id);
    return found == m_places.cend() ? nullptr : &m_lists.runs[*found];
}

void RunsFeed::pull() {
    const auto read = [](StoreReader& reader) {
        const auto whole = reader.snapshot();
        return Lists{reader.runs(), reader.trash()};
    };
    m_puller.await(m_store.ask(read), this, [this](const Lists& lists) {
        const bool first = !m_loaded;
        m_loaded = true;
        if (!first && lists == m_lists)
            return;
        m_lists = lists;
        m_places.clear();
        for (size_t place = 0; place < m_lists.runs.size(); ++place)
            m_places.insert(m_lists.runs[place].id, place);
        Q_EMIT changed();
    });
}

} // namespace rm
