// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/label.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"

#include <QPainter>
#include <QStyle>
#include <QStyleOptionButton>
#include <QStylePainter>

#include <algorithm>

namespace rm {

void setStyleProperty(QWidget* widget, const char* property, const QVariant& value) {
    if (widget->property(property) == value)
        return;
    widget->setProperty(property, value);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
    widget->update();
}

QLabel* makeLabel(const QString& text, const char* role, QWidget* parent) {
    auto* label = new QLabel(text, parent);
    label->setProperty("role", role);
    label->setTextFormat(Qt::PlainText);
    return label;
}

QLabel* makeText(const QString& text, const char* role, QWidget* parent) {
    QLabel* label = makeLabel(text, role, parent);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

QPushButton* makeButton(const QString& text, const char* role, const char* objectName,
                        QWidget* parent) {
    auto* button = new QPushButton(text, parent);
    button->setProperty("role", role);
    button->setObjectName(objectName);
    button->setAccessibleName(QString(text).remove('&'));
    button->setAutoDefault(false);
    return button;
}

void keepWidth(QPushButton& button, const QStringList& captions) {
    button.ensurePolished();
    const QString now = button.text();
    int widest = 0;
    for (const QString& caption : captions) {
        button.setText(caption);
        widest = std::max(widest, button.sizeHint().width());
    }
    button.setText(now);
    button.setMinimumWidth(widest);
}

QFrame* makeLine(QWidget* parent) {
    auto* line = new QFrame(parent);
    line->setProperty("role", "line");
    return line;
}

void showInsteadOf(QWidget* shown, QWidget* hidden) {
    shown->show();
    if (hidden->window()->focusWidget() == hidden)
        shown->setFocus(Qt::OtherFocusReason);
    hidden->hide();
}

ElidedLabel::ElidedLabel(const QString& text, const char* role, QWidget* parent)
    : QLabel(parent) {
    setProperty("role", role);
    setProperty("elided", true);
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    setFullText(text);
}

void ElidedLabel::setFullText(const QString& text) {
    if (text == m_full)
        return;
    m_full = text;
    setText(text);
    setToolTip(asPlain(text));
    setAccessibleName(text);
    updateGeometry();
}

QSize ElidedLabel::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 4, fontMetrics().height()};
}

QSize ElidedLabel::sizeHint() const {
    return {fontMetrics().horizontalAdvance(m_full) + size::kGrid, fontMetrics().height()};
}

void ElidedLabel::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const QString shown = fontMetrics().elidedText(m_full, Qt::ElideRight, contentsRect().width());
    style()->drawItemText(&painter, contentsRect(), static_cast<int>(alignment()), palette(),
                          isEnabled(), shown, foregroundRole());
}

ElidedCheckBox::ElidedCheckBox(const QString& text, QWidget* parent)
    : QCheckBox(text, parent) {
    setProperty("elided", true);
    setToolTip(asPlain(text));
}

QSize ElidedCheckBox::minimumSizeHint() const {
    return {size::kControlHeight + fontMetrics().averageCharWidth() * 4,
            QCheckBox::minimumSizeHint().height()};
}

void ElidedCheckBox::paintEvent(QPaintEvent*) {
    QStylePainter painter(this);
    QStyleOptionButton option;
    initStyleOption(&option);
    const int room = style()->subElementRect(QStyle::SE_CheckBoxContents, &option, this).width();
    option.text = fontMetrics().elidedText(text(), Qt::ElideRight, room);
    painter.drawControl(QStyle::CE_CheckBox, option);
}

} // namespace rm
