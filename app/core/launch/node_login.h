// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/deploy/deploy.h"

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
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

    /// Makes `session` the one that is open, as far as HostSession::seemsOpen() knows; otherwise a
    /// new one by openNode(), before which what `session` held is let go. All who ask meanwhile
    /// wait for that, and are told the same if it fails, so that a refused password goes out
    /// once. They try themselves where it was stopped or may pass.
    tl::expected<void, ConnectFailure> get(Shared& session, std::stop_token stop,
                                           ConnectPatience patience = kLoginPatience,
                                           const OnConnectPause& onPause = {});

    /// Makes the next get() open a new session, unless another call did, as this one failed. Its
    /// other users may go on with it.
    void drop(const Shared& session);
    /// Drops the session that is open, as its agent is gone.
    void drop();

private:
    Shared current() const;

    Node m_node;
    CredentialSource m_credentials;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_opened;
    bool m_isOpening = false;
    std::optional<ConnectFailure> m_failure; ///< of the last opening, for those who waited for it
    std::weak_ptr<const NodeSession> m_session;
};

} // namespace rm
