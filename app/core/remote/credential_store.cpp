// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/credential_store.h"

#include "app/core/remote/ssh_session.h"

namespace rm {

void CredentialStore::grant(const Node& node, const Credentials& credentials) {
    const std::string route = routeTo(node);
    const std::lock_guard lock(m_mutex);
    Credentials merged = m_granted[route];
    if (credentials.password)
        merged.password = credentials.password;
    if (credentials.passphrase)
        merged.passphrase = credentials.passphrase;
    if (credentials.trustedFingerprint)
        merged.trustedFingerprint = credentials.trustedFingerprint;
    m_granted.erase(route); // wipes all of the old secret; assigning a shorter one would not
    m_granted.emplace(route, merged);
}

Credentials CredentialStore::lookUp(const Node& node) const {
    const std::string route = routeTo(node);
    const std::lock_guard lock(m_mutex);
    const auto found = m_granted.find(route);
    return found == m_granted.end() ? Credentials{} : found->second;
}

void CredentialStore::forget(const Node& node) {
    const std::string route = routeTo(node);
    const std::lock_guard lock(m_mutex);
    m_granted.erase(route);
}

} // namespace rm
