// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/lineage_table.h"

#include "app/ui/data/run_styles.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"

#include <QAbstractTableModel>
#include <QPainter>

#include <algorithm>

namespace rm {

namespace {

enum LineageColumn { kLineageName, kLineageGraph, kLineageChanges, kLineageColumns };

constexpr int kNameWidth = 150, kGraphWidth = 120;
constexpr int kLineageRows = 8; ///< in sight
constexpr int kGraphPad = 8;
constexpr int kBranchIndent = 12;
constexpr double kBar = 4, kAttemptBar = 2;

/// A row: a run, or one of its attempts.
struct LineageRow {
    size_t run = 0;
    const LineageAttempt* attempt = nullptr;
};

QString wordsOf(const std::vector<SettingChange>& changes, const QString& separator) {
    QStringList words;
    for (const SettingChange& change : changes)
        words << QString::fromStdString(changeWords(change));
    return words.join(separator);
}

/// They point into `runs`.
std::vector<LineageRow> rowsOf(const std::vector<LineageRun>& runs) {
    std::vector<LineageRow> rows;
    for (size_t run = 0; run < runs.size(); ++run) {
        rows.push_back({run, nullptr});
        const auto& attempts = runs[run].attempts;
        for (const LineageAttempt& attempt : attempts)
            if (attempts.size() > 1 || !attempt.changes.empty())
                rows.push_back({run, &attempt});
    }
    return rows;
}

bool isOfSameRows(const std::vector<LineageRun>& before, const std::vector<LineageRun>& now) {
    const auto isSame = [&](const LineageRow& left, const LineageRow& right) {
        return before[left.run].run.id == now[right.run].run.id &&
               (left.attempt ? left.attempt->attempt : 0) ==
                   (right.attempt ? right.attempt->attempt : 0);
    };
    return std::ranges::equal(rowsOf(before), rowsOf(now), isSame);
}

int64_t endOf(const LineageRun& run) {
    int64_t end = std::max(run.run.step, run.run.parentStep);
    for (const LineageAttempt& attempt : run.attempts)
        for (const StoredLine& line : attempt.lines)
            end = std::max(end, line.lastStep);
    return end;
}

} // namespace

class LineageModel : public QAbstractTableModel {
public:
    LineageModel(const RunStyles& styles, QObject* parent)
        : QAbstractTableModel(parent)
        , m_styles(styles) {}

    /// Rows that stay keep what a person chose of them.
    void show(std::vector<LineageRun> runs) {
        if (runs == m_runs)
            return;
        if (isOfSameRows(m_runs, runs)) {
            take(std::move(runs));
            redraw();
            return;
        }
        beginResetModel();
        take(std::move(runs));
        endResetModel();
    }

    void redraw() {
        if (!m_rows.empty())
            Q_EMIT dataChanged(index(0, 0), index(rowCount({}) - 1, kLineageColumns - 1));
    }

    const std::vector<LineageRun>& runs() const { return m_runs; }
    const std::vector<LineageRow>& rows() const { return m_rows; }
    const RunStyles& styles() const { return m_styles; }
    /// 0 to 1 over all steps.
    double shareOf(int64_t step) const {
        return static_cast<double>(step) / static_cast<double>(m_end);
    }
    int rowOf(size_t run) const {
        const auto found = std::ranges::find_if(
            m_rows, [run](const LineageRow& row) { return row.run == run && !row.attempt; });
        return static_cast<int>(found - m_rows.begin());
    }

    int rowCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
    }
    int columnCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : kLineageColumns;
    }

    QVariant data(const QModelIndex& index, int role) const override {
        const LineageRow& row = m_rows[static_cast<size_t>(index.row())];
        switch (role) {
        case Qt::DisplayRole:
            return textOf(row, index.column(), kSeparator);
        case Qt::AccessibleTextRole:
            return index.column() == kLineageGraph ? stepsOf(row)
                                                   : textOf(row, index.column(), ", ");
        case Qt::ToolTipRole:
            return asPlain(index.column() == kLineageGraph ? stepsOf(row)
                                                           : textOf(row, index.column(), "\n"));
        case Qt::DecorationRole:
            return index.column() == kLineageName && !row.attempt
                       ? QVariant(runSwatch(m_styles.of(m_runs[row.run].run.id)))
                       : QVariant();
        default:
            return {};
        }
    }

    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
            return {};
        return section == kLineageName    ? LineageTable::tr("Run")
               : section == kLineageGraph ? LineageTable::tr("Steps")
                                          : LineageTable::tr("What it changed");
    }

