// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/ui/widgets/card.h"

#include <QElapsedTimer>
#include <QTimer>

#include <vector>

class QLabel;
class QProgressBar;

namespace rm {

class ElidedLabel;

/// What a launch is doing: stage, bytes sent, rate, time left, and whether the transfer has
/// stalled; of several nodes also each one, those that take longest if there are many.
class LaunchProgress : public Card {
    Q_OBJECT
public:
    explicit LaunchProgress(QWidget* parent = nullptr);
    /// Hidden unless a launch goes on.
    void show(const LiveState& live);

private:
    void show(const Progress& progress);
    void showNodes(bool areStalled);
    void admitStall();

    QTimer m_patience;
    Progress m_shown;
    ElidedLabel* m_stage;
    QLabel* m_amount;
    QProgressBar* m_bar;
    std::vector<ElidedLabel*> m_nodes; ///< made as they are needed
    QElapsedTimer m_sinceMoved;
};

} // namespace rm
