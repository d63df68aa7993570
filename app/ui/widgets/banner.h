// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/widgets/chip.h"

#include <QFrame>

class QHBoxLayout;
class QPushButton;

namespace rm {

/// A banner about a lasting condition, such as a lost link or a failure.
class Banner : public QFrame {
    Q_OBJECT
public:
    explicit Banner(const char* objectName, QWidget* parent = nullptr);

    /// Empty `title` hides it. `quote` is what a program wrote; each may have several lines.
    void show(Tone tone, const QString& title, const QString& detail, const QString& quote = {});
    using QFrame::show;
    void addAction(QPushButton* button);

private:
    QLabel* m_title;
    QLabel* m_quote;
    QLabel* m_detail;
    QHBoxLayout* m_row;
};

} // namespace rm
