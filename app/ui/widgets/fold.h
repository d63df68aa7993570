// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/widgets/card.h"

class QPushButton;

namespace rm {

/// A card that shows one line, a title and a summary of its content, until it is unfolded.
class Fold : public Card {
    Q_OBJECT
public:
    Fold(const QString& title, const QString& objectName, QWidget* parent = nullptr);

    QVBoxLayout* content() const { return m_content; }
    void setSummary(const QString& summary);
    void setOpen(bool open);
    bool isOpen() const;

private:
    void buildHead();

    QString m_title;
    QString m_words; ///< what the summary says while it is folded
    QPushButton* m_head;
    QLabel* m_mark;
    ElidedLabel* m_summary;
    QWidget* m_inside;
    QVBoxLayout* m_content;
};

} // namespace rm
