// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/card.h"

#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QVBoxLayout>

namespace rm {

Card::Card(QWidget* parent)
    : QFrame(parent)
    , m_body(new QVBoxLayout(this)) {
    setProperty("role", "card");
    m_body->setContentsMargins(size::kCardPad, size::kCardPad - 2, size::kCardPad,
                               size::kCardPad - 2);
    m_body->setSpacing(size::kGrid);
}

KeyFigure::KeyFigure(const QString& caption, const char* objectName, QWidget* parent)
    : Card(parent)
    , m_caption(makeLabel(caption, "caption"))
    , m_figure(new ElidedLabel(kAbsent, "figure"))
    , m_detail(new ElidedLabel(QString(), "caption")) {
    setObjectName(objectName);
    body()->setContentsMargins(size::kCardPad, 10, size::kCardPad, 10);
    body()->setSpacing(2);
    body()->addWidget(m_caption);
    body()->addWidget(m_figure);
    body()->addWidget(m_detail);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
}

void KeyFigure::setCaption(const QString& caption) {
    m_caption->setText(caption);
}

void KeyFigure::show(const QString& figure, const QString& detail, const char* tone) {
    m_figure->setFullText(figure);
    m_detail->setFullText(detail);
    setStyleProperty(m_figure, "tone", tone);
    setAccessibleName(m_caption->text() + ": " + figure + ", " + detail);
}

} // namespace rm
