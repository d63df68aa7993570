// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/core/runs/run_figures.h"
#include "app/core/store/attempts.h"
#include "app/core/store/run_summary.h"

#include <QAbstractTableModel>

#include <vector>

namespace rm {

/// One rank a row: where it is, what it does, how fast, and how it ended.
class RanksModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column {
        kRank,
        kNode,
        kState,
        kStep,
        kThroughput,
        kStepMs,
        kFirstPhase, ///< the first of stepPhases(); the process column follows the last
    };

    using QAbstractTableModel::QAbstractTableModel;

    void show(const RunSummary& run, const std::vector<StoredRank>& ranks,
              const RunFigures& figures, const LiveState& live);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    struct Row {
        StoredRank stored;
        QString node;
        RankMeans means = {};
        std::optional<RankState> live = {};
        std::optional<size_t> slowPhase = {}; ///< of a straggler
    };
    QString text(const Row& row, int column) const;
    QString stateText(const Row& row) const;
    QVariant foreground(const Row& row, int column) const;

    std::vector<Row> m_rows;
    MetricDef m_throughput = builtinMetric(metric::kTrainTokensPerS);
    bool m_isOfSpan = false; ///< the figures are of some steps; state and step are of now
};

} // namespace rm
