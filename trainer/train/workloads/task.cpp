// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/task.h"

#include "trainer/train/workloads/registry.h"

namespace rm {

std::vector<int64_t> Task::batchSizes() const {
    const auto& train = m_session.spec.train;
    if (!train.rankBatchSizes.empty())
        return train.rankBatchSizes;
    return std::vector<int64_t>(static_cast<size_t>(m_session.world.size()), train.batchSize);
}

int64_t Task::readers() const {
    return readersOf(m_session.spec, m_session.device, m_session.environment.localWorldSize);
}

Result<std::unique_ptr<Task>> makeTask(const Session& session) {
    return workloadOf(session.spec).makeTask(session);
}

} // namespace rm
