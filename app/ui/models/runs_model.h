// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/runs/run_filter.h"
#include "app/core/store/run_summary.h"
#include "app/ui/widgets/cell_delegate.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <map>
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

    std::vector<RunSummary> m_runs;
};

/// Rows for which a filter holds: its words are looked for in what the row shows.
class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit RunsFilter(QObject* parent = nullptr);
    /// What runs have for a filter's keys, by run and key.
    using Values = std::map<QString, std::map<std::string, std::string>>;
    void setFilter(const RunFilter& filter, Values values = {});

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    RunFilter m_filter;
    Values m_values;
};

} // namespace rm
