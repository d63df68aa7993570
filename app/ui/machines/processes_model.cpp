// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/machines/processes_model.h"

#include "app/core/machines/machine_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"

namespace rm {

namespace {

QString processText(const ProcessFigures& process, int column) {
    const auto text = [](const std::string& value) {
        return value.empty() ? kAbsent : QString::fromStdString(value);
    };
    QStringList gpus;
    int64_t gpuBytes = 0;
    for (const ProcessGpu& each : process.gpus) {
        gpus << QString::number(each.gpu);
        gpuBytes += each.bytes;
    }
    switch (column) {
    case ProcessesModel::kPid:
        return QString::number(process.pid);
    case ProcessesModel::kUser:
        return text(process.user);
    case ProcessesModel::kCpu:
        return process.cpu ? formatPercent(*process.cpu) : kAbsent;
    case ProcessesModel::kMemory:
        return process.memoryBytes > 0 ? formatMemory(process.memoryBytes) : kAbsent;
    case ProcessesModel::kGpu:
        return gpus.isEmpty() ? kAbsent : gpus.join(", ");
    case ProcessesModel::kGpuMemory:
        return gpuBytes > 0 ? formatMemory(gpuBytes) : kAbsent;
    case ProcessesModel::kRun:
        return process.rank < 0 ? kAbsent : QString::fromStdString(ownerOf(process));
    case ProcessesModel::kCommand:
        return text(process.command.empty() ? process.name : process.command);
    default:
        return {};
    }
}

} // namespace

/// Rows stay, so that what is selected and where it was scrolled to stays, too.
void ProcessesModel::show(const std::vector<ProcessFigures>& processes) {
    const int before = rowCount(), now = static_cast<int>(processes.size());
    if (now > before)
        beginInsertRows({}, before, now - 1);
    else if (now < before)
        beginRemoveRows({}, now, before - 1);
    m_processes = processes;
    if (now > before)
        endInsertRows();
    else if (now < before)
        endRemoveRows();
    if (now > 0)
        Q_EMIT dataChanged(index(0, 0), index(now - 1, kColumns - 1));
}

int ProcessesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_processes.size());
}

int ProcessesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumns;
}

QVariant ProcessesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const ProcessFigures& process = m_processes[static_cast<size_t>(index.row())];
    if (role == Qt::DisplayRole)
        return processText(process, index.column());
    const bool isFigure =
        index.column() == kCpu || index.column() == kMemory || index.column() == kGpuMemory;
    if (role == Qt::TextAlignmentRole && isFigure)
        return int(Qt::AlignRight | Qt::AlignVCenter);
    return {};
}

QVariant ProcessesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    static const char* const titles[] = {
        QT_TR_NOOP("PID"), QT_TR_NOOP("User"),       QT_TR_NOOP("CPU"), QT_TR_NOOP("Memory"),
        QT_TR_NOOP("GPU"), QT_TR_NOOP("GPU memory"), QT_TR_NOOP("Run"), QT_TR_NOOP("Command")};
    return section >= 0 && section < kColumns ? tr(titles[section]) : QVariant();
}

} // namespace rm
