// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/models/checkpoints_model.h"

#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/retention.h"
#include "app/core/store/stored_checkpoint.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"
#include "shared/io/clock.h"

#include <algorithm>

namespace rm {

namespace {

bool isSame(const StoredCheckpoint& a, const StoredCheckpoint& b) {
    return a.saved == b.saved && a.attempt == b.attempt && a.retiredBy == b.retiredBy &&
           a.removed == b.removed && a.isBest == b.isBest && a.isDamaged == b.isDamaged &&
           a.node == b.node && a.copies == b.copies && a.verifiedNs == b.verifiedNs &&
           a.isPinned == b.isPinned;
}

/// "node-a, copied to node-b"; see foldersOf()
QString placesOf(const StoredCheckpoint& checkpoint) {
    QStringList copies;
    for (const CheckpointCopy& copy : checkpoint.copies)
        copies << nodeTitle(copy.node);
    if (checkpoint.removed)
        return CheckpointsModel::tr("copied to %1").arg(copies.join(", "));
    const QString own = nodeTitle(checkpoint.node);
    return copies.isEmpty() ? own
                            : CheckpointsModel::tr("%1, copied to %2").arg(own, copies.join(", "));
}

QString foldersOf(const StoredCheckpoint& checkpoint) {
    QStringList lines;
    if (!checkpoint.removed)
        lines << QString::fromStdString(checkpoint.saved.path);
    for (const CheckpointCopy& copy : checkpoint.copies)
        lines << nodeTitle(copy.node) + ": " + QString::fromStdString(copy.folder);
    return lines.join('\n');
}

} // namespace

void CheckpointsModel::show(const std::vector<StoredCheckpoint>& checkpoints,
                            const std::map<std::string, int64_t>& untilNs) {
    std::vector<StoredCheckpoint> kept;
    for (const StoredCheckpoint& checkpoint : checkpoints)
        if (isSomewhere(checkpoint) || untilNs.contains(checkpoint.saved.path))
            kept.push_back(checkpoint);
    if (std::ranges::equal(kept, m_checkpoints, isSame) && untilNs == m_untilNs)
        return;
    beginResetModel();
    m_untilNs = untilNs;
    m_checkpoints = std::move(kept);
    endResetModel();
}

bool CheckpointsModel::canBeBroughtBack(const StoredCheckpoint& checkpoint) const {
    return m_untilNs.contains(checkpoint.saved.path);
}

QString CheckpointsModel::places(const StoredCheckpoint& checkpoint) const {
    const auto until = m_untilNs.find(checkpoint.saved.path);
    if (until == m_untilNs.end() || isSomewhere(checkpoint))
        return placesOf(checkpoint);
    return tr("removed, can be brought back until %1").arg(formatExact(until->second));
}

void CheckpointsModel::setVerdicts(const std::map<std::string, StateWords>& verdicts) {
    m_verdicts = verdicts;
    if (rowCount() > 0)
        Q_EMIT dataChanged(index(0, kVerified), index(rowCount() - 1, kVerified));
}

void CheckpointsModel::setRemovedNext(const std::set<std::string>& paths) {
    if (paths == m_removedNext)
        return;
    m_removedNext = paths;
    if (rowCount() > 0)
        Q_EMIT dataChanged(index(0, kBecause), index(rowCount() - 1, kBecause));
}

/// The verdict that was found now, or when it was whole. Empty: it was never verified.
StateWords CheckpointsModel::verdict(const StoredCheckpoint& checkpoint) const {
    const auto found = m_verdicts.find(checkpoint.saved.path);
    if (found != m_verdicts.end())
        return found->second;
    if (checkpoint.verifiedNs == 0)
        return {};
    return {tr("Whole %1").arg(formatRelative(checkpoint.verifiedNs, wallNowNs())), Tone::kGood};
}

bool CheckpointsModel::showsVerified() const {
    return std::ranges::any_of(m_checkpoints, [this](const StoredCheckpoint& checkpoint) {
        return !verdict(checkpoint).text.isEmpty();
    });
}

const StoredCheckpoint* CheckpointsModel::at(int row) const {
    return row >= 0 && row < rowCount() ? &m_checkpoints[static_cast<size_t>(row)] : nullptr;
}

int CheckpointsModel::rowOfStep(int64_t step) const {
    int row = -1;
    for (int at = rowCount() - 1; at >= 0; --at)
        if (const auto& each = m_checkpoints[static_cast<size_t>(at)]; each.saved.step == step)
            if (row < 0 || each.retiredBy == 0)
                row = at;
    return row;
}

int CheckpointsModel::rowOfPath(const std::string& path) const {
    const auto found = std::ranges::find_if(
        m_checkpoints, [&](const auto& checkpoint) { return checkpoint.saved.path == path; });
    return found == m_checkpoints.end() ? -1 : static_cast<int>(found - m_checkpoints.begin());
}

int CheckpointsModel::rowOfNewest() const {
    const StoredCheckpoint* newest = newestLiving(m_checkpoints);
    return newest ? static_cast<int>(newest - m_checkpoints.data()) : 0;
}

int CheckpointsModel::rowOfNewest(const StepSpan& span) const {
    const auto found = std::ranges::find_if(m_checkpoints, [&](const StoredCheckpoint& each) {
        return each.retiredBy == 0 && span.holds(each.saved.step);
    });
    return found == m_checkpoints.end() ? -1 : static_cast<int>(found - m_checkpoints.begin());
}

int CheckpointsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_checkpoints.size());
}

int CheckpointsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumnCount;
}

QString CheckpointsModel::text(const StoredCheckpoint& checkpoint, int column) const {
    const CheckpointSaved& saved = checkpoint.saved;
    switch (column) {
    case kStep:
        return formatCount(saved.step);
    case kAttempt:
        return QString::number(checkpoint.attempt);
    case kValidation:
        return formatFigure(saved.validationLoss);
    case kSize:
        return formatBytes(static_cast<double>(saved.bytes));
    case kWhere:
        return places(checkpoint);
    case kBecause:
        if (!isSomewhere(checkpoint))
            return QString::fromStdString(reasonWords(saved.reason));
        return QString::fromStdString(whySaved(checkpoint)) +
               (m_removedNext.contains(saved.path) ? QString("; ") + kRemovedNext : QString());
    case kSaved:
        return tr("%1, took %2")
            .arg(formatRelative(saved.wallNs, wallNowNs()), formatMilliseconds(saved.durationMs));
    case kVerified:
        return verdict(checkpoint).text.section(':', 0, 0);
    }
    return {};
}

QVariant CheckpointsModel::toolTip(const StoredCheckpoint& checkpoint, int column) const {
    if (column == kSaved)
        return formatExact(checkpoint.saved.wallNs);
    if (column == kWhere && isSomewhere(checkpoint))
        return foldersOf(checkpoint);
    if (column == kVerified)
        return verdict(checkpoint).text;
    if (column == kBecause && m_removedNext.contains(checkpoint.saved.path))
        return tr("%1: the rules of the spec do not keep it once another one is saved; a pinned "
                  "one "
                  "stays")
            .arg(text(checkpoint, column));
    return text(checkpoint, column);
}

QVariant CheckpointsModel::data(const QModelIndex& index, int role) const {
    const StoredCheckpoint* checkpoint = at(index.row());
    if (!checkpoint)
        return {};
    const int column = index.column();
    switch (role) {
    case Qt::DisplayRole:
        return text(*checkpoint, column);
    case kToneRole:
        return column == kVerified && !text(*checkpoint, column).isEmpty()
                   ? QVariant(static_cast<int>(verdict(*checkpoint).tone))
                   : QVariant();
    case Qt::ToolTipRole:
        return asPlain(toolTip(*checkpoint, column).toString());
    case Qt::FontRole:
        return column == kStep ? QVariant(Theme::instance().font(FontRole::kMono)) : QVariant();
    case Qt::ForegroundRole:
        if (checkpoint->retiredBy != 0)
            return colours().secondary;
        if (column == kValidation && checkpoint->isBest)
            return colours().good;
        return column >= kSize ? QVariant(colours().secondary) : QVariant();
    }
    return {};
}

QVariant CheckpointsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignVCenter | Qt::AlignLeft);
    if (role != Qt::DisplayRole)
        return {};
    const QString titles[] = {tr("Step"),  tr("Attempt"), tr("Validation loss"),
                              tr("Size"),  tr("Where"),   tr("Saved because"),
                              tr("Saved"), tr("Verified")};
    return titles[section];
}

} // namespace rm
