// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QHBoxLayout;
class QPushButton;
class QVBoxLayout;

namespace rm {

/// A window-modal dialog: title, explanation, content, buttons at the right. It never runs a nested
/// event loop: open() it and connect to its signals. It deletes itself.
class Sheet : public QDialog {
    Q_OBJECT
public:
    Sheet(const QString& title, const QString& text, const char* objectName, QWidget* parent);

    QVBoxLayout* content() const { return m_content; }
    QPushButton* addButton(const QString& text, const char* role, const char* objectName);
    /// Cancel, which Esc does too.
    QPushButton* addCancel();

    QSize sizeHint() const override; ///< as high as the texts are at the sheet's width

protected:
    bool event(QEvent* event) override; ///< keeps to that when they change
    /// Return presses the button that has the focus.
    void keyPressEvent(QKeyEvent* event) override;

private:
    QVBoxLayout* m_content;
    QHBoxLayout* m_buttons;
};

} // namespace rm
