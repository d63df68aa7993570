// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/comparison.h"

#include <QAbstractTableModel>
#include <QPixmap>

#include <optional>
#include <vector>

namespace rm {

/// Colour and dash of a run among those that are compared: sixteen that can be told apart.
struct RunStyle {
    int colour = 0; ///< index of Colours::series
    Qt::PenStyle dash = Qt::SolidLine;
};
RunStyle runStyle(size_t place);
/// A piece of the run's line.
QPixmap runSwatch(const RunStyle& style);

/// Rows of what several runs have, a column for each run under its name and colour. A value that is
/// that of the first run is "=", where this is wanted.
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

    ComparisonTable(const QString& title, bool marksSame, QObject* parent);

    void show(const std::vector<RunSummary>& runs, std::vector<Row> rows);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    QString m_title;
    bool m_marksSame;
    QStringList m_runs; ///< names
    std::vector<Row> m_rows;
};

/// What differs between the runs, or everything: facts, then settings of the spec.
std::vector<ComparisonTable::Row> differenceRows(const Comparison& comparison, bool all);
/// The best and the last value of the metrics of which one is better.
std::vector<ComparisonTable::Row> figureRows(const Comparison& comparison);

} // namespace rm
