// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/nodes/check_card.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace rm {

namespace {

QWidget* makeLine(const CheckLine& line) {
    auto* widget = new QWidget;
    auto* row = new QHBoxLayout(widget);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2 * size::kGrid);
    const QString word = line.tone == Tone::kGood   ? CheckCard::tr("good")
                         : line.tone == Tone::kBad  ? CheckCard::tr("bad")
                         : line.tone == Tone::kWarn ? CheckCard::tr("warning")
                                                    : CheckCard::tr("not known yet");
    row->addWidget(new VerdictMark(line.tone, word), 0, Qt::AlignTop);
    QLabel* text = makeText(line.text, "body");
    text->setMinimumHeight(size::kVerdict);
    text->setAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    row->addWidget(text, 1);
    return widget;
}

} // namespace

CheckCard::CheckCard(QWidget* parent)
    : Card(parent)
    , m_age(makeLabel({}, "secondary"))
    , m_again(makeButton(tr("Check again"), "quiet", "checkAgain"))
    , m_lines(new QVBoxLayout) {
    setObjectName("checkCard");
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("Check"), "cardTitle"));
    head->addStretch(1);
    head->addWidget(m_age);
    head->addWidget(m_again);
    body()->addLayout(head);
    m_lines->setSpacing(2 * size::kGrid);
    body()->addLayout(m_lines);
    connect(m_again, &QPushButton::clicked, this, &CheckCard::againRequested);
}

void CheckCard::show(const std::vector<CheckLine>& lines, const QString& age) {
    m_age->setText(age);
    if (lines == m_shown)
        return;
    m_shown = lines;
    while (QLayoutItem* item = m_lines->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (const CheckLine& line : lines) {
        QWidget* widget = makeLine(line);
        m_lines->addWidget(widget);
        widget->show(); // the layout would do so later, and the card lose its height meanwhile
    }
}

} // namespace rm
