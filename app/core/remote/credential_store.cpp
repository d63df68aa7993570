// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/credential_store.h"

#include <cstring>

namespace rm {

namespace {

void zero(Credentials& credentials) {
    if (credentials.password)
        explicit_bzero(credentials.password->data(), credentials.password->size());
}

} // namespace

CredentialStore::~CredentialStore() {
    for (auto& [node, credentials] : m_granted)
        zero(credentials);
}

void CredentialStore::grant(const std::string& node, const Credentials& credentials) {
    const std::lock_guard lock(m_mutex);
    Credentials& granted = m_granted[node];
    if (credentials.password) {
        zero(granted);
        granted.password = credentials.password;
    }
    if (credentials.trustedFingerprint)
        granted.trustedFingerprint = credentials.trustedFingerprint;
}

Credentials CredentialStore::lookUp(const std::string& node) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_granted.find(node);
    return found == m_granted.end() ? Credentials{} : found->second;
}

void CredentialStore::forget(const std::string& node) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_granted.find(node);
    if (found == m_granted.end())
        return;
    zero(found->second);
    m_granted.erase(found);
}

} // namespace rm
