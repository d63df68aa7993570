// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/widgets/card.h"
#include "app/ui/widgets/chip.h"

#include <QStringList>

#include <vector>

class QLabel;
class QPushButton;
class QVBoxLayout;

namespace rm {

/// A sentence of a check and what it means for a launch.
struct CheckLine {
    Tone tone = Tone::kGood;
    QString text;
    bool operator==(const CheckLine&) const = default;
};

/// What speaks for and against a launch, a line each.
class CheckCard : public Card {
    Q_OBJECT
public:
    explicit CheckCard(QWidget* parent = nullptr);

    /// `age`: of the nodes' answers, "2 s ago".
    void show(const std::vector<CheckLine>& lines, const QString& age);
    using QWidget::show;

Q_SIGNALS:
    void againRequested();

private:
    std::vector<CheckLine> m_shown;
    QLabel* m_age;
    QPushButton* m_again;
    QVBoxLayout* m_lines;
};

} // namespace rm
