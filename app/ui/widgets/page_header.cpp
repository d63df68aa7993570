// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/page_header.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>

namespace rm {

PageHeader::PageHeader(const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_title(new ElidedLabel(title, "title"))
    , m_chip(new Chip)
    , m_facts(new ElidedLabel({}, "bodySecondary"))
    , m_row(new QHBoxLayout(this)) {
    m_row->setContentsMargins(0, 0, 0, 0);
    m_row->setSpacing(10);
    m_title->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    m_facts->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_row->addWidget(m_title);
    m_row->addWidget(m_chip);
    m_row->addWidget(m_facts, 1);
    m_chip->setObjectName("stateChip");
    m_chip->hide();
    setMinimumHeight(size::kControlHeight + 2);
}

void PageHeader::setTitle(const QString& title) {
    m_title->setFullText(title);
}

void PageHeader::setFacts(const QString& facts) {
    m_facts->setFullText(facts);
}

void PageHeader::setChip(const QString& text, Tone tone) {
    m_chip->show(text, tone);
    m_chip->setVisible(!text.isEmpty());
}

QPushButton* PageHeader::addAction(const QString& text, const char* role, const char* objectName) {
    QPushButton* button = makeButton(text, role, objectName);
    m_row->addWidget(button);
    return button;
}

} // namespace rm
