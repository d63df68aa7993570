// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/run_table_dialog.h"

#include "app/ui/data/run_styles.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/table.h"

#include <QAbstractTableModel>
#include <QVBoxLayout>

namespace rm {

namespace {

class RunTableModel : public QAbstractTableModel {
public:
    RunTableModel(RunTable table, const RunStyles& styles, QObject* parent)
        : QAbstractTableModel(parent)
        , m_table(std::move(table))
        , m_styles(styles) {}

    int rowCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_table.runs.size());
    }
    int columnCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : 1 + static_cast<int>(m_table.keys.size());
    }
    QVariant data(const QModelIndex& index, int role) const override {
        const auto row = static_cast<size_t>(index.row());
        const RunSummary& run = m_table.runs[row];
        if (role == Qt::DecorationRole && index.column() == 0)
            return runSwatch(m_styles.of(run.id));
        if (role != Qt::DisplayRole && role != Qt::ToolTipRole)
            return {};
        QString text = run.name;
        if (index.column() > 0)
            text = QString::fromStdString(
                m_table.values[row][static_cast<size_t>(index.column() - 1)]);
        if (role == Qt::ToolTipRole)
            return asPlain(text);
        return text.isEmpty() ? kAbsent : text;
    }
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole))
            return {};
        return section == 0
                   ? QObject::tr("Run")
                   : QString::fromStdString(m_table.keys[static_cast<size_t>(section - 1)]);
    }

private:
    RunTable m_table;
    const RunStyles& m_styles;
};

constexpr int kValueWidth = 150;

} // namespace

RunTableDialog::RunTableDialog(const RunTable& table, const RunStyles& styles, QWidget* parent)
    : QDialog(parent) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(
        tr("Values of %1")
            .arg(counted(static_cast<int64_t>(table.runs.size()), tr("1 run"), tr("%1 runs"))));
    resize(size::kTableDialogWidth, size::kReadingWidth);
    auto* view = new Table("runTable", windowTitle(), this);
    view->setModel(new RunTableModel(table, styles, view));
    std::vector<int> widths(1 + table.keys.size(), kValueWidth);
    widths.front() = 0;
    view->setColumnWidths(widths);
    auto* column = new QVBoxLayout(this);
    column->addWidget(view);
    connect(view, &Table::opened, this, [this, runs = table.runs](int row) {
        Q_EMIT opened(runs[static_cast<size_t>(row)].id);
        close();
    });
}

} // namespace rm
