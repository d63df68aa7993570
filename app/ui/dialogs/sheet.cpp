// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/sheet.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QEvent>
#include <QKeyEvent>
#include <QPushButton>
#include <QVBoxLayout>

namespace rm {

Sheet::Sheet(const QString& title, const QString& text, const char* objectName, QWidget* parent)
    : QDialog(parent)
    , m_content(new QVBoxLayout)
    , m_buttons(new QHBoxLayout) {
    setObjectName(objectName);
    setWindowTitle(title);
    setAccessibleName(title);
    setAttribute(Qt::WA_DeleteOnClose);
    setFixedWidth(size::kDialogWidth);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kPageX, size::kPageY, size::kPageX, size::kPageY);
    column->setSpacing(size::kCardGap);
    column->addWidget(makeLabel(title, "cardTitle"));
    if (!text.isEmpty())
        column->addWidget(makeText(text, "bodySecondary"));
    m_content->setSpacing(2 * size::kGrid);
    column->addLayout(m_content);
    m_buttons->setSpacing(2 * size::kGrid);
    m_buttons->addStretch(1);
    column->addSpacing(size::kGrid);
    column->addLayout(m_buttons);
}

QSize Sheet::sizeHint() const {
    const int width = minimumWidth(); // which is fixed
    const bool wraps = layout()->hasHeightForWidth();
    return {width, wraps ? layout()->totalHeightForWidth(width) : QDialog::sizeHint().height()};
}

bool Sheet::event(QEvent* event) {
    const bool isDone = QDialog::event(event);
    if (event->type() == QEvent::LayoutRequest && isVisible())
        resize(sizeHint());
    return isDone;
}

// A dialog gives Return to its default button alone; one that may destroy something has none.
void Sheet::keyPressEvent(QKeyEvent* event) {
    auto* button = qobject_cast<QPushButton*>(focusWidget());
    const bool isReturn = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (isReturn && button)
        button->click();
    else
        QDialog::keyPressEvent(event);
}

QPushButton* Sheet::addButton(const QString& text, const char* role, const char* objectName) {
    QPushButton* button = makeButton(text, role, objectName, this);
    m_buttons->addWidget(button);
    return button;
}

QPushButton* Sheet::addCancel() {
    QPushButton* cancel = addButton(tr("Cancel"), "", "cancel");
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    return cancel;
}

} // namespace rm
