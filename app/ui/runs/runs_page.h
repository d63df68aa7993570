// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_values.h"
#include "app/ui/data/app_context.h"
#include "app/ui/data/puller.h"
#include "app/ui/runs/runs_layout.h"

#include <QWidget>

#include <functional>
#include <memory>

class QLabel;
class QLayout;
class QLineEdit;
class QMenu;
class QPushButton;
class QStackedWidget;

namespace rm {

class EmptyState;
class FiltersButton;
class GroupButton;
class PageHeader;
class RunsActions;
class RunsFilter;
class RunsModel;
class Table;
struct RunSummary;

/// All runs in a table: filter, sort, group, edit names, tags and notes, star, archive, compare,
/// stop, delete with undo, open; the trash. How the table is arranged is kept.
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

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    /// What is selected in the table: ids of runs, and the values of the groups of headers.
    struct Chosen {
        QSet<QString> runs, headers;
        bool operator==(const Chosen&) const = default;
    };

    void buildUi();
    void buildHeader();
    QLayout* buildFilter();
    void buildTable();
    void wire();
    void wireTable();
    void wireColumns();
    void restore();
    void showRows();
    void beginInTable(); ///< with the keyboard, once it is in sight for the first time
    void showFacts();
    void readFilter();
    RunFilter effectiveFilter() const; ///< with what the toggle of the archive asks for
    void applyFilter();
    void askColumns();
    void showColumns(const std::vector<std::string>& keys);
    void arrangeColumns();
    void resetColumns();
    void narrowColumns();
    bool isPlaced(int column) const; ///< a person has moved it
    std::vector<int> emptyColumns() const;
    void notePlaced(int column);
    void noteArrangement();        ///< keeps how a person has arranged the columns
    QStringList columnIds() const; ///< as they are ordered at first
    int columnOf(const QString& id) const;
    void showLeftOut();
    void groupBy(const std::string& key);
    void noteFolded();
    std::vector<std::string> keysToRead() const;
    void pullValues();
    void click(const QModelIndex& cell);
    void open(int row);
    void fillMenu(QMenu& menu);
    void addSorting(QMenu& menu);
    void showMenu(const QPoint& at); ///< in the table
    void showMore();
    void offerActions();         ///< where they can be done, else with the reason
    QString selectedRun() const; ///< if it is one alone
    QStringList selectedRuns() const;
    Chosen chosen() const;
    void select(const Chosen& wanted);
    void keepSelected(const std::function<void()>& change);
    template <class Request>
    void edit(const Request& request);
    void save();

    AppContext m_context;
    PageHeader* m_header;
    QLineEdit* m_filter;
    FiltersButton* m_filters;
    GroupButton* m_group;
    QPushButton* m_trash;
    QPushButton* m_archived;
    QPushButton* m_columns;
    QPushButton* m_queue;
    QPushButton* m_compare;
    QPushButton* m_more;
    QPushButton* m_delete;
    QPushButton* m_new;
    QStackedWidget* m_stack;
    Table* m_table;
    QLabel* m_leftOut;
    QLabel* m_problem; ///< what is wrong with the filter
    EmptyState* m_empty;
    EmptyState* m_nothingFound;
    EmptyState* m_unread;
    RunsModel* m_model;
    RunsFilter* m_rows;
    RunsActions* m_actions;
    RunFilter m_wanted; ///< as it was typed last without a mistake
    RunsLayout m_layout;
    bool m_isArranging = false; ///< the columns, by this page
    bool m_hasBegun = false;
    static constexpr int kPullMs = 300;
    Puller m_puller; ///< reads what the filter asks for besides what the list has
    std::shared_ptr<RunValues> m_values = std::make_shared<RunValues>(); ///< the store thread's
};

} // namespace rm
