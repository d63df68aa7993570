// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/requests/commands.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/app_context.h"
#include "app/ui/runs/bulk_answer.h"

#include <QObject>

#include <vector>

class QAction;
class QMenu;
class QWidget;

namespace rm {

/// What can be done with the runs that are chosen in a table: star, tags, archive, rename, stop,
/// clean, delete. What can be undone offers that once, for all of them; those that refuse are named
/// in one answer with the reason.
class RunsActions : public QObject {
    Q_OBJECT
public:
    /// The keys of the actions count where `table` has the focus.
    RunsActions(const AppContext& context, QWidget* table);

    /// Offers what can be done with these, else with the reason.
    void offer(const std::vector<RunSummary>& chosen);
    void addTo(QMenu& menu) const;
    QAction& deletion() const { return *m_delete; }
    QAction& rename() const { return *m_rename; }

    void setStarred(const std::vector<RunSummary>& runs, bool isStarred);

private:
    QAction* add(const QString& text, const char* objectName, QKeySequence keys);
    void toggleStar();
    void toggleArchived();
    void askTags();
    void changeTags(const std::vector<RunSummary>& runs, const QStringList& add,
                    const QStringList& remove);
    void askStop();
    /// Those that wait in the queue leave it.
    void stop(std::vector<RunSummary> live, const std::vector<RunSummary>& queued);
    void send(CommandKind kind, const std::vector<RunSummary>& runs, const BulkWords& words);
    void remove();
    /// `undo` has what takes back each of `requests`; empty: nothing does.
    template <class Request>
    void askEach(const std::vector<Request>& requests, const std::vector<Request>& undo,
                 const BulkWords& words);
    template <class Request>
    void report(const BulkAnswer& answer, const std::vector<Request>& undo, const BulkWords& words);

    QString nameOf(const QString& run) const;

    AppContext m_context;
    QWidget* m_table;
    std::vector<RunSummary> m_chosen;
    QAction* m_star;
    QAction* m_tags;
    QAction* m_archive;
    QAction* m_rename;
    QAction* m_stop;
    QAction* m_clean;
    QAction* m_delete;
};

} // namespace rm
