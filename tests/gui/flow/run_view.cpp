// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/run_view.h"

#include "app/ui/models/checkpoints_model.h"
#include "app/ui/nodes/node_card.h"
#include "app/ui/plot/line_chart.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/page_header.h"

#include <QAbstractItemView>
#include <QRegularExpression>

namespace rm::test {

namespace {

QStringList columnOf(const QAbstractItemView* view, int column) {
    QStringList texts;
    for (int row = 0; view && row < view->model()->rowCount(); ++row)
        texts << view->model()->index(row, column).data().toString();
    return texts;
}

} // namespace

QString stateOf(const QWidget& runPage) {
    const auto* header = runPage.findChild<PageHeader*>();
    const auto* chip = header ? header->findChild<Chip*>() : nullptr;
    return chip ? chip->text() : QString();
}

QList<qint64> lossSteps(const QWidget& runPage) {
    QList<qint64> steps;
    const auto* chart = runPage.findChild<LineChart*>("chartLoss");
    for (const Curve& curve : chart ? chart->curves() : std::vector<Curve>())
        if (curve.name == "train/loss" && curve.past == Past::kNone)
            for (const double step : curve.steps)
                steps << static_cast<qint64>(step);
    return steps;
}

QByteArray flawIn(const QList<qint64>& steps, qint64 first) {
    if (steps.isEmpty())
        return "no point at all";
    for (qsizetype at = 0; at < steps.size(); ++at)
        if (steps[at] != first + at)
            return "step " + QByteArray::number(steps[at]) + " where step " +
                   QByteArray::number(first + at) + " belongs";
    return {};
}

QString figureOf(const QWidget& runPage, const QString& objectName) {
    const auto* figure = runPage.findChild<QWidget*>(objectName);
    return figure ? figure->accessibleName() : QString();
}

QStringList eventsOf(const QWidget& runPage) {
    return columnOf(runPage.findChild<QAbstractItemView*>("events"), 0);
}

bool hasEvent(const QWidget& runPage, const QString& pattern) {
    return !eventsOf(runPage).filter(QRegularExpression(pattern)).isEmpty();
}

QString stepSavedByCommand(const QWidget& runPage) {
    const char* table = "checkpointsTable";
    const qsizetype row = columnOf(runPage, table, CheckpointsModel::kBecause)
                              .indexOf(QRegularExpression("^asked for by hand"));
    return row < 0 ? QString() : columnOf(runPage, table, CheckpointsModel::kStep)[row];
}

QStringList columnOf(const QWidget& page, const QString& table, int column) {
    return columnOf(page.findChild<QAbstractItemView*>(table), column);
}

std::optional<QString> nodeState(const QWidget& nodesPage, const QString& node) {
    for (const NodeCard* card : nodesPage.findChildren<NodeCard*>("nodeCard"))
        if (card->property("node").toString() == node)
            return card->findChild<Chip*>()->text();
    return std::nullopt;
}

QStringList textsOn(const QWidget& page) {
    QStringList texts;
    for (const QLabel* label : page.findChildren<QLabel*>())
        if (label->isVisible())
            texts << label->text();
    return texts;
}

} // namespace rm::test
