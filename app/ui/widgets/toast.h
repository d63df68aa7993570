// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QPointer>
#include <QTimer>

#include <functional>
#include <optional>
#include <vector>

class QLabel;
class QPushButton;
class QShortcut;

namespace rm {

/// A message over a window that says what happened and offers to undo it, at the foot or where else
/// it covers no button and no field. It disappears after ten seconds, or by a click. While it
/// offers to undo, the key for that does so.
class Toast : public QFrame {
    Q_OBJECT
public:
    explicit Toast(QWidget* window);

    void say(const QString& text);
    /// Offers to undo what was done, also by the key for that.
    void offerUndo(const QString& text, std::function<void()> act,
                   std::function<void()> lapse = {});
    /// `lapse` is called once `act` cannot be asked for any more, while the window is there.
    void offer(const QString& text, const QString& action, std::function<void()> act,
               std::function<void()> lapse = {});

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;

private:
    void appear();
    void leave();
    void vanish(); ///< and gives the focus back
    void place();
    QPoint freePlace() const;
    template <class Widget>
    std::vector<QRect> placesOf() const;
    std::optional<QPoint> placeBeside(const std::vector<QRect>& taken) const;

    QLabel* m_text;
    QPushButton* m_action;
    QShortcut* m_undo;          ///< while that is offered
    QPointer<QWidget> m_before; ///< which had the focus before m_action
    std::function<void()> m_act;
    std::function<void()> m_lapse;
    QTimer m_timer;
};

} // namespace rm
