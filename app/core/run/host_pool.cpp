// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/host_pool.h"

namespace rm {

std::shared_ptr<HostWorker> HostPool::worker(const Node& node) {
    const std::lock_guard lock(m_mutex);
    std::shared_ptr<HostWorker>& worker = m_workers[node.name];
    if (!worker || worker->node() != node)
        worker = std::make_shared<HostWorker>(node, m_credentials);
    return worker;
}

} // namespace rm
