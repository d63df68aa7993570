// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/wheel_guard.h"

#include <QAbstractScrollArea>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QEvent>
#include <QScrollBar>
#include <QSlider>
#include <QTabBar>

namespace rm {

namespace {

/// A plot of QCustomPlot takes the wheel though nothing zooms by it here.
bool isPlot(const QObject* object) {
    return object->inherits("QCustomPlot");
}

bool changesByWheel(const QObject* object) {
    return isPlot(object) || qobject_cast<const QComboBox*>(object) ||
           qobject_cast<const QAbstractSpinBox*>(object) || qobject_cast<const QSlider*>(object) ||
           qobject_cast<const QTabBar*>(object);
}

/// QCustomPlot keeps from its parents what it does not take itself.
bool scrollAround(const QWidget& plot, QEvent* event) {
    event->ignore();
    for (QWidget* each = plot.parentWidget(); each; each = each->parentWidget())
        if (const auto* area = qobject_cast<QAbstractScrollArea*>(each)) {
            QCoreApplication::sendEvent(area->verticalScrollBar(), event);
            break;
        }
    return true;
}

} // namespace

void WheelGuard::install(QApplication& application) {
    if (application.findChild<WheelGuard*>({}, Qt::FindDirectChildrenOnly))
        return;
    application.installEventFilter(new WheelGuard(&application));
}

bool WheelGuard::eventFilter(QObject* watched, QEvent* event) {
    const bool isPolish = event->type() == QEvent::Polish;
    if ((!isPolish && event->type() != QEvent::Wheel) || !changesByWheel(watched))
        return false;
    auto* control = static_cast<QWidget*>(watched);
    if (isPolish) {
        if (control->focusPolicy() == Qt::WheelFocus)
            control->setFocusPolicy(Qt::StrongFocus);
        return false;
    }
    if (isPlot(control))
        return scrollAround(*control, event);
    if (control->hasFocus())
        return false;
    event->ignore(); // so it goes on to the parent
    return true;
}

} // namespace rm
