// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/fleet.h"
#include "app/core/store/run_summary.h"

#include <QFrame>

#include <array>

class QLabel;

namespace rm {

class Chip;
class ElidedLabel;

/// A machine in words. A click, Enter or Space selects it; Tab stops at the selected one of all.
class NodeCard : public QFrame {
    Q_OBJECT
public:
    explicit NodeCard(const Node& node, QWidget* parent = nullptr);

    /// `progress`: how far its check is; empty: it is not being checked.
    /// `runs`: by what live ones tell of it, see unreachableWords().
    void show(const std::optional<NodeCheck>& check, const QString& progress,
              const std::vector<RunSummary>& runs);
    using QWidget::show;
    void setSelected(bool selected);
    const Node& node() const { return m_node; }

Q_SIGNALS:
    void selected();
    void moveRequested(int key); ///< an arrow, Home or End: to another card

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void buildUi();

    Node m_node;
    Chip* m_chip;
    ElidedLabel* m_address;
    std::array<ElidedLabel*, 3> m_lines;
};

} // namespace rm
