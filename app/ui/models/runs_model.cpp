// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/models/runs_model.h"

#include "app/core/runs/run_tags.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/run_styles.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "shared/io/clock.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

QString nodeTitles(const QString& names) {
    QStringList titles;
    for (const QString& name : names.split(", "))
        titles << nodeTitle(name.toStdString());
    return titles.join(", ");
}

/// What a group has in common: "lr = 0.001", "Failed", "No tags".
QString commonWords(const QString& key, const QString& value) {
    if (key == "tag")
        return value.isEmpty() ? RunsModel::tr("No tags") : value;
    if (key == "branch")
        return value.isEmpty() ? RunsModel::tr("No branches")
                               : RunsModel::tr("Branches of %1").arg(value);
    if (key == "sweep")
        return value.isEmpty() ? RunsModel::tr("No sweep") : value;
    if (key == "node")
        return value.isEmpty() ? RunsModel::tr("No nodes") : nodeTitles(value);
    if (key == "state")
        return capitalized(value.toStdString());
    const QString name = key.section('.', -1);
    return value.isEmpty() ? RunsModel::tr("No %1").arg(name)
                           : RunsModel::tr("%1 = %2").arg(name, value);
}

bool isMetric(const std::string& column) {
    return column == "loss" || column == "best" || column.find('/') != std::string::npos;
}

/// As the cells of that column: metrics in three digits or four, settings as they are written.
QString figureText(const std::string& column, double value) {
    return column == "step"   ? formatCount(std::llround(value))
           : isMetric(column) ? formatFigure(value)
                              : QString::number(value, 'g', QLocale::FloatingPointShortest);
}

/// The mean of what was measured; of settings, whose mean says nothing, what there is: "8 … 32".
QString summaryText(const std::string& column, const Aggregate& figure) {
    if (column == "step" || isMetric(column))
        return figureText(column, figure.mean);
    const QString least = figureText(column, figure.least);
    return figure.least == figure.most
               ? least
               : RunsModel::tr("%1 … %2").arg(least, figureText(column, figure.most));
}

/// What the cell of a header row is of.
QString figureWords(const std::string& column, const Aggregate& figure) {
    if (figure.least == figure.most)
        return counted(figure.count, RunsModel::tr("Of 1 run"),
                       RunsModel::tr("The same in %1 runs"));
    if (column != "step" && !isMetric(column))
        return RunsModel::tr("From %2 to %3 in %1 runs")
            .arg(figure.count)
            .arg(figureText(column, figure.least), figureText(column, figure.most));
    return RunsModel::tr("Mean of %1 runs: %2 ± %3 (standard deviation), from %4 to %5")
        .arg(figure.count)
        .arg(figureText(column, figure.mean), figureText(column, figure.spread),
             figureText(column, figure.least), figureText(column, figure.most));
}

} // namespace

void RunsModel::setStyles(const RunStyles& styles) {
    m_styles = &styles;
    const auto redraw = [this] {
        if (rowCount() > 0)
            Q_EMIT dataChanged(index(0, kName), index(rowCount() - 1, kName), {Qt::DecorationRole});
    };
    connect(&styles, &RunStyles::changed, this, redraw);
    connect(&Theme::instance(), &Theme::changed, this, redraw);
}

void RunsModel::setRuns(const std::vector<RunSummary>& runs) {
    const bool sameRows = std::ranges::equal(runs, m_runs, {}, &RunSummary::id, &RunSummary::id);
    if (!sameRows) {
        beginResetModel();
        m_runs = runs;
        m_groups.clear();
        m_groupOfRun.clear();
        endResetModel();
        return;
    }
    const std::vector<RunSummary> before = std::exchange(m_runs, runs);
    if (m_runs.empty())
        return;
    Q_EMIT dataChanged(index(0, 0), index(runCount() - 1, kCreated));
    // dataChanged() for a cell that is being edited would discard what was typed.
    for (int row = 0; row < runCount(); ++row)
        for (const int column : {kTags, kNotes, kStar})
            if (text(before[static_cast<size_t>(row)], column) != text(*at(row), column))
                Q_EMIT dataChanged(index(row, column), index(row, column));
}

