// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/table_twin.h"

#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"

#include <QAbstractTableModel>
#include <QDialog>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kLeastCell = 72, kMostCell = 320; ///< width of the columns

/// A row for every x of any curve: its step and one value per curve.
class CurvesModel : public QAbstractTableModel {
public:
    CurvesModel(const std::vector<Curve>& curves, QObject* parent)
        : QAbstractTableModel(parent)
        , m_curves(curves) {
        for (const Curve& curve : m_curves)
            m_steps.insert(m_steps.end(), curve.steps.begin(), curve.steps.end());
        std::ranges::sort(m_steps);
        m_steps.erase(std::ranges::unique(m_steps).begin(), m_steps.end());
    }

    int rowCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_steps.size());
    }
    int columnCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_curves.size()) + 1;
    }

    QVariant data(const QModelIndex& index, int role) const override {
        if (role != Qt::DisplayRole)
            return {};
        const double step = m_steps[static_cast<size_t>(index.row())];
        if (index.column() == 0)
            return formatCount(static_cast<int64_t>(step));
        const Curve& curve = m_curves[static_cast<size_t>(index.column() - 1)];
        const auto at = std::lower_bound(curve.steps.begin(), curve.steps.end(), step);
        return at != curve.steps.end() && *at == step ? textOf(curve, at - curve.steps.begin())
                                                      : kAbsent;
    }

    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
            return {};
        if (section == 0)
            return QObject::tr("Step");
        const Curve& curve = m_curves[static_cast<size_t>(section - 1)];
        return QString(curve.name + ' ' + curve.brief);
    }

private:
    /// With the extremes of what the point stands for.
    static QString textOf(const Curve& curve, qsizetype at) {
        const QString value = formatFigure(curve.y[at]);
        return curve.low.isEmpty() || curve.low[at] == curve.high[at]
                   ? value
                   : QObject::tr("%1 (%2 to %3)")
                         .arg(value, formatFigure(curve.low[at]), formatFigure(curve.high[at]));
    }

    std::vector<Curve> m_curves;
    std::vector<double> m_steps;
};

} // namespace

void showTableTwin(const QString& title, const std::vector<Curve>& curves, QWidget* parent) {
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    dialog->resize(size::kReadingWidth, size::kReadingWidth);
    auto* table = new Table("tableTwin", title, dialog);
    table->setModel(new CurvesModel(curves, table));
    auto* column = new QVBoxLayout(dialog);
    column->addWidget(makeText(
        QObject::tr("%1. In brackets: least and most of what a value stands for.").arg(title),
        "bodySecondary"));
    column->addWidget(table);
    table->showWhole(kLeastCell, kMostCell);
    dialog->show();
}

} // namespace rm
