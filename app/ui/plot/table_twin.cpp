// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/plot/table_twin.h"

#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/plot/plot_style.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"

#include <QAbstractTableModel>
#include <QDialog>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <utility>

namespace rm {

namespace {

constexpr int kLeastCell = 72, kMostCell = 320; ///< width of the columns

/// A row for every x of any curve: its step and one value per curve, and what was measured beside
/// what is smoothed.
class CurvesModel : public QAbstractTableModel {
public:
    CurvesModel(const std::vector<Curve>& curves, QObject* parent)
        : QAbstractTableModel(parent) {
        for (const Curve& curve : curves) {
            Curve shown = curve;
            Curve measured = curve;
            measured.y = curve.raw;
            measured.window = 0;
            if (!curve.raw.isEmpty()) {
                shown.low.clear();    // the extremes are of what was measured
                if (curve.isRawNamed) // which names the other one "smoothed"
                    shown.brief = measured.brief = {};
            }
            m_curves.push_back(std::move(shown));
            if (!curve.raw.isEmpty())
                m_curves.push_back(std::move(measured));
        }
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
        return nameOf(m_curves[static_cast<size_t>(section - 1)]);
    }

private:
    static QString nameOf(const Curve& curve) {
        if (curve.window <= 0)
            return titleOf(curve);
        return QObject::tr("%1, smoothed over %2 steps")
            .arg(titleOf(curve), formatCount(std::llround(std::max(1.0, curve.window))));
    }

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

/// A row for every stretch of training time, and a column for each rank.
class CellsModel : public QAbstractTableModel {
public:
    CellsModel(HeatData heat, QObject* parent)
        : QAbstractTableModel(parent)
        , m_heat(std::move(heat)) {}

    int rowCount(const QModelIndex& parent) const override {
        return parent.isValid() || m_heat.cells.empty()
                   ? 0
                   : static_cast<int>(m_heat.cells.front().size());
    }
    int columnCount(const QModelIndex& parent) const override {
        return parent.isValid() ? 0 : static_cast<int>(m_heat.cells.size()) + 1;
    }

    QVariant data(const QModelIndex& index, int role) const override {
        if (role != Qt::DisplayRole)
            return {};
        const auto bin = static_cast<size_t>(index.row());
        if (index.column() == 0)
            return formatDuration(beginOf(index.row()));
        const double value = m_heat.cells[static_cast<size_t>(index.column() - 1)][bin];
        return std::isnan(value) ? kAbsent : metricText(value, m_heat.format);
    }

    QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
        if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
            return {};
        return section == 0 ? QObject::tr("Time trained")
                            : m_heat.labels[static_cast<size_t>(section - 1)];
    }

private:
    /// Seconds of training before that stretch.
    double beginOf(int row) const {
        constexpr double kNsPerSecond = 1e9;
        const double share = static_cast<double>(row) / rowCount({});
        return (static_cast<double>(m_heat.beforeNs) +
                share * static_cast<double>(lengthOf(m_heat.trained))) /
               kNsPerSecond;
    }

    HeatData m_heat;
};

void showTable(const QString& title, const QString& words, QAbstractItemModel* model,
               QWidget* parent) {
    auto* dialog = new QDialog(parent);
    dialog->setObjectName("tableTwinDialog");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    dialog->resize(size::kReadingWidth, size::kReadingWidth);
    auto* table = new Table("tableTwin", title, dialog);
    model->setParent(table);
    table->setModel(model);
    auto* column = new QVBoxLayout(dialog);
    column->addWidget(makeText(words, "bodySecondary"));
    column->addWidget(table);
    table->showWhole(kLeastCell, kMostCell);
    dialog->show();
}

} // namespace

void showTableTwin(const QString& title, const std::vector<Curve>& curves, QWidget* parent) {
    showTable(title,
              QObject::tr("%1. In brackets: least and most of what a value stands for.").arg(title),
              new CurvesModel(curves, nullptr), parent);
}

void showTableTwin(const QString& title, const HeatData& heat, QWidget* parent) {
    showTable(title, QObject::tr("%1. Pauses and holds are left out of the time.").arg(title),
              new CellsModel(heat, nullptr), parent);
}

} // namespace rm
