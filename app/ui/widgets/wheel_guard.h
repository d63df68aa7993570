// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QApplication;

namespace rm {

/// Keeps the mouse wheel from changing values in passing: everywhere in the program, a combo box, a
/// number or a slider takes it only while it has the focus, which the wheel never gives. What it
/// does not take scrolls what it lies in.
class WheelGuard : public QObject {
    Q_OBJECT
public:
    /// Once is enough; the guard belongs to the application.
    static void install(QApplication& application);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    using QObject::QObject;
};

} // namespace rm
