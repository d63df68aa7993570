// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace rm {

/// What a page shows when it has nothing to show: one sentence and one action.
class EmptyState : public QWidget {
    Q_OBJECT
public:
    EmptyState(const QString& title, const QString& sentence, const QString& action = {},
               QWidget* parent = nullptr);
    void setTexts(const QString& title, const QString& sentence);
    void setActionVisible(bool visible);

Q_SIGNALS:
    void acted();

private:
    QLabel* m_title;
    QLabel* m_sentence;
    QPushButton* m_action = nullptr;
};

} // namespace rm
