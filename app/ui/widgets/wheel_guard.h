// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QApplication;

namespace rm {

/// Keeps the mouse wheel from changing values by accident. In the whole program a combo box, spin
/// box or slider reacts to the wheel only while it has the focus, which the wheel does not give it.
/// Plots do not at all. Otherwise the wheel scrolls the surrounding area.
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
