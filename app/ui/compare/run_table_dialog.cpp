// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/run_table_dialog.h"

#include "app/ui/data/brief_names.h"
#include "app/ui/data/run_styles.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/table.h"

#include <QAbstractTableModel>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

constexpr size_t kManyDigits = 6; ///< characters

class RunTableModel : public QAbstractTableModel {
public:
    RunTableModel(RunTable table, const RunStyles& styles, QObject* parent)
        : QAbstractTableModel(parent)
        , m_table(std::move(table))
        , m_styles(styles) {
        QStringList names;
        for (const RunSummary& run : m_table.runs)
            names << run.name;
        m_names = briefNames(names);
        for (size_t key = 0; key < m_table.keys.size(); ++key)
            m_scales.push_back(scaleOf(m_table, key));
        for (size_t key = 0; key < m_table.keys.size(); ++key)
            m_areFigures.push_back(hasManyDigits(key));
    }

    int rowCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_table.runs.size());
    }
    int columnCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : 1 + static_cast<int>(m_table.keys.size());
    }
    QVariant data(const QModelIndex& index, int role) const override {
        const auto row = static_cast<size_t>(index.row());
        return index.column() == 0 ? nameData(row, role)
                                   : valueData(row, static_cast<size_t>(index.column() - 1), role);
    }
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal)
            return {};
        if (section == 0)
            return role == Qt::DisplayRole ? QObject::tr("Run") : QVariant();
        const auto key = static_cast<size_t>(section - 1);
        if (role == Qt::TextAlignmentRole)
            return alignment(key);
        return role == Qt::DisplayRole || role == Qt::ToolTipRole
                   ? QString::fromStdString(m_table.keys[key])
                   : QVariant();
    }

private:
    QVariant nameData(size_t row, int role) const {
        const RunSummary& run = m_table.runs[row];
        switch (role) {
        case Qt::DecorationRole:
            return runSwatch(m_styles.of(run.id));
        case Qt::DisplayRole:
            return m_names[static_cast<qsizetype>(row)];
        case Qt::ToolTipRole:
            return asPlain(run.name);
        case Qt::AccessibleTextRole:
        case kSortRole:
            return run.name;
        default:
            return {};
        }
    }
    QVariant valueData(size_t row, size_t key, int role) const {
        const ValueScale& axis = m_scales[key];
        const double value = axis.values[row];
        const QString given = QString::fromStdString(m_table.values[row][key]);
        switch (role) {
        case Qt::DisplayRole:
            return m_areFigures[key] && !std::isnan(value) ? formatFigure(value)
                   : given.isEmpty()                       ? kAbsent
                                                           : given;
        case Qt::TextAlignmentRole:
            return alignment(key);
        case Qt::ToolTipRole: // with all its digits
            return asPlain(given);
        case kSortRole:
            return std::isnan(value) ? QVariant() : QVariant(value);
        default:
            return {};
        }
    }
    bool hasManyDigits(size_t key) const {
        const ValueScale& axis = m_scales[key];
        return axis.isNumeric() && !axis.isWhole() &&
               std::ranges::any_of(m_table.values,
                                   [&](const auto& row) { return row[key].size() > kManyDigits; });
    }
    QVariant alignment(size_t key) const {
        return QVariant(Qt::AlignVCenter |
                        (m_scales[key].isNumeric() ? Qt::AlignRight : Qt::AlignLeft));
    }

    RunTable m_table;
    QStringList m_names;              ///< by run, without what all have
    std::vector<bool> m_areFigures;   ///< by key: too many digits to read
    std::vector<ValueScale> m_scales; ///< by key
    const RunStyles& m_styles;
};

/// By numbers as such; what has no value is last in both directions.
class RunTableOrder : public QSortFilterProxyModel {
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

protected:
    bool lessThan(const QModelIndex& left, const QModelIndex& right) const override {
        const QVariant a = left.data(kSortRole), b = right.data(kSortRole);
        if (a.isValid() != b.isValid())
            return a.isValid() == (sortOrder() == Qt::AscendingOrder);
        return QVariant::compare(a, b) == QPartialOrdering::Less;
    }
};

constexpr int kLeastColumn = 80, kMostColumn = 420;

} // namespace

RunTableDialog::RunTableDialog(const RunTable& table, const RunStyles& styles, QWidget* parent)
    : QDialog(parent) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(
        tr("Values of %1")
            .arg(counted(static_cast<int64_t>(table.runs.size()), tr("1 run"), tr("%1 runs"))));
    resize(size::kTableDialogWidth, size::kReadingWidth);
    auto* view = new Table("runTable", windowTitle(), this);
    auto* order = new RunTableOrder(view);
    order->setSourceModel(new RunTableModel(table, styles, order));
    view->setModel(order);
    view->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder); // as the runs come
    view->setSortingEnabled(true);
    view->showWhole(kLeastColumn, kMostColumn);
    auto* column = new QVBoxLayout(this);
    column->addWidget(view);
    connect(view, &Table::opened, this, [this, order, runs = table.runs](int row) {
        const int run = order->mapToSource(order->index(row, 0)).row();
        Q_EMIT opened(runs[static_cast<size_t>(run)].id);
        close();
    });
}

} // namespace rm
