// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/step_recorder.h"

#include <ATen/core/grad_mode.h>

namespace rm {
namespace {

/// Shapes may change that often before recording them anew is given up.
constexpr int kMostShapes = 4;

std::vector<int64_t> keyOf(const std::vector<Batch>& batches) {
    std::vector<int64_t> key;
    for (const Batch& batch : batches) {
        key.push_back(batch.targets);
        for (const at::Tensor& tensor : batch.tensors) {
            key.push_back(static_cast<int64_t>(tensor.scalar_type()));
            key.push_back(tensor.dim());
            key.insert(key.end(), tensor.sizes().begin(), tensor.sizes().end());
        }
    }
    return key;
}

} // namespace

std::unique_ptr<StepRecorder> StepRecorder::make(DevicePlugin& device, bool isAlone, Work work) {
    if (!device.makeStepGraph([] {}))
        return nullptr;
    if (isAlone)
        return std::unique_ptr<StepRecorder>(new StepRecorder(device, std::move(work)));
    work.onObstacle("several ranks share a step", 0);
    return nullptr;
}

StepRecorder::StepRecorder(DevicePlugin& device, Work work)
    : m_device(device)
    , m_work(std::move(work)) {}

at::Tensor StepRecorder::gradients(const std::vector<Batch>& batches, int64_t step) {
    m_replayed = false;
    if (m_obstacle.empty() && !adopt(batches)) {
        m_obstacle = "batches have different shapes";
        m_work.onObstacle(m_obstacle, step);
    }
    if (!m_obstacle.empty())
        return m_work.gradients(batches);
    m_replayed = m_gradients->run();
    if (m_replayed)
        m_work.onReplay();
    m_obstacle = m_gradients->obstacle();
    if (!m_obstacle.empty())
        m_work.onObstacle(m_obstacle, step);
    return m_loss;
}

/// Puts the batches where the recording reads them. False: it would need too many recordings.
bool StepRecorder::adopt(const std::vector<Batch>& batches) {
    Key key = keyOf(batches);
    if (key != m_key) {
        if (m_begun == kMostShapes)
            return false;
        begin(batches, std::move(key));
    }
    const at::NoGradGuard noGrad;
    for (size_t i = 0; i < batches.size(); ++i)
        for (size_t j = 0; j < batches[i].tensors.size(); ++j)
            m_inputs[i].tensors[j].copy_(batches[i].tensors[j]);
    return true;
}

void StepRecorder::begin(const std::vector<Batch>& batches, Key key) {
    ++m_begun;
    m_key = std::move(key);
    m_update.reset(); // it knows the gradients of the recording before
    m_gradients.reset();
    m_inputs = batches;
    for (Batch& batch : m_inputs)
        for (at::Tensor& tensor : batch.tensors)
            tensor = tensor.clone();
    m_gradients = m_device.makeStepGraph([this] { m_loss = m_work.gradients(m_inputs); });
}

at::Tensor StepRecorder::update(double setting, int64_t step) {
    if (!m_replayed)
        return m_work.update();
    if (!m_update || setting != m_setting) {
        m_setting = setting;
        m_update = m_device.makeStepGraph([this] { m_norm = m_work.update(); });
    }
    const bool wasRecordable = m_update->obstacle().empty();
    m_update->run();
    if (wasRecordable && !m_update->obstacle().empty())
        m_work.onObstacle(m_update->obstacle(), step);
    return m_norm;
}

} // namespace rm