private:
    void take(std::vector<LineageRun> runs) {
        m_runs = std::move(runs);
        m_rows = rowsOf(m_runs);
        m_end = 1;
        for (const LineageRun& run : m_runs)
            m_end = std::max(m_end, endOf(run));
    }

    QString textOf(const LineageRow& row, int column, const QString& separator) const {
        const LineageRun& run = m_runs[row.run];
        if (column == kLineageGraph)
            return {};
        if (column == kLineageName)
            return row.attempt ? LineageTable::tr("attempt %1").arg(row.attempt->attempt)
                               : run.run.name;
        if (row.attempt)
            return wordsOf(row.attempt->changes, separator);
        if (run.parent && run.changes.empty())
            return LineageTable::tr("nothing");
        if (!run.parent && !run.run.parentRun.isEmpty())
            return LineageTable::tr("%1 is not stored here")
                .arg(run.run.parentName.isEmpty() ? run.run.parentRun : run.run.parentName);
        return wordsOf(run.changes, separator);
    }

    /// What the graph shows, in words.
    QString stepsOf(const LineageRow& row) const {
        const LineageRun& run = m_runs[row.run];
        if (!row.attempt)
            return run.parent ? LineageTable::tr("from %1 of %2 to %3")
                                    .arg(formatCount(run.run.parentStep),
                                         m_runs[*run.parent].run.name, formatCount(run.run.step))
                              : LineageTable::tr("to %1").arg(formatCount(run.run.step));
        QStringList parts;
        for (const StoredLine& line : row.attempt->lines) {
            const QString steps = LineageTable::tr("%1 to %2")
                                      .arg(formatCount(line.firstStep), formatCount(line.lastStep));
            parts << (line.retiredBy != 0 ? LineageTable::tr("%1, set aside").arg(steps) : steps);
        }
        return parts.isEmpty() ? LineageTable::tr("no step yet") : parts.join("; ");
    }

    const RunStyles& m_styles;
    std::vector<LineageRun> m_runs;
    std::vector<LineageRow> m_rows; ///< point into m_runs
    int64_t m_end = 1;              ///< the last step of any run
};

namespace {

/// Draws the graph, row by row; a branch's name stands further in.
class LineageDelegate : public CellDelegate {
public:
    LineageDelegate(const LineageModel& model, QObject* parent)
        : CellDelegate(parent)
        , m_model(model) {}

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        CellDelegate::paint(painter, option, index);
        if (index.column() != kLineageGraph)
            return;
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setClipRect(option.rect);
        drawLinks(*painter, option.rect, index.row());
        drawBars(*painter, option.rect, m_model.rows()[static_cast<size_t>(index.row())]);
        painter->restore();
    }

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        CellDelegate::initStyleOption(option, index);
        if (index.column() != kLineageName)
            return;
        const LineageRow& row = m_model.rows()[static_cast<size_t>(index.row())];
        const int depth = m_model.runs()[row.run].depth + (row.attempt ? 1 : 0);
        option->rect.adjust(std::min(depth, 4) * kBranchIndent, 0, 0, 0);
    }

private:
    double xOf(const QRect& cell, int64_t step) const {
        return cell.left() + kGraphPad + m_model.shareOf(step) * (cell.width() - 2 * kGraphPad);
    }

    /// The lines from parents down to their branches that pass through the row.
    void drawLinks(QPainter& painter, const QRect& cell, int row) const {
        painter.setPen(QPen(colours().secondary, 1));
        const double middle = cell.center().y() + 0.5;
        for (size_t run = 0; run < m_model.runs().size(); ++run) {
            const LineageRun& branch = m_model.runs()[run];
            if (!branch.parent)
                continue;
            const int from = m_model.rowOf(*branch.parent), to = m_model.rowOf(run);
            if (row < from || row > to)
                continue;
            const double x = xOf(cell, branch.run.parentStep);
            painter.drawLine(QPointF(x, row == from ? middle : cell.top()),
                             QPointF(x, row == to ? middle : cell.bottom() + 1));
        }
    }

    void drawBars(QPainter& painter, const QRect& cell, const LineageRow& row) const {
        const LineageRun& run = m_model.runs()[row.run];
        const RunStyle style = m_model.styles().of(run.run.id);
        const QColor colour = colours().series[static_cast<size_t>(style.colour)];
        const auto bar = [&](int64_t first, int64_t last, const QColor& with, double width) {
            QPen pen(with, width, style.dash, Qt::FlatCap);
            painter.setPen(pen);
            const double y = cell.center().y() + 0.5, from = xOf(cell, first);
            painter.drawLine(QPointF(from, y), QPointF(std::max(from + 2, xOf(cell, last)), y));
        };
        if (!row.attempt) {
            bar(run.run.parentStep, std::max(run.run.step, run.run.parentStep), colour, kBar);
            return;
        }
        for (const StoredLine& line : row.attempt->lines)
            bar(line.firstStep, line.lastStep, line.retiredBy != 0 ? colours().faint : colour,
                kAttemptBar);
    }

    const LineageModel& m_model;
};

} // namespace

LineageTable::LineageTable(const RunStyles& styles, QWidget* parent)
    : Table("lineage", tr("Lineage"), parent)
    , m_model(new LineageModel(styles, this)) {
    setModel(m_model);
    setItemDelegate(new LineageDelegate(*m_model, this));
    setColumnWidths({kNameWidth, kGraphWidth, 0});
    setRowsInSight(kLineageRows);
    connect(this, &Table::opened, this, [this](int row) {
        Q_EMIT runChosen(m_model->runs()[m_model->rows()[static_cast<size_t>(row)].run].run.id);
    });
    connect(&styles, &RunStyles::changed, this, [this] { m_model->redraw(); });
    connect(&Theme::instance(), &Theme::changed, this, [this] { m_model->redraw(); });
}

void LineageTable::show(std::vector<LineageRun> runs) {
    m_model->show(std::move(runs));
}

} // namespace rm
