// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/node_login.h"

#include "app/core/findings/text.h"

#include <utility>

namespace rm {

NodeLogin::NodeLogin(Node node, CredentialSource credentials)
    : m_node(std::move(node))
    , m_credentials(std::move(credentials)) {}

/// The session that is open; null: none. Call it with the lock held.
NodeLogin::Shared NodeLogin::current() const {
    Shared session = m_session.lock();
    return session && session->session->seemsOpen() ? session : nullptr;
}

/// The lock is free while a connection opens or ends, as both may take long. So it is asked
/// again, before an opening begins, whether a session is open.
tl::expected<void, ConnectFailure> NodeLogin::get(Shared& session, std::stop_token stop,
                                                  ConnectPatience patience,
                                                  const OnConnectPause& onPause) {
    Shared before = std::exchange(session, nullptr); // ends out of the lock, as it may hang up
    std::unique_lock lock(m_mutex);
    if ((session = current()))
        return {};
    lock.unlock();
    before.reset();
    lock.lock();
    const bool waits = m_isOpening;
    if (!m_opened.wait(lock, stop, [this] { return !m_isOpening; }))
        return tl::unexpected(
            ConnectFailure{failCancelled(say("ssh.connect", {{"where", m_node.name}})).value()});
    session = current();
    if (session)
        return {};
    if (waits && m_failure)
        return tl::unexpected(*m_failure);
    m_isOpening = true;
    m_failure.reset();
    lock.unlock();
    auto opened = openNode(m_node, m_credentials(m_node), stop, onPause, patience);
    lock.lock();
    m_isOpening = false;
    m_opened.notify_all();
    if (!opened) {
        if (!stop.stop_requested() && !opened.error().mayPass())
            m_failure = opened.error();
        return tl::unexpected(std::move(opened.error()));
    }
    session = std::make_shared<const NodeSession>(std::move(*opened));
    m_session = session;
    return {};
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
