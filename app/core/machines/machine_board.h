// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/machines/machine_news.h"
#include "app/core/machines/machine_watch.h"

#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// A node as a window or a terminal that looks at it knows it.
struct ShownMachine {
    std::string node;
    MachineState state = MachineState::kConnecting;
    std::string why;
    std::string fix;
    std::optional<MachineFacts> facts;
    std::deque<MachinePoint> points; ///< of the last five minutes, the oldest first
    std::vector<ProcessFigures> processes;

    /// The newest sample of a node that is live; null: there is none.
    const MachineSample* now() const;
};

/// Collects what is asked of nodes for one who looks at them.
class MachineBoard {
public:
    /// `by`: see MachineLook.
    explicit MachineBoard(std::string by)
        : m_by(std::move(by)) {}

    /// From now on these, in this order; what is known of them stays.
    void setNodes(const std::vector<std::string>& nodes);
    /// What to ask next. `allProcessesOf`: names of nodes.
    MachineLook next(int intervalMs, const std::vector<std::string>& allProcessesOf = {}) const;
    void take(const std::vector<MachineNews>& news);
    /// Whether every node has told of itself, or why it does not.
    bool isSettled() const;

    const std::vector<ShownMachine>& machines() const { return m_machines; }
    const ShownMachine* find(const std::string& node) const;
    const std::string& by() const { return m_by; }

private:
    std::string m_by;
    std::vector<ShownMachine> m_machines;
};

} // namespace rm
