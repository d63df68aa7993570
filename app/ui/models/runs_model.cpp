// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/models/runs_model.h"

#include "app/core/store/run_summary.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "shared/io/clock.h"

#include <cmath>

namespace rm {

namespace {

QString nodeList(const RunSummary& run) {
    QStringList names;
    for (const RunNode& node : run.nodes)
        names << nodeTitle(node.nodeName);
    return names.join(", ");
}

QString stepText(const RunSummary& run) {
    return run.totalSteps > 0
               ? RunsModel::tr("%1 of %2").arg(formatCount(run.step), formatCount(run.totalSteps))
               : formatCount(run.step);
}

bool isNumeric(int column) {
    return column == RunsModel::kStep || column == RunsModel::kLoss || column == RunsModel::kBest ||
           column == RunsModel::kRanks;
}

} // namespace

void RunsModel::setRuns(const std::vector<RunSummary>& runs) {
    const bool sameRows = std::ranges::equal(runs, m_runs, {}, &RunSummary::id, &RunSummary::id);
    if (!sameRows) {
        beginResetModel();
        m_runs = runs;
        endResetModel();
        return;
    }
    const std::vector<RunSummary> before = std::exchange(m_runs, runs);
    if (m_runs.empty())
        return;
    Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, kCreated));
    // dataChanged() for a cell that is being edited would discard what was typed.
    for (int row = 0; row < rowCount(); ++row)
        for (const int column : {kTags, kNotes})
            if (text(before[static_cast<size_t>(row)], column) != text(*at(row), column))
                Q_EMIT dataChanged(index(row, column), index(row, column));
}

const RunSummary* RunsModel::at(int row) const {
    return row >= 0 && row < rowCount() ? &m_runs[static_cast<size_t>(row)] : nullptr;
}

int RunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

int RunsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kColumnCount + static_cast<int>(m_keys.size());
}

void RunsModel::setKeys(const std::vector<std::string>& keys) {
    if (keys == m_keys)
        return;
    beginResetModel();
    m_keys = keys;
    endResetModel();
}

void RunsModel::setValues(RunValues::Table values) {
    if (values == m_values)
        return;
    m_values = std::move(values);
    m_textKeys.clear();
    for (const RunSummary& run : m_runs)
        for (const std::string& key : m_keys)
            if (valueOf(run, key).typeId() == QMetaType::QString)
                m_textKeys.insert(key);
    if (!m_keys.empty() && !m_runs.empty())
        Q_EMIT dataChanged(index(0, kColumnCount), index(rowCount() - 1, columnCount() - 1));
}

const std::string* RunsModel::keyOf(int column) const {
    const int place = column - kColumnCount;
    return place >= 0 && place < static_cast<int>(m_keys.size())
               ? &m_keys[static_cast<size_t>(place)]
               : nullptr;
}

QVariant RunsModel::valueOf(const RunSummary& run, const std::string& key) const {
    const auto known = m_values.find(run.id);
    if (known == m_values.end() || !known->second.contains(key))
        return {};
    const QString value = QString::fromStdString(known->second.at(key));
    bool isNumber = false;
    const double number = value.toDouble(&isNumber);
    return isNumber ? QVariant(number) : QVariant(value);
}

QVariant RunsModel::text(const RunSummary& run, int column) const {
    if (const std::string* key = keyOf(column)) {
        const QVariant value = valueOf(run, *key);
        const bool isMetric = key->find('/') != std::string::npos;
        return !value.isValid() ? QVariant(kAbsent)
               : isMetric       ? QVariant(formatFigure(value.toDouble()))
                                : QVariant(value.toString());
    }
    switch (column) {
    case kName:
        return run.name;
    case kState:
        return stateWords(run).text;
    case kStep:
        return stepText(run);
    case kLoss:
        return formatKnown(run.loss);
    case kBest:
        return formatKnown(run.validationLoss);
    case kRanks:
        return run.ranks;
    case kNodes:
        return nodeList(run);
    case kParent:
        return parentWords(run);
    case kCreated:
        return formatRelative(run.createdNs, wallNowNs());
    case kTags:
        return run.tags.join(", ");
    case kNotes:
        return run.notes;
    }
    return {};
}

QVariant RunsModel::sortKey(const RunSummary& run, int column) const {
    if (const std::string* key = keyOf(column)) {
        const QVariant value = valueOf(run, *key);
        if (m_textKeys.contains(*key))
            return value.toString(); // of none: first
        return value.isValid() ? value : QVariant(INFINITY);
    }
    switch (column) {
    case kState:
        return static_cast<int>(run.state);
    case kStep:
        return static_cast<qlonglong>(run.step);
    case kLoss:
        return run.loss.value_or(INFINITY);
    case kBest:
        return run.validationLoss.value_or(INFINITY);
    case kCreated:
        return static_cast<qlonglong>(run.createdNs);
    default:
        return text(run, column);
    }
}

