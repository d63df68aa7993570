// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/credential_store.h"

#include "app/core/remote/ssh_session.h"

namespace rm {

void CredentialStore::grant(const Node& node, const Credentials& credentials) {
    if (!credentials.password && !credentials.passphrase && !credentials.trustedFingerprint)
        return;
    const std::string route = routeTo(node);
    const std::lock_guard lock(m_mutex);
    Granted& granted = m_granted[route];
    if (credentials.password)
        granted.credentials.password = credentials.password;
    if (credentials.passphrase)
        granted.credentials.passphrase = credentials.passphrase;
    if (credentials.trustedFingerprint)
        granted.credentials.trustedFingerprint = credentials.trustedFingerprint;
    granted.nodes.insert(node.name);
}

Credentials CredentialStore::lookUp(const Node& node) {
    if (isEmpty())
        return {};
    const std::string route = routeTo(node);
    const std::lock_guard lock(m_mutex);
    const auto found = m_granted.find(route);
    if (found == m_granted.end())
        return {};
    found->second.nodes.insert(node.name);
    return found->second.credentials;
}

bool CredentialStore::isEmpty() {
    const std::lock_guard lock(m_mutex);
    return m_granted.empty();
}

CredentialStore::Taken CredentialStore::take(const Node& node) {
    const std::lock_guard lock(m_mutex);
    Taken taken;
    std::erase_if(m_granted, [&](const auto& entry) {
        const auto& [route, granted] = entry;
        const bool isOfIt = granted.nodes.contains(node.name);
        if (isOfIt)
            taken.emplace(route, granted.credentials);
        return isOfIt;
    });
    return taken;
}

void CredentialStore::bringBack(const Node& node, const Taken& taken) {
    const std::lock_guard lock(m_mutex);
    for (const auto& [route, credentials] : taken)
        m_granted.try_emplace(route, Granted{credentials, {node.name}});
}

} // namespace rm
