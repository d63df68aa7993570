// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/machines/device_line.h"
#include "app/ui/widgets/card.h"

#include <vector>

class QLabel;

namespace rm {

class Chip;

/// A machine that is looked at: what it is, a line for each of its devices, and what else it does.
class MachineCard : public Card {
    Q_OBJECT
public:
    explicit MachineCard(const std::string& node, QWidget* parent = nullptr);

    /// `same`: which other entries are this machine, in words; empty: none.
    void show(const ShownMachine& machine, const QString& same);
    using QWidget::show;
    const std::string& node() const { return m_node; }
    const std::vector<DeviceLine*>& lines() const { return m_lines; }

Q_SIGNALS:
    void lineSelected(int gpu);
    void moveRequested(int gpu, int key);

private:
    void buildUi();
    void setLines(int gpus);

    std::string m_node;
    ElidedLabel* m_model;
    Chip* m_chip;
    QVBoxLayout* m_lineColumn;
    std::vector<DeviceLine*> m_lines;
    QLabel* m_problem; ///< why there are no figures, and what to do
    ElidedLabel* m_foot;
    QLabel* m_warnings;
    ElidedLabel* m_same;
};

} // namespace rm
