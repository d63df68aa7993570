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
#include <QSet>

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
    const bool isElided = button.property("elided").toBool();
    return !isElided && !button.text().isEmpty() && text > button.width()
               ? QString("needs %1 px, has %2").arg(text).arg(button.width())
               : QString();
}

/// Arrow keys go through an exclusive group; Tab reaches its checked button alone.
bool isOneOfAGroup(const QWidget& widget) {
    const auto* button = qobject_cast<const QAbstractButton*>(&widget);
    return button && button->group() && button->group()->exclusive();
}

/// Of Qt's own making: parts of a control, laid out by the style.
bool isInternal(const QWidget& widget) {
    const auto* parent = widget.parentWidget();
    return widget.objectName().startsWith("qt_") || qobject_cast<const QScrollBar*>(&widget) ||
           qobject_cast<const QAbstractItemView*>(parent) ||
           (parent && qobject_cast<const QAbstractItemView*>(parent->parentWidget())) ||
           qobject_cast<const QAbstractSpinBox*>(parent) ||
           qobject_cast<const QLineEdit*>(parent) || qobject_cast<const QComboBox*>(parent);
}

/// The scroll area that moves this widget; nullptr: none does.
const QScrollArea* scrollerOf(const QWidget& widget) {
    const QWidget* viewport = widget.parentWidget();
    const auto* area =
        viewport ? qobject_cast<const QScrollArea*>(viewport->parentWidget()) : nullptr;
    return area && area->widget() == &widget ? area : nullptr;
}

QString cutProblem(const QWidget& widget) {
    const QWidget* parent = widget.parentWidget();
    if (!parent || isInternal(widget) || qobject_cast<const QPlainTextEdit*>(parent))
        return {};
    if (const auto* area = scrollerOf(widget)) {
        const int over = widget.width() - area->viewport()->width();
        return over > 0 ? QString("is %1 px wider than what scrolls it").arg(over) : QString();
    }
    return parent->rect().adjusted(-1, -1, 1, 1).contains(widget.geometry())
               ? QString()
               : "is cut by " + nameOf(*parent);
}

/// Where what a widget shows begins and ends, in the coordinates of its parent: a label's text, and
/// all of anything else.
QRect shownRect(const QWidget& widget) {
    const auto* label = qobject_cast<const QLabel*>(&widget);
    if (!label || label->wordWrap())
        return widget.geometry();
    const int text = label->fontMetrics().horizontalAdvance(label->text());
    QRect shown = widget.geometry();
    if (label->alignment() & Qt::AlignRight)
        shown.setLeft(std::max(shown.left(), shown.right() - text));
    else
        shown.setWidth(std::min(shown.width(), text));
    return shown;
}

/// Pixels beside the label that nobody uses.
int roomBeside(const QLabel& label) {
    constexpr int kBetween = 24; ///< what a layout keeps between neighbours, and a card's edge
    const QWidget* parent = label.parentWidget();
    int left = 0, right = parent->width();
    for (const auto* other :
         parent->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
        const QRect shown = shownRect(*other);
        const bool isBeside = other != &label && other->isVisible() && !isInternal(*other) &&
                              shown.top() <= label.geometry().bottom() &&
                              shown.bottom() >= label.geometry().top();
        if (isBeside && shown.left() >= label.geometry().right())
            right = std::min(right, shown.left());
        else if (isBeside)
            left = std::max(left, shown.right());
    }
    return (right - left) - label.width() - 2 * kBetween;
}

QString elisionProblem(const QLabel& label) {
    if (!label.property("elided").toBool() || label.width() == 0)
        return {};
    const int missing =
        label.fontMetrics().horizontalAdvance(label.text()) - label.contentsRect().width();
    if (missing > 0 && label.toolTip().isEmpty())
        return "is cut, and no tooltip has all of it";
    const int room = roomBeside(label);
    return missing > 0 && room >= missing
               ? QString("lacks %1 px beside %2 px that are free").arg(missing).arg(room)
               : QString();
}

QString comboProblem(const QComboBox& box) {
    constexpr int kArrow = 40;
    const int needed = box.fontMetrics().horizontalAdvance(box.currentText()) + kArrow;
    return needed > box.width() + 8 ? QString("needs %1 px, has %2").arg(needed).arg(box.width())
                                    : QString();
}

/// Plain texts may be as wide as their lines; a page is as wide as the window.
QString sidewaysProblem(const QScrollBar& bar) {
    const QWidget* area = bar.parentWidget() ? bar.parentWidget()->parentWidget() : nullptr;
    const bool isPage = qobject_cast<const QScrollArea*>(area) ||
                        qobject_cast<const QScrollArea*>(bar.parentWidget());
    return bar.orientation() == Qt::Horizontal && bar.maximum() > 0 && isPage
               ? QString("a page scrolls sideways")
               : QString();
}

QString problemOf(const QWidget& widget) {
    QString problem;
    if (const auto* label = qobject_cast<const QLabel*>(&widget))
        problem = labelProblem(*label) + elisionProblem(*label);
    else if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
        problem = buttonProblem(*button);
    else if (const auto* box = qobject_cast<const QComboBox*>(&widget))
        problem = comboProblem(*box);
    else if (const auto* bar = qobject_cast<const QScrollBar*>(&widget))
        problem = sidewaysProblem(*bar);
    return problem.isEmpty() ? cutProblem(widget) : problem;
}

} // namespace

QStringList clippedTexts(const QWidget& root) {
    QStringList problems;
    for (const QWidget* widget : root.findChildren<QWidget*>()) {
        if (!widget->isVisibleTo(&root) || widget->isWindow())
            continue;
        if (const QString problem = problemOf(*widget); !problem.isEmpty())
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

namespace {

/// Every so many pixels of a picture, whatever its size.
int strideOf(const QImage& image) {
    constexpr int kLooks = 400;
    return std::max(2, image.width() / kLooks);
}

} // namespace

double inkOf(const QImage& image) {
    const int stride = strideOf(image);
    QHash<QRgb, int> counts;
    int most = 0, seen = 0;
    for (int y = 0; y < image.height(); y += stride)
        for (int x = 0; x < image.width(); x += stride, ++seen)
            most = std::max(most, ++counts[image.pixel(x, y)]);
    return 1.0 - static_cast<double>(most) / seen;
}

int colourCount(const QImage& image) {
    const int stride = strideOf(image);
    QSet<QRgb> seen;
    for (int y = 0; y < image.height(); y += stride)
        for (int x = 0; x < image.width(); x += stride)
            seen.insert(image.pixel(x, y));
    return static_cast<int>(seen.size());
}

} // namespace rm::test
