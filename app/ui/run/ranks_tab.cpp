// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/ranks_tab.h"

#include "app/ui/data/run_words.h"
#include "app/ui/look/theme.h"
#include "app/ui/models/ranks_model.h"
#include "app/ui/run/slow_card.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/empty_state.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/table.h"

#include <QLabel>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace rm {

RanksTab::RanksTab(QWidget* parent)
    : QWidget(parent)
    , m_model(new RanksModel(this))
    , m_slow(new SlowCard)
    , m_table(new Table("ranksTable", tr("Ranks")))
    , m_leftOut(makeText({}, "secondary"))
    , m_stack(new QStackedWidget) {
    constexpr int kCellPad = 12;
    m_table->setModel(m_model);
    m_table->setLeastLeft(
        m_table->fontMetrics().horizontalAdvance(tr("all-reduce for 1 min 12 s")) + 2 * kCellPad);
    m_table->setColumnWidths({60, 130, 0, 90, 84, 90, 76, 84, 84, 90, 84, 84});
    std::vector<int> leftOut;
    for (int column = m_model->columnCount(); --column >= RanksModel::kFirstPhase;)
        leftOut.push_back(column);
    leftOut.push_back(RanksModel::kThroughput);
    std::set<int> figures; // of no use when they are cut
    for (int column = RanksModel::kStep; column < m_model->columnCount(); ++column)
        figures.insert(column);
    m_table->setNarrowing(leftOut, figures);
    auto* ranks = new QWidget;
    auto* rows = new QVBoxLayout(ranks);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    rows->addWidget(m_table, 1);
    m_leftOut->setObjectName("ranksLeftOut");
    m_leftOut->setIndent(kCellPad); // a style sheet takes a label's margins away
    m_leftOut->setMinimumHeight(m_leftOut->fontMetrics().height() + 3 * size::kGrid);
    rows->addWidget(m_leftOut);
    m_stack->addWidget(ranks);
    m_stack->addWidget(
        new EmptyState(tr("No rank has started"),
                       tr("Ranks appear here as soon as their node has started them.")));
    auto* card = new Card;
    card->body()->setContentsMargins(1, 1, 1, 1);
    card->body()->addWidget(m_stack);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    column->addWidget(m_slow);
    column->addWidget(card, 1);
    connect(m_table, &Table::columnsFitted, this, &RanksTab::showLeftOut);
    showLeftOut();
    connect(m_table, &Table::opened, this, [this](int row) {
        Q_EMIT logRequested(m_model->index(row, RanksModel::kRank).data().toInt());
    });
}

void RanksTab::showLeftOut() {
    const QStringList titles = m_table->leftOutTitles();
    m_leftOut->setText(
        tr("No room for %1: a wider window shows them.").arg(titles.join(QStringLiteral(", "))));
    m_leftOut->setVisible(!titles.isEmpty());
}

void RanksTab::show(const RunDetail& detail, const LiveState& live) {
    const RunFigures& figures = detail.span ? detail.span->figures : detail.figures;
    if (detail.run)
        m_model->show(*detail.run, detail.ranks, figures, live);
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 0 : 1);
    if (detail.span)
        m_slow->show(detail.span->verdict, stepsWords(*figures.span));
    else
        m_slow->show(detail.verdict);
}

} // namespace rm
