// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/task.h"

#include "trainer/train/workloads/language_task.h"
#include "trainer/train/workloads/resnet/image_task.h"
#include "trainer/train/workloads/translation/translation_task.h"

namespace rm {

std::vector<int64_t> Task::batchSizes() const {
    const auto& train = m_session.spec.train;
    if (!train.rankBatchSizes.empty())
        return train.rankBatchSizes;
    return std::vector<int64_t>(static_cast<size_t>(m_session.world.size()), train.batchSize);
}

int64_t Task::readers() const {
    const int64_t wanted = m_session.spec.data.workers;
    return wanted > 0 ? wanted : chosenReaders();
}

Result<std::unique_ptr<Task>> makeTask(const Session& session) {
    if (session.spec.model.type.starts_with("resnet"))
        return ImageTask::create(session);
    if (session.spec.model.type == "translation")
        return TranslationTask::create(session);
    return LanguageTask::create(session);
}

} // namespace rm