void RunsModel::setGroups(std::vector<RunGroup> groups, const std::string& key) {
    if (groups == m_groups && key == m_groupKey)
        return;
    const int before = rowCount(), now = runCount() + static_cast<int>(groups.size());
    if (now > before)
        beginInsertRows({}, before, now - 1);
    else if (now < before)
        beginRemoveRows({}, now, before - 1);
    m_groups = std::move(groups);
    m_groupKey = key;
    m_groupOfRun.assign(m_runs.size(), std::nullopt);
    for (size_t group = 0; group < m_groups.size(); ++group)
        for (const size_t run : m_groups[group].runs)
            m_groupOfRun[run] = group;
    if (now > before)
        endInsertRows();
    else if (now < before)
        endRemoveRows();
    if (!m_groups.empty())
        Q_EMIT dataChanged(index(runCount(), 0), index(now - 1, columnCount() - 1));
}

bool RunsModel::isHeader(int row) const {
    return row >= runCount() && row < rowCount();
}

std::optional<size_t> RunsModel::groupOf(int row) const {
    if (isHeader(row))
        return static_cast<size_t>(row - runCount());
    const auto run = static_cast<size_t>(row);
    return run < m_groupOfRun.size() ? m_groupOfRun[run] : std::nullopt;
}

std::string RunsModel::columnId(int column) const {
    if (const std::string* key = keyOf(column))
        return *key;
    constexpr const char* kIds[] = {"name",  "state",  "step",    "loss", "best",  "ranks",
                                    "nodes", "branch", "created", "tags", "notes", "star"};
    static_assert(std::size(kIds) == kColumnCount);
    return kIds[column];
}

const RunSummary* RunsModel::at(int row) const {
    return row >= 0 && row < runCount() ? &m_runs[static_cast<size_t>(row)] : nullptr;
}

int RunsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : runCount() + static_cast<int>(m_groups.size());
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
        Q_EMIT dataChanged(index(0, kColumnCount), index(runCount() - 1, columnCount() - 1));
}

const std::string* RunsModel::keyOf(int column) const {
    const int place = column - kColumnCount;
    return place >= 0 && place < static_cast<int>(m_keys.size())
               ? &m_keys[static_cast<size_t>(place)]
               : nullptr;
}

QVariant RunsModel::valueOf(const RunSummary& run, const std::string& key) const {
    const auto known = valueIn(m_values, run.id, key);
    if (!known)
        return {};
    const QString value = QString::fromStdString(*known);
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
    case kStar:
        return run.isStarred ? tr("starred") : QString();
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
    case kStar:
        return run.isStarred ? 0 : 1; // they come first
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
    if (column == kStar)
        return run.isStarred ? tr("Starred; a click takes the star away") : tr("Star this run");
    if (column == kName) // with what a narrow table leaves out
        return tr("%1, id %2; F2 renames it").arg(run.name, run.id) + '\n' + placeWords(run) +
               (run.tags.isEmpty() ? QString() : kSeparator + run.tags.join(", "));
    return text(run, column);
}

QVariant RunsModel::data(const QModelIndex& index, int role) const {
    if (role == Qt::TextAlignmentRole)
        return QVariant(
            Qt::AlignVCenter |
            (isNumeric(index.column()) || keyOf(index.column()) ? Qt::AlignRight : Qt::AlignLeft));
    if (isHeader(index.row()))
        return headerRowData(m_groups[*groupOf(index.row())], index.column(), role);
    const RunSummary* run = at(index.row());
    return run ? runData(*run, index.column(), role) : QVariant();
}

QVariant RunsModel::runData(const RunSummary& run, int column, int role) const {
    switch (role) {
    case Qt::DisplayRole:
    case Qt::EditRole:
        return column == kStar ? QVariant(QString()) : text(run, column);
    case Qt::AccessibleTextRole:
        return column == kStar ? text(run, column) : QVariant();
    case Qt::ToolTipRole:
        return asPlain(toolTip(run, column).toString());
    case Qt::DecorationRole:
        return column == kName && m_styles ? QVariant(runSwatch(m_styles->of(run.id))) : QVariant();
    case kSortRole:
        return sortKey(run, column);
    case kToneRole:
        return column == kState ? QVariant(static_cast<int>(stateWords(run).tone)) : QVariant();
    case kStarRole:
        return column == kStar ? QVariant(run.isStarred) : QVariant();
    case kElideRole:
        return column == kName || column == kParent || column == kNodes
                   ? QVariant(static_cast<int>(Qt::ElideMiddle))
                   : QVariant();
    case kIdRole:
        return run.id;
    case kHintRole:
        return column == kTags ? tr("add tags") : column == kNotes ? tr("add a note") : QVariant();
    }
    return {};
}

QString RunsModel::titleOf(const RunGroup& group) const {
    return commonWords(QString::fromStdString(m_groupKey), QString::fromStdString(group.value)) +
           kSeparator +
           counted(static_cast<int64_t>(group.runs.size()), tr("1 run"), tr("%1 runs"));
}

