// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/node_login.h"

#include <utility>

namespace rm {

namespace {
/// After the laptop slept or a router dropped the connection, a dead session still looks open.
constexpr auto kLongestSilence = std::chrono::seconds(30);
} // namespace

NodeLogin::NodeLogin(Node node, CredentialSource credentials)
    : m_node(std::move(node))
    , m_credentials(std::move(credentials)) {}

/// With the lock held.
NodeLogin::Shared NodeLogin::current() const {
    Shared session = m_session.lock();
    const bool isFresh =
        session &&
        std::chrono::steady_clock::now() - session->session->lastHeard() < kLongestSilence;
    return isFresh ? session : nullptr;
}

tl::expected<NodeLogin::Shared, ConnectFailure> NodeLogin::get(std::stop_token stop,
                                                               std::chrono::milliseconds patience,
                                                               const OnConnectPause& onPause) {
    std::unique_lock lock(m_mutex);
    if (!m_opened.wait(lock, stop, [this] { return !m_isOpening; }))
        return tl::unexpected(
            ConnectFailure{{ErrorCode::kUnavailable, "connect to " + m_node.name + ": cancelled"}});
    if (Shared session = current())
        return session;
    m_isOpening = true;
    lock.unlock();
    auto opened = openNode(m_node, m_credentials(m_node), std::move(stop), onPause, patience);
    lock.lock();
    m_isOpening = false;
    m_opened.notify_all();
    if (!opened)
        return tl::unexpected(std::move(opened.error()));
    const auto session = std::make_shared<const NodeSession>(std::move(*opened));
    m_session = session;
    return session;
}

void NodeLogin::drop(const Shared& session) {
    const std::lock_guard lock(m_mutex);
    if (m_session.lock() == session)
        m_session.reset();
}

void NodeLogin::drop() {
    const std::lock_guard lock(m_mutex);
    m_session.reset();
}

} // namespace rm
