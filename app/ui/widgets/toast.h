// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QTimer>

#include <functional>

class QLabel;
class QPushButton;

namespace rm {

/// A message over the foot of a window that says what happened and offers to undo it. It disappears
/// after ten seconds unless the pointer or the focus is on it.
class Toast : public QFrame {
    Q_OBJECT
public:
    explicit Toast(QWidget* window);

    void say(const QString& text);
    void offer(const QString& text, const QString& action, std::function<void()> act);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void appear();
    void place();
    void leave();

    QLabel* m_text;
    QPushButton* m_action;
    std::function<void()> m_act;
    QTimer m_timer;
};

} // namespace rm
