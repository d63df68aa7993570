// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/hand.h"

#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QScrollArea>
#include <QTableView>
#include <QTest>
#include <QWindow>

namespace rm::test {

namespace {

constexpr int kPatienceMs = 20'000;

tl::unexpected<Error> cannot(const QString& what, const QString& why) {
    return fail(ErrorCode::kUnavailable, (what + ": " + why).toStdString());
}

/// Where a person points: a check box takes clicks on its box and text only.
QPoint handleOf(const QWidget& widget) {
    constexpr int kIntoTheBox = 8;
    return qobject_cast<const QCheckBox*>(&widget) ? QPoint(kIntoTheBox, widget.height() / 2)
                                                   : widget.rect().center();
}

void scrollTo(QWidget* target) {
    for (QWidget* up = target->parentWidget(); up; up = up->parentWidget())
        if (auto* area = qobject_cast<QScrollArea*>(up))
            area->ensureWidgetVisible(target);
}

QString nameOf(const QWidget* widget) {
    if (!widget)
        return "nothing";
    return widget->objectName().isEmpty() ? QString(widget->metaObject()->className())
                                          : widget->objectName();
}

} // namespace

QWidget* Hand::visible(const QString& objectName) const {
    for (QWidget* each : m_window.findChildren<QWidget*>(objectName))
        if (each->isVisible())
            return each;
    return nullptr;
}

Result<void> Hand::inReach(QWidget* target, const QPoint& at) const {
    if (!target)
        return cannot("find it", "not visible");
    if (!target->isEnabled())
        return cannot("use it", "not enabled");
    QWidget* window = target->window();
    QWidget* modal = QApplication::activeModalWidget();
    if (modal && modal != window)
        return cannot("reach it", nameOf(modal) + " is open before it");
    scrollTo(target);
    QWidget* hit = window->childAt(target->mapTo(window, at));
    if (!hit || (hit != target && !target->isAncestorOf(hit)))
        return cannot("point at it", nameOf(hit) + " is there");
    return {};
}

Result<void> Hand::clickAt(const QString& what, const Finder& find, const QPoint& at) const {
    QWidget* target = nullptr;
    Result<void> reach;
    const auto pointOn = [&at](const QWidget& widget) {
        return at.isNull() ? handleOf(widget) : at;
    };
    const auto ready = [&] {
        target = find();
        reach = inReach(target, target ? pointOn(*target) : at);
        return reach.has_value();
    };
    if (!QTest::qWaitFor(ready, kPatienceMs))
        return cannot("click " + what, QString::fromStdString(reach.error().message));
    QWidget* window = target->window();
    QTest::mouseClick(window->windowHandle(), Qt::LeftButton, {},
                      target->mapTo(window, pointOn(*target)));
    return {};
}

Result<void> Hand::click(const QString& objectName) const {
    return clickAt(objectName, [&] { return visible(objectName); }, {});
}

Result<void> Hand::clickCalled(const QString& accessibleName) const {
    const auto find = [&]() -> QWidget* {
        for (QWidget* each : m_window.findChildren<QWidget*>())
            if (each->isVisible() && each->accessibleName().startsWith(accessibleName))
                return each;
        return nullptr;
    };
    return clickAt(accessibleName, find, {});
}

Result<void> Hand::replaceContent(const QString& objectName) const {
    if (auto clicked = click(objectName); !clicked)
        return clicked;
    QTest::keySequence(visible(objectName)->window()->windowHandle(), QKeySequence::SelectAll);
    return {};
}

Result<void> Hand::type(const QString& objectName, const QString& text) const {
    if (auto ready = replaceContent(objectName); !ready)
        return ready;
    QWindow* window = visible(objectName)->window()->windowHandle();
    for (const char key : text.toLatin1())
        QTest::keyClick(window, key);
    return {};
}

Result<void> Hand::paste(const QString& objectName, const QString& text) const {
    if (auto ready = replaceContent(objectName); !ready)
        return ready;
    QApplication::clipboard()->setText(text);
    QTest::keySequence(visible(objectName)->window()->windowHandle(), QKeySequence::Paste);
    return {};
}

Result<void> Hand::clickCell(const QString& table, int column, const QString& text) const {
    QModelIndex cell;
    const auto found = [&] {
        const auto* view = qobject_cast<QTableView*>(visible(table));
        const int rows = view ? view->model()->rowCount() : 0;
        for (int row = 0; row < rows; ++row)
            if (cell = view->model()->index(row, column); cell.data().toString() == text)
                return true;
        return false;
    };
    if (!QTest::qWaitFor(found, kPatienceMs))
        return cannot("click \"" + text + "\" in " + table, "there is no such row");
    auto* view = qobject_cast<QTableView*>(visible(table));
    view->scrollTo(cell);
    const QPoint at = view->viewport()->mapTo(view, view->visualRect(cell).center());
    return clickAt(
        table, [&] { return visible(table); }, at);
}

void Hand::pressReturn() const {
    QTest::keyClick(m_window.windowHandle(), Qt::Key_Return);
}

} // namespace rm::test
