// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/run_summary.h"
#include "app/ui/widgets/cell_delegate.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

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

/// Rows whose name, state, nodes, tags or notes hold every word of the filter.
class RunsFilter : public QSortFilterProxyModel {
    Q_OBJECT
public:
    explicit RunsFilter(QObject* parent = nullptr);
    void setWords(const QString& words);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
};

} // namespace rm
