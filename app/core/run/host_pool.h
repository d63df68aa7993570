// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/host_worker.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace rm {

/// One worker a node, kept between launches so that the next one finds the session open.
/// Thread-safe.
class HostPool {
public:
    explicit HostPool(CredentialSource credentials)
        : m_credentials(std::move(credentials)) {}

    /// The worker of this node; a new one when the node's settings have changed.
    std::shared_ptr<HostWorker> worker(const Node& node);

private:
    CredentialSource m_credentials;
    std::mutex m_mutex;
    std::map<std::string, std::shared_ptr<HostWorker>> m_workers;
};

} // namespace rm
