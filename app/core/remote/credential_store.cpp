// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/credential_store.h"

namespace rm {

void CredentialStore::grant(const std::string& node, const Credentials& credentials) {
    const std::lock_guard lock(m_mutex);
    Credentials merged = m_granted[node];
    if (credentials.password)
        merged.password = credentials.password;
    if (credentials.passphrase)
        merged.passphrase = credentials.passphrase;
    if (credentials.trustedFingerprint)
        merged.trustedFingerprint = credentials.trustedFingerprint;
    m_granted.erase(node); // wipes all of the old secret; assigning a shorter one would not
    m_granted.emplace(node, merged);
}

Credentials CredentialStore::lookUp(const std::string& node) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_granted.find(node);
    return found == m_granted.end() ? Credentials{} : found->second;
}

void CredentialStore::forget(const std::string& node) {
    const std::lock_guard lock(m_mutex);
    m_granted.erase(node);
}

} // namespace rm
