// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/models/ranks_model.h"

#include "app/core/store/attempts.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "shared/board/board.h"
#include "shared/exit_code.h"

#include <algorithm>
#include <utility>

namespace rm {

namespace {

std::optional<RankState> liveRank(const LiveState& live, int rank) {
    for (const LiveState::NodeLink& node : live.nodes)
        if (node.state)
            for (const RankState& state : node.state->ranks)
                if (state.rank == rank)
                    return state;
    return std::nullopt;
}

QString nodeOf(const RunSummary& run, int nodeIndex) {
    for (const RunNode& node : run.nodes)
        if (node.nodeIndex == nodeIndex)
            return nodeTitle(node.nodeName);
    return kAbsent;
}

QString timeOrAbsent(double millis) {
    return millis > 0 ? formatMilliseconds(millis) : kAbsent;
}

int pidColumn() {
    return RanksModel::kFirstPhase + static_cast<int>(stepPhases().size());
}

bool endedAsRequested(const RankExited& exited) {
    const auto code = static_cast<ExitCode>(exited.exitCode);
    return exited.signal == 0 && (code == ExitCode::kOk || code == ExitCode::kPaused ||
                                  code == ExitCode::kStopped || code == ExitCode::kPreempted);
}

} // namespace

void RanksModel::show(const RunSummary& run, const std::vector<StoredRank>& ranks,
                      const RunFigures& figures, const LiveState& live) {
    std::vector<Row> rows;
    for (const StoredRank& rank : ranks) {
        Row row{.stored = rank, .node = nodeOf(run, rank.nodeIndex)};
        const auto means = std::ranges::find(figures.ranks, rank.rank, &RankMeans::rank);
        if (means != figures.ranks.end())
            row.means = *means;
        row.live = liveRank(live, rank.rank);
        for (const Straggler& slow : figures.stragglers)
            if (slow.rank == rank.rank && !row.slowPhase)
                row.slowPhase = phaseOf(slow, figures.ranks);
        rows.push_back(std::move(row));
    }
    const bool reset = rows.size() != m_rows.size();
    if (reset)
        beginResetModel();
    m_rows = std::move(rows);
    if (std::exchange(m_throughput, figures.throughputMetric) != m_throughput)
        Q_EMIT headerDataChanged(Qt::Horizontal, kThroughput, kThroughput);
    if (std::exchange(m_isOfSpan, figures.span.has_value()) != m_isOfSpan)
        Q_EMIT headerDataChanged(Qt::Horizontal, kState, kStep);
    if (reset)
        endResetModel();
    else if (!m_rows.empty())
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int RanksModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int RanksModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : pidColumn() + 1;
}

QString RanksModel::stateText(const Row& row) const {
    if (row.stored.exited)
        return QString::fromStdString(row.stored.exited->message);
    const Phase phase = row.live ? static_cast<Phase>(row.live->phase) : Phase::kStarting;
    if (row.live && phase == Phase::kHeld) // it says so again and again
        return tr(phaseName(phase));
    if (row.live)
        return tr("%1 for %2")
            .arg(tr(phaseName(phase)), formatMilliseconds(static_cast<double>(row.live->sinceMs)));
    return kAbsent;
}

QString RanksModel::text(const Row& row, int column) const {
    if (column == pidColumn())
        return row.stored.pid > 0 ? QString::number(row.stored.pid) : kAbsent;
    if (const auto phase = static_cast<size_t>(column - kFirstPhase); column >= kFirstPhase)
        return phase < row.means.phaseMs.size() ? timeOrAbsent(row.means.phaseMs[phase]) : kAbsent;
    switch (column) {
    case kRank:
        return QString::number(row.stored.rank);
    case kNode:
        return row.node;
    case kState:
        return stateText(row);
    case kStep:
        return formatCount(row.live ? row.live->step : row.stored.step);
    case kThroughput:
        return row.means.throughput > 0 ? formatCompact(row.means.throughput) : kAbsent;
    case kStepMs:
        return timeOrAbsent(row.means.stepMs);
    }
    return {};
}

QVariant RanksModel::foreground(const Row& row, int column) const {
    const bool failed = row.stored.exited && !endedAsRequested(*row.stored.exited);
    if (failed && (column == kState || column == kRank))
        return colours().bad;
    const bool slow = row.slowPhase &&
                      (column == kRank || column == kFirstPhase + static_cast<int>(*row.slowPhase));
    return slow ? QVariant(colours().bad) : QVariant();
}

QVariant RanksModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount())
        return {};
    const Row& row = m_rows[static_cast<size_t>(index.row())];
    if (role == Qt::DisplayRole)
        return text(row, index.column());
    if (role == Qt::ToolTipRole)
        return asPlain(text(row, index.column()));
    if (role == Qt::ForegroundRole)
        return foreground(row, index.column());
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignVCenter |
                        (index.column() >= kStep ? Qt::AlignRight : Qt::AlignLeft));
    return {};
}

QVariant RanksModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignVCenter | (section >= kStep ? Qt::AlignRight : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    QStringList titles = {tr("Rank"),
                          tr("Node"),
                          m_isOfSpan ? tr("State now") : tr("State"),
                          m_isOfSpan ? tr("Step now") : tr("Step"),
                          throughputWord(m_throughput),
                          tr("Step time")};
    for (const MetricDef* phase : stepPhases())
        titles << phaseTitle(*phase);
    titles << tr("Process");
    return titles.value(section);
}

} // namespace rm
