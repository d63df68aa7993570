// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/widget_audit.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QButtonGroup>
#include <QComboBox>
#include <QHash>
#include <QImage>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QScrollBar>

#include <algorithm>

namespace rm::test {

namespace {

QString nameOf(const QWidget& widget) {
    QString name = widget.metaObject()->className();
    if (!widget.objectName().isEmpty())
        name += " " + widget.objectName();
    if (const auto* label = qobject_cast<const QLabel*>(&widget))
        name += " \"" + label->text().left(40) + '"';
    if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
        name += " \"" + button->text() + '"';
    return name;
}

bool isControl(const QWidget& widget) {
    if (widget.objectName().startsWith("qt_") || widget.inherits("QComboBoxListView") ||
        qobject_cast<const QScrollBar*>(&widget))
        return false;
    const auto* parent = widget.parentWidget();
    if (qobject_cast<const QComboBox*>(parent) || qobject_cast<const QAbstractSpinBox*>(parent) ||
        qobject_cast<const QLineEdit*>(parent) || qobject_cast<const QAbstractItemView*>(parent))
        return false;
    return qobject_cast<const QAbstractButton*>(&widget) ||
           qobject_cast<const QLineEdit*>(&widget) || qobject_cast<const QComboBox*>(&widget) ||
           qobject_cast<const QAbstractSpinBox*>(&widget) ||
           qobject_cast<const QAbstractSlider*>(&widget) ||
           qobject_cast<const QPlainTextEdit*>(&widget) ||
           qobject_cast<const QAbstractItemView*>(&widget);
}

QString labelProblem(const QLabel& label) {
    if (label.property("elided").toBool() || label.text().isEmpty())
        return {};
    const QRect room = label.contentsRect();
    if (!label.wordWrap()) {
        const int needed = label.sizeHint().width();
        return needed > label.width() + 1
                   ? QString("needs %1 px, has %2").arg(needed).arg(label.width())
                   : QString();
    }
    const int needed = label.heightForWidth(label.width());
    return needed > label.height() + 2
               ? QString("needs height %1, has %2").arg(needed).arg(room.height())
               : QString();
}

QString buttonProblem(const QAbstractButton& button) {
    const int text = button.fontMetrics().horizontalAdvance(button.text());
    return !button.text().isEmpty() && text > button.width()
               ? QString("needs %1 px, has %2").arg(text).arg(button.width())
               : QString();
}

/// Arrow keys go through an exclusive group; Tab reaches its checked button alone.
bool isOneOfAGroup(const QWidget& widget) {
    const auto* button = qobject_cast<const QAbstractButton*>(&widget);
    return button && button->group() && button->group()->exclusive();
}

/// Inside a scroll area a child may be larger than what is seen of it.
bool isScrolled(const QWidget& widget) {
    const QWidget* parent = widget.parentWidget();
    return parent && qobject_cast<const QScrollArea*>(parent->parentWidget());
}

} // namespace

QStringList clippedTexts(const QWidget& root) {
    QStringList problems;
    for (const QWidget* widget : root.findChildren<QWidget*>()) {
        if (!widget->isVisibleTo(&root) || widget->isWindow())
            continue;
        QString problem;
        if (const auto* label = qobject_cast<const QLabel*>(widget))
            problem = labelProblem(*label);
        else if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
            problem = buttonProblem(*button);
        const QWidget* parent = widget->parentWidget();
        if (problem.isEmpty() && parent && parent->layout() && !isScrolled(*widget) &&
            !parent->rect().adjusted(-1, -1, 1, 1).contains(widget->geometry()))
            problem = "sticks out of " + nameOf(*parent);
        if (!problem.isEmpty())
            problems << nameOf(*widget) + ": " + problem;
    }
    return problems;
}

QStringList namelessControls(const QWidget& root) {
    QStringList problems;
    for (const QWidget* widget : root.findChildren<QWidget*>())
        if (isControl(*widget) && widget->accessibleName().isEmpty())
            problems << nameOf(*widget);
    return problems;
}

QStringList unreachableControls(const QWidget& root) {
    QStringList problems;
    for (const QWidget* widget : root.findChildren<QWidget*>())
        if (isControl(*widget) && widget->isVisibleTo(&root) && widget->isEnabled() &&
            !isOneOfAGroup(*widget) && !(widget->focusPolicy() & Qt::TabFocus) &&
            widget->objectName() != "paletteList")
            problems << nameOf(*widget);
    return problems;
}

double inkOf(const QImage& image) {
    QHash<QRgb, int> counts;
    int most = 0;
    for (int y = 0; y < image.height(); y += 2)
        for (int x = 0; x < image.width(); x += 2)
            most = std::max(most, ++counts[image.pixel(x, y)]);
    const int seen = ((image.height() + 1) / 2) * ((image.width() + 1) / 2);
    return 1.0 - static_cast<double>(most) / seen;
}

int colourCount(const QImage& image) {
    QHash<QRgb, bool> seen;
    for (int y = 0; y < image.height(); y += 2)
        for (int x = 0; x < image.width(); x += 2)
            seen.insert(image.pixel(x, y), true);
    return static_cast<int>(seen.size());
}

} // namespace rm::test
