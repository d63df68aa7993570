// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/node/node.h"
#include "app/core/remote/secret.h"
#include "shared/result.h"

#include <QObject>

#include <functional>
#include <optional>

namespace rm {

/// Passwords of nodes in the desktop's keyring (Secret Service, KWallet, Keychain), by the host's
/// address, so that a node that is changed to another host does not get the old password. They are
/// never in a file of ours: without a keyring the person is asked each time. Used in the object's
/// thread, which has an event loop; answers come later, unless the object is gone by then.
class Keyring : public QObject {
    Q_OBJECT
public:
    using QObject::QObject;

    /// nullopt: no entry, no keyring, or it stays locked.
    void read(const Node& node, std::function<void(std::optional<Secret>)> done);
    /// kUnavailable: it was not kept.
    void write(const Node& node, const Secret& password, std::function<void(Result<void>)> done);
    void remove(const Node& node);
};

} // namespace rm
