// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/nodes/check_row_view.h"

#include "app/ui/data/node_words.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr int kRowTitleColumn = 170;

QString stateWord(CheckRow::State state) {
    switch (state) {
    case CheckRow::State::kGood:
        return CheckRowView::tr("good");
    case CheckRow::State::kWarning:
        return CheckRowView::tr("warning");
    case CheckRow::State::kBad:
        return CheckRowView::tr("problem");
    }
    Q_UNREACHABLE();
}

} // namespace

CheckRowView::CheckRowView(const CheckRow& row, QWidget* parent)
    : QWidget(parent) {
    setObjectName("checkRow");
    setProperty("row", QString::fromStdString(row.id));
    setMinimumHeight(size::kRowHeight);
    auto* columns = new QHBoxLayout(this);
    columns->setContentsMargins(0, 2 * size::kGrid, 0, 2 * size::kGrid);
    columns->setSpacing(size::kCardGap);
    columns->addWidget(new VerdictMark(rowTone(row), stateWord(row.state)), 0, Qt::AlignTop);
    auto* title = new ElidedLabel(QString::fromStdString(row.title), "strong");
    title->setFixedWidth(kRowTitleColumn);
    title->setMinimumHeight(size::kVerdict);
    columns->addWidget(title, 0, Qt::AlignTop);
    auto* words = new QVBoxLayout;
    words->setSpacing(size::kGrid);
    QLabel* evidence = makeText(QString::fromStdString(row.evidence), "bodySecondary");
    evidence->setMinimumHeight(size::kVerdict);
    evidence->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    words->addWidget(evidence);
    if (!row.cause.empty())
        words->addWidget(makeText(QString::fromStdString(row.cause), "body"));
    if (!row.fix.empty())
        words->addWidget(
            makeText(tr("What to do: %1").arg(QString::fromStdString(row.fix)), "body"));
    words->addStretch(1);
    columns->addLayout(words, 1);
    if (!row.action)
        return;
    auto* button = makeButton(QString::fromStdString(row.action->label), "", "checkAction");
    button->setAccessibleName(button->text() + ": " + QString::fromStdString(row.title));
    button->setToolTip(asPlain(QString::fromStdString(row.action->argument)));
    connect(button, &QPushButton::clicked, this,
            [this, action = *row.action] { Q_EMIT acted(action); });
    columns->addWidget(button, 0, Qt::AlignVCenter);
}

} // namespace rm
