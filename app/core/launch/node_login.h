// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/deploy.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>

namespace rm {

/// Gives the credentials that a person has already granted for a node. Called on any thread.
using CredentialSource = std::function<Credentials(const Node&)>;

/// The one login at a node that its worker and the followers of its runs share. It lasts as long as
/// one of them holds it. Thread-safe.
class NodeLogin {
public:
    NodeLogin(Node node, CredentialSource credentials);

    const Node& node() const { return m_node; }

    using Shared = std::shared_ptr<const NodeSession>;

    /// The session that is open, unless the node was silent for so long that it may be lost;
    /// otherwise a new one by openNode(), for which all who ask meanwhile wait.
    tl::expected<Shared, ConnectFailure> get(std::stop_token stop,
                                             std::chrono::milliseconds patience = kLoginPatience,
                                             const OnConnectPause& onPause = {});

    /// The next get() opens a new one, as this one failed. Who holds it may go on with it.
    void drop(const Shared& session);
    /// The same for the one that is open, as its agent is gone.
    void drop();

private:
    Shared current() const;

    Node m_node;
    CredentialSource m_credentials;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_opened;
    bool m_isOpening = false;
    std::weak_ptr<const NodeSession> m_session;
};

} // namespace rm
