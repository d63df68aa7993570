// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_values.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"

#include <QWidget>

#include <memory>

class QLineEdit;
class QPushButton;
class QStackedWidget;

namespace rm {

class EmptyState;
class PageHeader;
class RunsFilter;
class RunsModel;
class Table;
struct RunSummary;

/// All runs in a table: filter, sort, edit names, tags and notes, compare, delete with undo, open;
/// the trash.
class RunsPage : public QWidget {
    Q_OBJECT
public:
    explicit RunsPage(const AppContext& context, QWidget* parent = nullptr);
    void refresh(); ///< also where what is stored can no longer be read
    void focusFilter();
    bool focusTable(); ///< false: there are no rows

Q_SIGNALS:
    void runChosen(const QString& run);
    void compareRequested(const QStringList& runs);
    void newRunRequested();

private:
    void buildUi();
    void wire();
    void restore();
    void showRows();
    void readFilter();
    void askColumns();
    void showColumns(const std::vector<std::string>& keys);
    std::vector<std::string> keysToRead() const;
    void pullValues();
    void showMenu(const QPoint& at);
    void offerActions(); ///< where they can be done, else with the reason
    void renameSelected();
    void cleanSelected();
    void deleteSelected();
    void offerUndo(const QStringList& runs, const QString& what);
    QString selectedRun() const; ///< if it is one alone
    QStringList selectedRuns() const;
    void select(const QStringList& runs);
    const RunSummary* selected() const;
    template <class Request>
    void edit(const Request& request);
    void report(const QString& problem);

    AppContext m_context;
    PageHeader* m_header;
    QLineEdit* m_filter;
    QPushButton* m_trash;
    QPushButton* m_columns;
    QPushButton* m_queue;
    QPushButton* m_compare;
    QPushButton* m_delete;
    QPushButton* m_new;
    QStackedWidget* m_stack;
    Table* m_table;
    EmptyState* m_empty;
    EmptyState* m_nothingFound;
    EmptyState* m_unread;
    RunsModel* m_model;
    RunsFilter* m_rows;
    RunFilter m_wanted; ///< as it was typed last without a mistake
    static constexpr int kPullMs = 300;
    Puller m_puller; ///< of what the filter asks for besides what the list has
    std::shared_ptr<RunValues> m_values = std::make_shared<RunValues>(); ///< the store thread's
};

} // namespace rm
