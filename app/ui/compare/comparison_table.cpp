// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/comparison_table.h"

#include "app/ui/data/brief_names.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"
#include "shared/metrics/metric_title.h"

#include <algorithm>

namespace rm {

namespace {

QString text(const std::string& utf8) {
    return QString::fromStdString(utf8);
}

QString figure(const MetricDef& metric, double value) {
    switch (metric.format) {
    case MetricFormat::kPercent:
        return formatPercent(value);
    case MetricFormat::kBytes:
        return formatMemory(static_cast<int64_t>(value));
    case MetricFormat::kNumber:
        break;
    }
    return std::abs(value) >= 1000 ? formatCompact(value) : formatFigure(value);
}

QString figureToolTip(const MetricDef& metric, const MetricExtent& extent) {
    const auto at = [&](const QString& what, double value, int64_t step) {
        return ComparisonTable::tr("%1: %2 at step %3")
            .arg(what, figure(metric, value), formatCount(step));
    };
    return QStringList{at(ComparisonTable::tr("last"), extent.last, extent.lastStep),
                       at(ComparisonTable::tr("least"), extent.least, extent.leastStep),
                       at(ComparisonTable::tr("most"), extent.most, extent.mostStep)}
        .join('\n');
}

ComparisonTable::Row secondsRow(const Comparison& comparison) {
    ComparisonTable::Row row{ComparisonTable::tr("time in steps"),
                             ComparisonTable::tr("What all steps took together, without pauses, "
                                                 "validations and checkpoints"),
                             {}};
    for (const double seconds : comparison.secondsTrained)
        row.cells << (seconds > 0 ? formatDuration(seconds) : kAbsent);
    return row;
}

} // namespace

ComparisonTable::ComparisonTable(const QString& title, bool marksSame, const RunStyles& styles,
                                 QObject* parent)
    : QAbstractTableModel(parent)
    , m_title(title)
    , m_marksSame(marksSame)
    , m_styles(styles) {
    const auto redraw = [this] {
        if (columnCount() > 0)
            Q_EMIT headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
    };
    connect(&Theme::instance(), &Theme::changed, this, redraw);
    connect(&styles, &RunStyles::changed, this, redraw);
}

void ComparisonTable::show(const std::vector<RunSummary>& runs, std::vector<Row> rows) {
    QStringList names, ids;
    for (const RunSummary& run : runs) {
        names << run.name;
        ids << run.id;
    }
    if (names == m_runs && ids == m_ids && rows == m_rows)
        return;
    const bool isSameShape = names == m_runs && ids == m_ids && rows.size() == m_rows.size();
    if (!isSameShape)
        beginResetModel();
    m_ids = ids;
    m_runs = names;
    m_briefs = briefNames(names);
    m_rows = std::move(rows);
    if (!isSameShape)
        endResetModel();
    else
        Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
}

int ComparisonTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int ComparisonTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : 1 + static_cast<int>(m_runs.size());
}

QVariant ComparisonTable::data(const QModelIndex& index, int role) const {
    const Row& row = m_rows[static_cast<size_t>(index.row())];
    const int run = index.column() - 1;
    if (run < 0)
        return role == Qt::DisplayRole   ? row.title
               : role == Qt::ToolTipRole ? asPlain(row.toolTip)
                                         : QVariant();
    const QString& cell = row.cells[run];
    const bool isSame = m_marksSame && run > 0 && cell == row.cells.front();
    switch (role) {
    case Qt::DisplayRole:
        return isSame ? QStringLiteral("=") : cell.isEmpty() ? kAbsent : cell;
    case Qt::AccessibleTextRole:
        return cell;
    case Qt::ToolTipRole:
        return asPlain(row.cellToolTips.value(run, cell));
    case Qt::ForegroundRole:
        if (row.best == static_cast<size_t>(run))
            return colours().good;
        return isSame || cell.isEmpty() ? QVariant(colours().secondary) : QVariant();
    case Qt::FontRole:
        return row.best == static_cast<size_t>(run) ? Theme::instance().font(FontRole::kBodyStrong)
                                                    : QVariant();
    default:
        return {};
    }
}

QVariant ComparisonTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal)
        return {};
    if (section == 0)
        return role == Qt::DisplayRole ? QVariant(m_title) : QVariant();
    const QString& name = m_runs[section - 1];
    if (role == Qt::DisplayRole)
        return inTwoLines(m_briefs[section - 1]);
    if (role == Qt::AccessibleTextRole)
        return name;
    if (role == Qt::ToolTipRole)
        return asPlain(name);
    return role == Qt::DecorationRole ? runSwatch(m_styles.of(m_ids[section - 1])) : QVariant();
}

std::vector<ComparisonTable::Row> differenceRows(const Comparison& comparison, bool all) {
    std::vector<ComparisonTable::Row> rows;
    const auto add = [&](const ComparedValue& value, const QString& title, const QString& toolTip) {
        if (!all && !value.differs())
            return;
        ComparisonTable::Row row{title, toolTip, {}};
        for (const std::string& each : value.values)
            row.cells << text(each);
        rows.push_back(std::move(row));
    };
    for (const ComparedValue& fact : comparison.facts)
        add(fact, text(fact.label), {});
    for (const ComparedValue& setting : comparison.settings)
        if (setting.key != "name") // stands above
            add(setting, text(setting.key), text(setting.label));
    return rows;
}

std::vector<ComparisonTable::Row> figureRows(const Comparison& comparison) {
    std::vector<ComparisonTable::Row> rows;
    for (const ComparedMetric& metric : comparison.metrics) {
        const MetricDef& def = metric.def;
        if (def.direction == MetricDirection::kNeither)
            continue;
        ComparisonTable::Row row{
            text(titleOf(def)), text(def.name + ": " + def.description), {}, {}};
        if (metric.best == metric.bestLast)
            row.best = metric.best;
        for (size_t run = 0; run < metric.extents.size(); ++run) {
            const auto& extent = metric.extents[run];
            const auto marked = [run](const QString& words, const std::optional<size_t>& best) {
                return best == run ? words + QStringLiteral(" ★") : words;
            };
            row.cells << (extent
                              ? marked(figure(def, *bestOf(def, *extent)), metric.best) +
                                    kSeparator + marked(figure(def, extent->last), metric.bestLast)
                              : QString());
            row.cellToolTips << (extent ? figureToolTip(def, *extent) : QString());
        }
        rows.push_back(std::move(row));
    }
    rows.push_back(secondsRow(comparison));
    return rows;
}

} // namespace rm