QVariant RunsModel::headerRowData(const RunGroup& group, int column, int role) const {
    const std::string id = columnId(column);
    const auto figure = group.figures.find(id);
    const bool hasFigure = figure != group.figures.end();
    switch (role) {
    case Qt::DisplayRole:
        return column == kName ? titleOf(group)
               : hasFigure     ? summaryText(id, figure->second)
                               : QString();
    case Qt::ToolTipRole:
        return asPlain(column == kName ? titleOf(group)
                       : hasFigure     ? figureWords(id, figure->second)
                                       : QString());
    case kElideRole:
        return column == kName ? QVariant(static_cast<int>(Qt::ElideMiddle)) : QVariant();
    case kHeaderRole:
        return true;
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
    if (section == kStar && (role == Qt::ToolTipRole || role == Qt::AccessibleTextRole))
        return tr("Starred");
    if (role != Qt::DisplayRole)
        return {};
    const QString titles[] = {tr("Name"),    tr("State"), tr("Step"),  tr("Loss"),
                              tr("Best"),    tr("Ranks"), tr("Nodes"), tr("Branch of"),
                              tr("Created"), tr("Tags"),  tr("Notes"), QString()};
    return titles[section];
}

Qt::ItemFlags RunsModel::flags(const QModelIndex& index) const {
    const bool editable =
        !isHeader(index.row()) && (index.column() == kTags || index.column() == kNotes);
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
    Q_EMIT tagsEdited(run->id, tagsIn(value.toString()));
    return true;
}

RunsFilter::RunsFilter(QObject* parent)
    : QSortFilterProxyModel(parent) {
    setSortRole(kSortRole);
    setSortCaseSensitivity(Qt::CaseInsensitive);
    connect(this, &QAbstractItemModel::modelReset, this, [this] {
        m_placeOfGroup.clear(); // the rows are not in groups any more
        m_shown.clear();
        m_shownValues.clear();
    });
}

RunsModel& RunsFilter::model() const {
    return *qobject_cast<RunsModel*>(sourceModel());
}

void RunsFilter::setFilter(const RunFilter& filter, RunValues::Table values) {
    m_words = filter.words;
    m_conditions = {{}, filter.conditions};
    m_values = std::move(values);
    invalidateFilter();
    regroup();
}

void RunsFilter::setGroupKey(const std::string& key) {
    m_groupKey = key;
    regroup();
}

void RunsFilter::regroup() {
    std::vector<RunGroup> groups;
    std::vector<const RunSummary*> wanted;
    std::vector<size_t> rows;
    const auto& runs = model().runs();
    for (size_t row = 0; !m_groupKey.empty() && row < runs.size(); ++row)
        if (isWanted(static_cast<int>(row))) {
            wanted.push_back(&runs[row]);
            rows.push_back(row);
        }
    if (!wanted.empty())
        groups = groupRuns(wanted, m_groupKey, model().keys(),
                           [this](const RunSummary& run, const std::string& key) {
                               return valueIn(m_values, run.id, key);
                           });
    for (RunGroup& group : groups)
        for (size_t& run : group.runs)
            run = rows[run];
    model().setGroups(std::move(groups), m_groupKey);
    orderGroups();
}

/// By their values, which stay while runs train and means change; the other way round where the
/// rows are sorted so by the column of these values.
std::vector<size_t> RunsFilter::orderedGroups() const {
    std::vector<size_t> order(model().groups().size());
    std::iota(order.begin(), order.end(), size_t{0});
    const std::string id = sortColumn() < 0 ? std::string() : model().columnId(sortColumn());
    const bool isOfColumn = id == m_groupKey || id == m_groupKey + 's'; // "tags", "nodes"
    if (isOfColumn && sortOrder() == Qt::DescendingOrder)
        std::ranges::reverse(order);
    return order;
}

/// Sorts and filters rows anew if they are in other groups than before, or these have another order
/// or other values, by which they are folded.
void RunsFilter::orderGroups() {
    const std::vector<size_t> order = orderedGroups();
    std::vector<size_t> places(order.size());
    for (size_t place = 0; place < order.size(); ++place)
        places[order[place]] = place;
    std::vector<std::optional<size_t>> shown;
    for (int row = 0; !places.empty() && row < model().rowCount(); ++row)
        shown.push_back(model().groupOf(row));
    std::vector<std::string> values;
    for (const RunGroup& group : model().groups())
        values.push_back(group.value);
    if (places == m_placeOfGroup && shown == m_shown && values == m_shownValues)
        return;
    m_placeOfGroup = std::move(places);
    m_shown = std::move(shown);
    m_shownValues = std::move(values);
    invalidate();
}

void RunsFilter::sort(int column, Qt::SortOrder order) {
    QSortFilterProxyModel::sort(column, order);
    orderGroups();
}

void RunsFilter::setFolded(const QSet<QString>& values) {
    m_folded = values;
    invalidateFilter();
}

bool RunsFilter::isFolded(const RunGroup& group) const {
    return m_folded.contains(QString::fromStdString(group.value));
}

QString RunsFilter::groupOf(int row) const {
    const auto group = model().groupOf(mapToSource(index(row, 0)).row());
    return group ? QString::fromStdString(model().groups()[*group].value) : QString();
}

QStringList RunsFilter::runsUnder(int row) const {
    QStringList runs;
    if (isHeader(row))
        for (const size_t run :
             model().groups()[*model().groupOf(mapToSource(index(row, 0)).row())].runs)
            runs << model().runs()[run].id;
    return runs;
}

bool RunsFilter::isHeader(int row) const {
    return model().isHeader(mapToSource(index(row, 0)).row());
}

void RunsFilter::toggle(int row) {
    const QModelIndex header = mapToSource(index(row, 0));
    if (!model().isHeader(header.row()))
        return;
    const RunGroup& group = model().groups()[*model().groupOf(header.row())];
    const QString value = QString::fromStdString(group.value);
    if (!m_folded.remove(value))
        m_folded.insert(value);
    invalidateFilter();
    Q_EMIT dataChanged(mapFromSource(header), mapFromSource(header));
}

void RunsFilter::foldAll(bool isFolded) {
    m_folded.clear();
    if (isFolded)
        for (const RunGroup& group : model().groups())
            m_folded.insert(QString::fromStdString(group.value));
    invalidateFilter();
}

int RunsFilter::runsInSight() const {
    if (m_groupKey.empty())
        return rowCount();
    size_t runs = 0;
    for (const RunGroup& group : model().groups())
        runs += group.runs.size();
    return static_cast<int>(runs);
}

QVariant RunsFilter::data(const QModelIndex& index, int role) const {
    if (role != kHeaderRole)
        return QSortFilterProxyModel::data(index, role);
    const int row = mapToSource(index).row();
    return model().isHeader(row) ? QVariant(!isFolded(model().groups()[*model().groupOf(row)]))
                                 : QVariant();
}

bool RunsFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    if (parent.isValid() || model().isHeader(row))
        return !parent.isValid();
    const auto group = model().groupOf(row);
    return isWanted(row) && !(group && isFolded(model().groups()[*group]));
}

