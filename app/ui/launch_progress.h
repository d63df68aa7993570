// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/run/engine.h"
#include "app/ui/widgets/card.h"

class QLabel;
class QProgressBar;

namespace rm {

/// What a launch is doing: stage, how much, how fast, how long.
class LaunchProgress : public Card {
    Q_OBJECT
public:
    explicit LaunchProgress(QWidget* parent = nullptr);
    /// Hidden unless a launch goes on.
    void show(const LiveState& live);

private:
    void show(const Progress& progress);

    QLabel* m_stage;
    QLabel* m_amount;
    QProgressBar* m_bar;
};

} // namespace rm
