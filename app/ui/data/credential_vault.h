// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/fleet/node.h"
#include "app/core/remote/host.h"

#include <QObject>

#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace rm {

/// Passwords that a person typed, for as long as the app runs, and in the desktop's keyring for
/// longer when it has one; never in a file of ours.
class CredentialVault : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;
    ~CredentialVault() override; ///< overwrites what it holds

    /// Thread-safe; what is known by now.
    Credentials credentials(const Node& node) const;

    /// Asks the keyring; `done` comes in any case. GUI thread, as all below.
    void fetch(const Node& node, std::function<void()> done);
    void keep(const Node& node, const QString& password, bool inKeyring);
    void forget(const Node& node);

private:
    mutable std::mutex m_mutex;
    std::map<std::string, std::string> m_passwords;
};

} // namespace rm
