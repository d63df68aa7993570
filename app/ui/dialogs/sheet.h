// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QVBoxLayout;

namespace rm {

class FittingArea;

/// A window-modal dialog: title, explanation, content, buttons at the right. It never runs a nested
/// event loop: open() it and connect to its signals. It deletes itself.
///
/// It is as high as its content, and never larger than the screen: the content scrolls then, while
/// title and buttons stay in sight. A size that a person gives it stays until the content changes.
class Sheet : public QDialog {
    Q_OBJECT
public:
    Sheet(const QString& title, const QString& text, const char* objectName, QWidget* parent);

    /// Another explanation, where what it tells of has changed.
    void setText(const QString& text);
    QVBoxLayout* content() const { return m_content; }
    /// Wider than others from the start, as a table needs it.
    void setWantedWidth(int width) { m_wantedWidth = width; }
    QPushButton* addButton(const QString& text, const char* role, const char* objectName);
    /// Cancel, which Esc does too.
    QPushButton* addCancel();

    /// The topic of the manual that F1 opens, with "#HEADING" behind it where one says it all.
    QString manualTopic() const;

    QSize sizeHint() const override;

protected:
    /// Scrolls its content to the widget, once that is laid out.
    void bringIntoSight(QWidget* widget);
    bool event(QEvent* event) override; ///< keeps to sizeHint() when that changes
    void showEvent(QShowEvent* event) override;
    /// A click on the window behind activates that in some window managers, which would leave the
    /// keyboard with a window that is blocked: it comes back.
    bool eventFilter(QObject* watched, QEvent* event) override;
    /// Return presses the button that has the focus; Page Up and Page Down scroll.
    void keyPressEvent(QKeyEvent* event) override;

private:
    void fit();
    void offerHelp();
    void showHelp();

    QVBoxLayout* m_content;
    QLabel* m_text;
    FittingArea* m_body;
    QHBoxLayout* m_buttons;
    int m_wantedWidth;
    QSize m_fitted; ///< the size that it took by itself
    QPoint m_place; ///< where it was first shown
};

} // namespace rm
