// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_groups.h"
#include "app/core/runs/run_values.h"
#include "app/core/store/run_summary.h"
#include "app/ui/widgets/cell_delegate.h"

#include <QAbstractTableModel>
#include <QSet>
#include <QSortFilterProxyModel>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rm {

class RunStyles;

/// One run per row; behind them one row per group, its header. Notes and tags are editable: an edit
/// emits a signal, and the row changes once the store has it.
class RunsModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        kName,
        kState,
        kStep,
        kLoss,
        kBest,
        kRanks,
        kNodes,
        kParent, ///< what it is a branch of
        kCreated,
        kTags,
        kNotes,
        kStar,
        kColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    /// Runs have their styles beside their names. It outlives the model.
    void setStyles(const RunStyles& styles);
    void setRuns(const std::vector<RunSummary>& runs);
    /// Columns that a person has added, behind the others: keys of parseValueKey().
    void setKeys(const std::vector<std::string>& keys);
    const std::vector<std::string>& keys() const { return m_keys; }
    void setValues(RunValues::Table values);
    const RunValues::Table& values() const { return m_values; }
    const RunSummary* at(int row) const; ///< nullptr: the row is no run's
    const std::vector<RunSummary>& runs() const { return m_runs; }

    /// The groups of these runs, of which each has the places in runs(). `key`: of
    /// checkGroupKey(). Figures of a column are by columnId().
    void setGroups(std::vector<RunGroup> groups, const std::string& key);
    const std::vector<RunGroup>& groups() const { return m_groups; }
    std::optional<size_t> groupOf(int row) const; ///< of a run's row or a header
    bool isHeader(int row) const;

    /// The name of a column in the settings of the window: "loss"; of one that was added its key.
    std::string columnId(int column) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

Q_SIGNALS:
    void notesEdited(const QString& run, const QString& notes);
    void tagsEdited(const QString& run, const QStringList& tags);

private:
    int runCount() const { return static_cast<int>(m_runs.size()); }
    QVariant runData(const RunSummary& run, int column, int role) const;
    QVariant text(const RunSummary& run, int column) const;
    QVariant sortKey(const RunSummary& run, int column) const;
    QVariant toolTip(const RunSummary& run, int column) const;
    QVariant headerRowData(const RunGroup& group, int column, int role) const;
    QString titleOf(const RunGroup& group) const;
    const std::string* keyOf(int column) const; ///< nullptr: it is none of setKeys()
    QVariant valueOf(const RunSummary& run, const std::string& key) const; ///< a number or a text

    const RunStyles* m_styles = nullptr;
    std::vector<RunSummary> m_runs;
    std::vector<std::string> m_keys;
    RunValues::Table m_values;
    std::set<std::string> m_textKeys; ///< keys with a value that is no number
    std::vector<RunGroup> m_groups;
    std::string m_groupKey;
    std::vector<std::optional<size_t>> m_groupOfRun; ///< by row
};

/// Rows for which a filter holds, sorted, and put together in groups. The words of the filter are
/// looked for in what the row shows.
class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit RunsFilter(QObject* parent = nullptr);
    /// `values`: what runs have for the filter's keys.
    void setFilter(const RunFilter& filter, RunValues::Table values = {});
    /// By a key of checkGroupKey(); empty: not at all.
    void setGroupKey(const std::string& key);
    const std::string& groupKey() const { return m_groupKey; }
    /// Makes the groups anew of what the model has now.
    void regroup();
    /// The values of the groups whose runs are folded away.
    void setFolded(const QSet<QString>& values);
    const QSet<QString>& folded() const { return m_folded; }
    bool isHeader(int row) const;         ///< of this model
    QString groupOf(int row) const;       ///< the value that the group of the row has in common
    QStringList runsUnder(int row) const; ///< their ids, folded away or not; of a run's row none
    /// Folds the group of a header away, or shows its runs again.
    void toggle(int row);
    void foldAll(bool isFolded);
    int runsInSight() const; ///< without headers, with those that are folded away

    QVariant data(const QModelIndex& index, int role) const override;
    void sort(int column, Qt::SortOrder order) override;

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
    RunsModel& model() const;
    bool isWanted(int row) const; ///< whether the filter holds for the run
    bool isFolded(const RunGroup& group) const;
    std::vector<size_t> orderedGroups() const;
    void orderGroups();

    std::vector<std::string> m_words; ///< of the filter
    RunFilter m_conditions;           ///< of the filter, without its words
    RunValues::Table m_values;
    std::string m_groupKey;
    QSet<QString> m_folded;
    std::vector<size_t> m_placeOfGroup;         ///< by group
    std::vector<std::optional<size_t>> m_shown; ///< the groups that the rows were put in
    std::vector<std::string> m_shownValues;     ///< of these groups
};

} // namespace rm
