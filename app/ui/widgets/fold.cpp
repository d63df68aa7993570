// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/fold.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace rm {

Fold::Fold(const QString& title, const QString& objectName, QWidget* parent)
    : Card(parent)
    , m_title(title)
    , m_head(makeButton({}, "fold", "fold"))
    , m_mark(makeLabel(QStringLiteral("›"), "bodySecondary"))
    , m_summary(new ElidedLabel({}, "secondary"))
    , m_inside(new QWidget)
    , m_content(new QVBoxLayout(m_inside)) {
    setObjectName(objectName);
    buildHead();
    m_content->setContentsMargins(size::kCardPad, 0, size::kCardPad, size::kCardPad - 2);
    body()->setContentsMargins(0, 0, 0, 0);
    body()->setSpacing(0);
    body()->addWidget(m_head);
    body()->addWidget(m_inside);
    connect(m_head, &QPushButton::toggled, this, [this](bool open) {
        m_inside->setVisible(open);
        m_mark->setText(open ? QStringLiteral("⌄") : QStringLiteral("›"));
        m_summary->setFullText(open ? QString() : m_words);
    });
    m_inside->hide();
}

void Fold::buildHead() {
    m_head->setCheckable(true);
    m_head->setObjectName(objectName() + ".head");
    auto* row = new QHBoxLayout(m_head);
    row->setContentsMargins(size::kCardPad, 0, size::kCardPad, 0);
    row->setSpacing(2 * size::kGrid);
    m_mark->setFixedWidth(3 * size::kGrid);
    auto* title = makeLabel(m_title, "cardTitle");
    title->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    row->addWidget(m_mark);
    row->addWidget(title);
    row->addWidget(m_summary, 1);
    for (QWidget* child : m_head->findChildren<QWidget*>())
        child->setAttribute(Qt::WA_TransparentForMouseEvents);
    setSummary({});
}

void Fold::setSummary(const QString& summary) {
    m_words = summary;
    m_summary->setFullText(isOpen() ? QString() : summary);
    m_head->setAccessibleName(m_title);
    m_head->setAccessibleDescription(summary);
    m_head->setToolTip(asPlain(summary));
}

void Fold::setOpen(bool open) {
    m_head->setChecked(open);
}

bool Fold::isOpen() const {
    return m_head->isChecked();
}

} // namespace rm
