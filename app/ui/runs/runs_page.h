// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"

#include <QWidget>

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

/// All runs in a table: filter, sort, edit names, tags and notes, delete with undo, open; the
/// trash.
class RunsPage : public QWidget {
    Q_OBJECT
public:
    explicit RunsPage(const AppContext& context, QWidget* parent = nullptr);
    void refresh(); ///< also where what is stored can no longer be read
    void focusFilter();
    bool focusTable(); ///< false: there are no rows

Q_SIGNALS:
    void runChosen(const QString& run);
    void newRunRequested();

private:
    void buildUi();
    void wire();
    void restore();
    void showRows();
    void showMenu(const QPoint& at);
    void offerDelete(); ///< where it can be done, else with the reason
    void renameSelected();
    void cleanSelected();
    void deleteSelected();
    QString selectedRun() const;
    const RunSummary* selected() const;
    template <class Request>
    void edit(const Request& request);
    void report(const QString& problem);

    AppContext m_context;
    PageHeader* m_header;
    QLineEdit* m_filter;
    QPushButton* m_trash;
    QPushButton* m_delete;
    QPushButton* m_new;
    QStackedWidget* m_stack;
    Table* m_table;
    EmptyState* m_empty;
    EmptyState* m_nothingFound;
    EmptyState* m_unread;
    RunsModel* m_model;
    RunsFilter* m_rows;
};

} // namespace rm
