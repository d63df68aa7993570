// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"
#include "app/ui/data/puller.h"

#include <QHash>
#include <QObject>
#include <QString>

#include <vector>

namespace rm {

class Engine;
class StoreThread;

/// The lists of all runs and of those in the trash, kept fresh; every page that shows runs reads
/// this one copy.
class RunsFeed : public QObject {
    Q_OBJECT
public:
    RunsFeed(Engine& engine, StoreThread& store, QObject* parent = nullptr);

    const std::vector<RunSummary>& runs() const { return m_lists.runs; }
    const std::vector<RunSummary>& trash() const { return m_lists.trash; } ///< deleted last first
    const RunSummary* find(const QString& id) const; ///< quick, however many there are
    bool isLoaded() const { return m_loaded; }
    void refresh() { m_puller.restart(); }

Q_SIGNALS:
    void changed();

private:
    struct Lists {
        std::vector<RunSummary> runs, trash;
        bool operator==(const Lists&) const = default;
    };
    void pull();

    StoreThread& m_store;
    static constexpr int kPullMs = 150;
    Puller m_puller;
    Lists m_lists;
    QHash<QString, size_t> m_places; ///< of runs in their list, by id
    bool m_loaded = false;
};

} // namespace rm
