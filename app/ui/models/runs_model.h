// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_values.h"
#include "app/core/store/run_summary.h"
#include "app/ui/widgets/cell_delegate.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <set>
#include <string>
#include <vector>

namespace rm {

/// One run per row. Notes and tags are editable: an edit emits a signal, and the row changes once
/// the store has it.
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
        kColumnCount
    };

    using QAbstractTableModel::QAbstractTableModel;

    void setRuns(const std::vector<RunSummary>& runs);
    /// Columns that a person has added, behind the others: keys of parseValueKey().
    void setKeys(const std::vector<std::string>& keys);
    const std::vector<std::string>& keys() const { return m_keys; }
    void setValues(RunValues::Table values);
    const RunSummary* at(int row) const;

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
    QVariant text(const RunSummary& run, int column) const;
    QVariant sortKey(const RunSummary& run, int column) const;
    QVariant toolTip(const RunSummary& run, int column) const;
    const std::string* keyOf(int column) const; ///< nullptr: it is none of setKeys()
    QVariant valueOf(const RunSummary& run, const std::string& key) const; ///< a number or a text

    std::vector<RunSummary> m_runs;
    std::vector<std::string> m_keys;
    RunValues::Table m_values;
    std::set<std::string> m_textKeys; ///< keys with a value that is no number
};

/// Rows for which a filter holds: its words are looked for in what the row shows.
class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit RunsFilter(QObject* parent = nullptr);
    /// `values`: what runs have for the filter's keys.
    void setFilter(const RunFilter& filter, RunValues::Table values = {});

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    RunFilter m_filter;
    RunValues::Table m_values;
};

} // namespace rm
