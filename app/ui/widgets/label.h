// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCheckBox>
#include <QLabel>
#include <QPushButton>

namespace rm {

/// Sets a property that the style sheet selects by, and styles the widget anew.
void setStyleProperty(QWidget* widget, const char* property, const QVariant& value);

/// A label in one of the style sheet's roles ("title", "secondary", "mono", ...).
QLabel* makeLabel(const QString& text, const char* role, QWidget* parent = nullptr);

/// The same, broken into lines where it needs to be.
QLabel* makeText(const QString& text, const char* role, QWidget* parent = nullptr);

/// A button in a role: "" (plain), "primary", "danger", "quiet", "nav", "tab".
QPushButton* makeButton(const QString& text, const char* role, const char* objectName,
                        QWidget* parent = nullptr);

/// Makes the button as wide as the widest of what it may say, so that neither it nor its neighbours
/// move when that changes.
void keepWidth(QPushButton& button, const QStringList& captions);

QFrame* makeLine(QWidget* parent = nullptr);

/// Shows the one in the other's place, also for the focus, which Qt would move elsewhere: at once,
/// or when a window that is not active becomes so.
void showInsteadOf(QWidget* shown, QWidget* hidden);

/// One line of text that ends in "…" where there is no room; the whole text is its tooltip.
class ElidedLabel : public QLabel {
    Q_OBJECT
public:
    ElidedLabel(const QString& text, const char* role, QWidget* parent = nullptr);

    void setFullText(const QString& text);
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QString m_full;
};

/// A check box whose text ends in "…" where there is no room; the whole text is its tooltip.
class ElidedCheckBox : public QCheckBox {
    Q_OBJECT
public:
    explicit ElidedCheckBox(const QString& text, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace rm
