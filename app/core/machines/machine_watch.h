// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/machines/machine_link.h"

#include <QObject>
#include <QTimer>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rm {

/// Who looks, and how closely.
struct MachineLook {
    std::string by; ///< any name that nobody else has
    std::vector<MachineQuestion> questions;
    int intervalMs = 1000;
    bool operator==(const MachineLook&) const = default;
};

/// Looks at nodes for all windows and terminals. A node has one link, with the shortest interval
/// that anybody asks for, as long as somebody has asked within the last few seconds. One thread.
class MachineWatch : public QObject {
    Q_OBJECT
public:
    using Login = std::function<std::shared_ptr<NodeLogin>(const Node&)>;
    explicit MachineWatch(Login login);
    ~MachineWatch() override;

    /// What is new of each node that is asked about. `nodes`: as they are reached now, in the order
    /// of the questions.
    std::vector<MachineNews> look(const MachineLook& look, const std::vector<Node>& nodes);
    /// That one does not look any more.
    void leave(const std::string& by);
    /// Somebody has got into the node.
    void retry(const std::string& node);
    /// Ends every link, without waiting for it.
    void end();
    /// Links that have not ended yet.
    int links() const;

private:
    struct Looker {
        int64_t askedNs = 0;
        int intervalMs = 1000;
        std::vector<std::string> nodes;
    };
    struct Machine {
        std::shared_ptr<MachineRecord> record;
        std::unique_ptr<MachineLink> link; ///< null: nobody looks
    };
    MachineRecord& recordOf(const Node& node);
    void settle();
    int intervalFor(const std::string& node) const;

    Login m_login;
    std::map<std::string, Looker> m_lookers;
    std::map<std::string, Machine> m_machines;
    std::vector<std::unique_ptr<MachineLink>> m_ending;
    QTimer m_timer;
};

} // namespace rm
