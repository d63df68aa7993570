// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/slow_card.h"

#include "app/core/findings/text.h"
#include "app/ui/data/run_words.h"
#include "app/ui/nodes/check_row_view.h"
#include "app/ui/widgets/capped_area.h"
#include "app/ui/widgets/label.h"

#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {
constexpr int kMostRowsHeight =
    150; ///< two findings are seen at once, and the ranks keep their room
} // namespace

SlowCard::SlowCard(QWidget* parent)
    : Card(parent)
    , m_title(makeLabel(tr("Why is it slow"), "strong"))
    , m_area(new CappedArea(nullptr, "slowRows", [this](int width) {
        return std::min(kMostRowsHeight, CappedArea::wholeHeight(*m_area->widget(), width));
    })) {
    setObjectName("slowCard");
    m_area->setAccessibleName(tr("Why is it slow"));
    m_title->setObjectName("slowTitle");
    body()->addWidget(m_title);
    body()->addWidget(m_area);
    hide();
}

void SlowCard::show(const Verdict& verdict, const QString& steps) {
    m_title->setText(steps.isEmpty() ? tr("Why is it slow")
                                     : tr("Why was it slow in %1").arg(steps));
    std::vector<CheckRow> rows;
    for (const Slowdown& slowdown : verdict.slowdowns)
        rows.push_back(slowdown.row);
    setVisible(!rows.empty());
    const QString unknown =
        verdict.unknowns.empty() ? QString() : capitalized(joined(verdict.unknowns)) + '.';
    if (rows == m_rows && unknown == m_unknown)
        return;
    m_rows = std::move(rows);
    m_unknown = unknown;
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    for (const CheckRow& row : m_rows)
        column->addWidget(new CheckRowView(row));
    if (!m_unknown.isEmpty())
        column->addWidget(makeText(m_unknown, "secondary"));
    column->addStretch(1);
    m_area->setWidget(content); // deletes the one before
}

} // namespace rm
