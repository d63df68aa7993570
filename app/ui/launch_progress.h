// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/progress.h"
#include "app/ui/widgets/card.h"

class QLabel;
class QProgressBar;

namespace rm {

/// What a launch is doing: stage, how much, how fast, how long.
class LaunchProgress : public Card {
    Q_OBJECT
public:
    explicit LaunchProgress(QWidget* parent = nullptr);
    void show(const Progress& progress);
    using QWidget::show;

private:
    QLabel* m_stage;
    QLabel* m_amount;
    QProgressBar* m_bar;
};

} // namespace rm
