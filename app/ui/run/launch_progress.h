// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/run/engine.h"
#include "app/ui/widgets/card.h"

#include <QElapsedTimer>
#include <QTimer>

class QLabel;
class QProgressBar;

namespace rm {

/// What a launch is doing: stage, bytes sent, rate, time left, and whether the transfer has
/// stalled.
class LaunchProgress : public Card {
    Q_OBJECT
public:
    explicit LaunchProgress(QWidget* parent = nullptr);
    /// Hidden unless a launch goes on.
    void show(const LiveState& live);

private:
    void show(const Progress& progress);
    void admitStall();

    QTimer m_patience;
    Progress m_shown;
    QLabel* m_stage;
    QLabel* m_amount;
    QProgressBar* m_bar;
    QElapsedTimer m_sinceMoved;
};

} // namespace rm
