// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/remote/host.h"

#include <map>
#include <mutex>
#include <set>
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

    /// Later grants add to and replace earlier ones. It and lookUp() ask for the route, unless
    /// nothing is granted at all, which may take as long as a command of ssh_config's `Match exec`.
    void grant(const Node& node, const Credentials& credentials);
    /// Empty credentials when nothing was granted.
    Credentials lookUp(const Node& node);

    /// Credentials that were granted to a node, or serve it as well.
    using Taken = std::map<std::string, Credentials>; ///< by route
    /// Takes what it has or has looked up under its name, whatever ssh_config says by now.
    Taken take(const Node& node);
    void bringBack(const Node& node, const Taken& taken);
    void forget(const Node& node) { take(node); }

private:
    struct Granted {
        Credentials credentials;
        std::set<std::string> nodes; ///< that were granted it or have looked it up
    };

    bool isEmpty();

    std::mutex m_mutex;
    std::map<std::string, Granted> m_granted; ///< by route
};

} // namespace rm
