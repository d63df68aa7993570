// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"

#include <map>
#include <mutex>
#include <string>

namespace rm {

/// What a person granted in this session, by the way to a node (routeTo()): a password given once
/// serves every later connection of this process there, and none to another host, port or user
/// that the node's name may come to stand for. Never written anywhere; zeroed when forgotten.
/// Thread-safe.
class CredentialStore {
public:
    CredentialStore() = default;
    CredentialStore(const CredentialStore&) = delete;
    CredentialStore& operator=(const CredentialStore&) = delete;

    /// Later grants add to and replace earlier ones.
    void grant(const Node& node, const Credentials& credentials);
    /// Empty credentials when nothing was granted.
    Credentials lookUp(const Node& node) const;
    void forget(const Node& node);

private:
    mutable std::mutex m_mutex;
    std::map<std::string, Credentials> m_granted; ///< by route
};

} // namespace rm
