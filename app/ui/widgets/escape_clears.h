// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

class QApplication;

namespace rm {

/// In the whole program Esc empties a filter or search that has the focus and a text. Only then
/// does it do what it otherwise does, such as close the dialog around it. A filter is a line to
/// type into that has a button to clear it.
class EscapeClears : public QObject {
    Q_OBJECT
public:
    /// Once is enough; it belongs to the application.
    static void install(QApplication& application);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    using QObject::QObject;
};

} // namespace rm
