// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/banner.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace rm {

Banner::Banner(const char* objectName, QWidget* parent)
    : QFrame(parent)
    , m_title(makeText({}, "strong"))
    , m_quote(makeText({}, "mono"))
    , m_detail(makeText({}, "body"))
    , m_row(new QHBoxLayout(this)) {
    setObjectName(objectName);
    setProperty("role", "banner");
    m_row->setContentsMargins(size::kCardPad, 2 * size::kGrid, size::kCardPad, 2 * size::kGrid);
    m_row->setSpacing(size::kCardGap);
    auto* texts = new QVBoxLayout;
    texts->setSpacing(size::kGrid);
    texts->addWidget(m_title);
    texts->addWidget(m_quote);
    texts->addWidget(m_detail);
    m_row->addLayout(texts, 1);
    hide();
}

void Banner::show(Tone tone, const QString& title, const QString& detail, const QString& quote) {
    m_title->setText(title);
    m_quote->setText(quote);
    m_quote->setVisible(!quote.isEmpty());
    m_detail->setText(detail);
    m_detail->setVisible(!detail.isEmpty());
    setStyleProperty(this, "tone", toneName(tone));
    setAccessibleName(title + ' ' + detail);
    setVisible(!title.isEmpty());
}

void Banner::addAction(QPushButton* button) {
    m_row->addWidget(button, 0, Qt::AlignTop);
}

} // namespace rm
