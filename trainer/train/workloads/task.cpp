// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/task.h"

#include "shared/spec/step_cut.h"
#include "trainer/train/workloads/registry.h"

namespace rm {

std::vector<int64_t> Task::batchSizes() const {
    return batchSizesOf(m_session.spec, m_session.world.size());
}

int64_t Task::readers() const {
    return readersOf(m_session.spec, m_session.device, m_session.environment.localWorldSize);
}

Result<std::unique_ptr<Task>> makeTask(const Session& session) {
    return workloadOf(session.spec).makeTask(session);
}

} // namespace rm
