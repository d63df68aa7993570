// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/comparison.h"
#include "app/ui/data/run_styles.h"

#include <QAbstractTableModel>

#include <optional>
#include <vector>

namespace rm {

/// Rows of what several runs have, a column for each run under its colour and what its name has
/// that not all have. A value that is that of the first run is "=", where this is wanted.
class ComparisonTable : public QAbstractTableModel {
    Q_OBJECT
public:
    struct Row {
        QString title;
        QString toolTip = {};
        QStringList cells; ///< by run
        QStringList cellToolTips = {};
        std::optional<size_t> best = {};
        bool operator==(const Row&) const = default;
    };

    /// `styles` outlive it.
    ComparisonTable(const QString& title, bool marksSame, const RunStyles& styles, QObject* parent);

    void show(const std::vector<RunSummary>& runs, std::vector<Row> rows);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString m_title;
    bool m_marksSame;
    const RunStyles& m_styles;
    QStringList m_ids, m_runs, m_briefs; ///< the latter are their names, and what tells them apart
    std::vector<Row> m_rows;
};

/// What differs between the runs, or everything: facts, then settings of the spec.
std::vector<ComparisonTable::Row> differenceRows(const Comparison& comparison, bool all);
/// The best and the last value of the metrics of which one is better.
std::vector<ComparisonTable::Row> figureRows(const Comparison& comparison);

} // namespace rm
