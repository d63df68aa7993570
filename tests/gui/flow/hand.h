// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QPoint>
#include <QString>

#include <functional>

class QWidget;

namespace rm::test {

/// A person's pointer and keyboard on one window and its dialogs. Events enter through the window
/// at a place, so that a button under a dialog, outside of the screen or covered by another widget
/// is not clicked. Each call waits until it can be done, within a deadline; else it says what was
/// in the way.
class Hand {
public:
    explicit Hand(QWidget& window)
        : m_window(window) {}

    Result<void> click(const QString& objectName) const;
    /// The same for what a screen reader calls so, or so and more: cards of one kind share a name.
    Result<void> clickCalled(const QString& accessibleName) const;
    /// Clicks into the field and replaces its content key by key.
    Result<void> type(const QString& objectName, const QString& text) const;
    /// The same by the clipboard.
    Result<void> paste(const QString& objectName, const QString& text) const;
    /// Clicks the first cell in `column` of a table that reads `text`.
    Result<void> clickCell(const QString& table, int column, const QString& text) const;
    void pressReturn() const; ///< where the focus is

    /// The visible widget of that name, or null.
    QWidget* visible(const QString& objectName) const;

private:
    /// What keeps a person from clicking there; ok: nothing.
    Result<void> inReach(QWidget* target, const QPoint& at) const;
    using Finder = std::function<QWidget*()>;
    Result<void> clickAt(const QString& what, const Finder& find, const QPoint& at) const;
    Result<void> replaceContent(const QString& objectName) const;

    QWidget& m_window;
};

} // namespace rm::test

/// In a test function: a Result<void> step that must succeed.
#define RM_DO(step)                                                                                \
    do {                                                                                           \
        const rm::Result<void> done = (step);                                                      \
        QVERIFY2(done, done ? "" : done.error().message.c_str());                                  \
    } while (false)
