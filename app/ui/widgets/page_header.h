// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/widgets/chip.h"

#include <QWidget>

class QBoxLayout;
class QLayout;
class QPushButton;

namespace rm {

class ElidedLabel;

/// Title line of a page: title, state, one line of facts, actions at the right. Actions that do not
/// fit beside the title stand below it, in as many rows as they need.
class PageHeader : public QWidget {
    Q_OBJECT
public:
    explicit PageHeader(const QString& title, QWidget* parent = nullptr);

    void setTitle(const QString& title);
    void setFacts(const QString& facts);
    void setChip(const QString& text, Tone tone); ///< empty: none
    QPushButton* addAction(const QString& text, const char* role, const char* objectName);

protected:
    bool event(QEvent* event) override;

private:
    void placeActions();

    ElidedLabel* m_title;
    Chip* m_chip;
    ElidedLabel* m_facts;
    QBoxLayout* m_parts; ///< the title with what it says, and the actions
    QLayout* m_actions;
};

} // namespace rm