bool RunsFilter::isWanted(int row) const {
    QString haystack;
    if (!m_words.empty()) {
        haystack = model().at(row)->id + '\n' + model().at(row)->sweep + '\n';
        for (const int column : {RunsModel::kName, RunsModel::kState, RunsModel::kNodes,
                                 RunsModel::kParent, RunsModel::kTags, RunsModel::kNotes})
            haystack += sourceModel()->index(row, column).data().toString() + '\n';
    }
    const auto isShown = [&](const std::string& word) {
        return haystack.contains(QString::fromStdString(word), Qt::CaseInsensitive);
    };
    const RunSummary& run = *model().at(row);
    return std::ranges::all_of(m_words, isShown) &&
           matches(m_conditions, run,
                   [&](const std::string& key) { return valueIn(m_values, run.id, key); });
}

/// By groups, each with its header first; sorting turns the order round where it descends.
bool RunsFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    if (m_placeOfGroup.empty())
        return QSortFilterProxyModel::lessThan(left, right);
    const auto placeOf = [this](const QModelIndex& index) {
        const auto group = model().groupOf(index.row());
        const bool isKnown = group && *group < m_placeOfGroup.size();
        return std::pair(isKnown ? m_placeOfGroup[*group] : m_placeOfGroup.size(),
                         !model().isHeader(index.row()));
    };
    const auto leftPlace = placeOf(left), rightPlace = placeOf(right);
    const bool areRuns = leftPlace.second && rightPlace.second;
    if (leftPlace.first == rightPlace.first && areRuns)
        return QSortFilterProxyModel::lessThan(left, right);
    return sortOrder() == Qt::AscendingOrder ? leftPlace < rightPlace : leftPlace > rightPlace;
}

} // namespace rm