QVariant RunsModel::toolTip(const RunSummary& run, int column) const {
    if (column == kCreated)
        return formatExact(run.createdNs);
    if (column == kState && !run.message.isEmpty())
        return run.message;
    if (column == kTags || column == kNotes)
        return tr("Double click or F2 to edit");
    if (column == kName) // with what a narrow table leaves out
        return tr("%1, id %2; F2 renames it").arg(run.name, run.id) + '\n' + placeWords(run) +
               (run.tags.isEmpty() ? QString() : kSeparator + run.tags.join(", "));
    return text(run, column);
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    const RunSummary* run = at(index.row());
    if (!run)
        return {};
    switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
        return text(*run, index.column());
    case Qt::ToolTipRole:
        return asPlain(toolTip(*run, index.column()).toString());
    case Qt::TextAlignmentRole:
        return QVariant(
            Qt::AlignVCenter |
            (isNumeric(index.column()) || keyOf(index.column()) ? Qt::AlignRight : Qt::AlignLeft));
    case kSortRole:
        return sortKey(*run, index.column());
    case kToneRole:
        return index.column() == kState ? QVariant(static_cast<int>(stateWords(*run).tone))
                                        : QVariant();
    case kIdRole:
        return run->id;
    case kHintRole:
        return index.column() == kTags    ? tr("add tags")
               : index.column() == kNotes ? tr("add a note")
                                          : QVariant();
    }
    return {};
}

QVariant RunsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (const std::string* key = keyOf(section)) {
        const QString name = QString::fromStdString(*key);
        return role == Qt::DisplayRole         ? QVariant(name.section('.', -1))
               : role == Qt::ToolTipRole       ? QVariant(name)
               : role == Qt::TextAlignmentRole ? QVariant(Qt::AlignVCenter | Qt::AlignRight)
                                               : QVariant();
    }
    if (role == Qt::TextAlignmentRole)
        return QVariant(Qt::AlignVCenter | (isNumeric(section) ? Qt::AlignRight : Qt::AlignLeft));
    if (role != Qt::DisplayRole)
        return {};
    const QString titles[] = {tr("Name"),    tr("State"), tr("Step"),  tr("Loss"),
                              tr("Best"),    tr("Ranks"), tr("Nodes"), tr("Branch of"),
                              tr("Created"), tr("Tags"),  tr("Notes")};
    return titles[section];
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
    const bool editable = index.column() == kTags || index.column() == kNotes;
    return QAbstractTableModel::flags(index) | (editable ? Qt::ItemIsEditable : Qt::NoItemFlags);
}

bool RunsModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    const RunSummary* run = at(index.row());
    if (!run || role != Qt::EditRole || value == data(index, Qt::EditRole))
        return false;
    if (index.column() == kNotes) {
        Q_EMIT notesEdited(run->id, value.toString());
        return true;
    }
    QStringList tags;
    for (const QString& tag : value.toString().split(',', Qt::SkipEmptyParts))
        if (const QString trimmed = tag.trimmed(); !trimmed.isEmpty() && !tags.contains(trimmed))
            tags << trimmed;
    Q_EMIT tagsEdited(run->id, tags);
    return true;
}

RunsFilter::RunsFilter(QObject* parent)
    : QSortFilterProxyModel(parent) {
    setSortRole(kSortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
}

void RunsFilter::setFilter(const RunFilter& filter, RunValues::Table values) {
    m_filter = filter;
    m_values = std::move(values);
    invalidateFilter();
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    QString haystack = sourceModel()->index(row, 0, parent).data(kIdRole).toString() + '\n';
    for (const int column : {RunsModel::kName, RunsModel::kState, RunsModel::kNodes,
                             RunsModel::kParent, RunsModel::kTags, RunsModel::kNotes})
        haystack += sourceModel()->index(row, column, parent).data().toString() + '\n';
    const auto isShown = [&](const std::string& word) {
        return haystack.contains(QString::fromStdString(word), Qt::CaseInsensitive);
    };
    const RunSummary* run = qobject_cast<RunsModel*>(sourceModel())->at(row);
    const auto known = m_values.find(run->id);
    return std::ranges::all_of(m_filter.words, isShown) &&
           matches({{}, m_filter.conditions}, *run,
                   [&](const std::string& key) -> std::optional<std::string> {
                       if (known == m_values.end())
                           return std::nullopt;
                       const auto value = known->second.find(key);
                       return value == known->second.end() ? std::nullopt
                                                           : std::optional(value->second);
                   });
}

} // namespace rm
