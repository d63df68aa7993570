// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/wire/machine_sample.h"

#include <QAbstractTableModel>

#include <vector>

namespace rm {

/// The processes of a machine that matter most, one a row.
class ProcessesModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { kPid, kUser, kCpu, kMemory, kGpu, kGpuMemory, kRun, kCommand, kColumns };

    using QAbstractTableModel::QAbstractTableModel;

    /// In this order, in place of those that are shown; who looks keeps the row, not the process.
    void show(const std::vector<ProcessFigures>& processes);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    std::vector<ProcessFigures> m_processes;
};

} // namespace rm
