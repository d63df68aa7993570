// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/empty_state.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QVBoxLayout>

namespace rm {

EmptyState::EmptyState(const QString& title, const QString& sentence, const QString& action,
                       QWidget* parent)
    : QWidget(parent)
    , m_title(makeLabel(title, "cardTitle"))
    , m_sentence(makeText(sentence, "bodySecondary")) {
    auto* column = new QVBoxLayout(this);
    column->setSpacing(2 * size::kGrid);
    column->addStretch(2);
    m_title->setAlignment(Qt::AlignHCenter);
    m_sentence->setAlignment(Qt::AlignHCenter);
    column->addWidget(m_title, 0, Qt::AlignHCenter);
    // No alignment flag here: a layout gives an aligned label one line only.
    auto* middle = new QHBoxLayout;
    middle->addStretch(1);
    m_sentence->setFixedWidth(size::kDialogWidth);
    middle->addWidget(m_sentence);
    middle->addStretch(1);
    column->addLayout(middle);
    if (!action.isEmpty()) {
        m_action = makeButton(action, "primary", "emptyAction");
        connect(m_action, &QPushButton::clicked, this, &EmptyState::acted);
        column->addSpacing(size::kGrid);
        column->addWidget(m_action, 0, Qt::AlignHCenter);
    }
    column->addStretch(3);
}

void EmptyState::setTexts(const QString& title, const QString& sentence) {
    m_title->setText(title);
    m_sentence->setText(sentence);
}

void EmptyState::setActionVisible(bool visible) {
    if (m_action)
        m_action->setVisible(visible);
}

} // namespace rm
