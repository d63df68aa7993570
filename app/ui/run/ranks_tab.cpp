// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/ranks_tab.h"

#include "app/ui/models/ranks_model.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/table.h"

#include <QStackedWidget>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kStateWidth = 210; ///< of which four fifths hold "all-reduce for 1 min 12 s"
}

RanksTab::RanksTab(QWidget* parent)
    : QWidget(parent)
    , m_model(new RanksModel(this))
    , m_table(new Table("ranksTable", tr("Ranks")))
    , m_stack(new QStackedWidget) {
    m_table->setModel(m_model);
    m_table->setLeastLeft(kStateWidth);
    m_table->setColumnWidths({60, 130, 0, 90, 84, 90, 76, 84, 84, 90, 84, 84});
    std::vector<int> leftOut;
    for (int column = m_model->columnCount(); --column >= RanksModel::kFirstPhase;)
        leftOut.push_back(column);
    leftOut.push_back(RanksModel::kThroughput);
    m_table->setNarrowing(leftOut, {RanksModel::kStep, RanksModel::kStepMs});
    m_stack->addWidget(m_table);
    m_stack->addWidget(
        new EmptyState(tr("No rank has started"),
                       tr("Ranks appear here as soon as their node has started them.")));
    auto* card = new Card;
    card->body()->setContentsMargins(1, 1, 1, 1);
    card->body()->addWidget(m_stack);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(card);
    connect(m_table, &Table::opened, this, [this](int row) {
        Q_EMIT logAsked(m_model->index(row, RanksModel::kRank).data().toInt());
    });
}

void RanksTab::show(const RunDetail& detail, const LiveState& live) {
    if (detail.run)
        m_model->show(*detail.run, detail.ranks, detail.figures, live);
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 0 : 1);
}

} // namespace rm
