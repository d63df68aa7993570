// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/graphed_step.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

namespace rm {
namespace {

std::vector<int64_t> keyOf(const Batch& batch, bool isWhole) {
    std::vector<int64_t> key{isWhole ? 1 : 0};
    for (const at::Tensor& tensor : batch.tensors) {
        key.push_back(static_cast<int64_t>(tensor.scalar_type()));
        key.push_back(tensor.dim());
        key.insert(key.end(), tensor.sizes().begin(), tensor.sizes().end());
    }
    return key;
}

} // namespace

std::unique_ptr<GraphedStep> GraphedStep::make(DevicePlugin& device, bool isAlone, Work work) {
    auto graphs = device.makeStepGraphs();
    if (!graphs)
        return nullptr;
    if (isAlone)
        return std::unique_ptr<GraphedStep>(new GraphedStep(std::move(graphs), std::move(work)));
    work.onObstacle("several ranks share a step", 0);
    return nullptr;
}

GraphedStep::GraphedStep(std::unique_ptr<StepGraphs> graphs, Work work)
    : m_graphs(std::move(graphs))
    , m_work(std::move(work)) {}

at::Tensor GraphedStep::gradients(const std::vector<Batch>& batches, int64_t step) {
    const at::NoGradGuard noGrad;
    if (!m_loss.defined()) {
        const auto options = batches[0].tensors[0].options().dtype(at::kFloat);
        m_loss = at::zeros({}, options);
        m_weight = at::ones({}, options);
    }
    try {
        sum(batches, step);
        return m_loss;
    } catch (const c10::OutOfMemoryError&) {
        if (m_recordings.empty())
            throw;
    }
    m_update.reset();
    m_recordings.clear();
    m_graphs.reset();
    report("memory ran out beside the recordings", step);
    sum(batches, step);
    return m_loss;
}

void GraphedStep::sum(const std::vector<Batch>& batches, int64_t step) {
    const bool isWhole = batches.size() == 1;
    if (!isWhole) {
        m_work.begin(true);
        m_settled = true;
    }
    m_loss.zero_();
    for (const Batch& batch : batches) {
        m_weight.fill_(m_work.weight(batch));
        // Read at once, as other recordings, such as the update, may overwrite this one's loss.
        m_loss.addcmul_(add(batch, isWhole, step), m_weight);
    }
}

at::Tensor GraphedStep::add(const Batch& batch, bool isWhole, int64_t step) {
    Recording* recording = recordingFor(batch, isWhole, step);
    if (!recording)
        return compute(batch, isWhole);
    for (size_t i = 0; i < batch.tensors.size(); ++i)
        recording->input.tensors[i].copy_(batch.tensors[i]);
    const bool replayed = recording->graph->run();
    const RecordedLaps laps = m_work.takeLaps(); // laps of a failed recording are dropped
    if (!replayed) {
        report(recording->graph->obstacle(), step);
        return recording->loss;
    }
    if (laps)
        recording->laps = laps;
    m_settled = true;
    m_work.onReplay(recording->laps);
    return recording->loss;
}

/// Computes a batch eagerly; `isWhole`: the step has no other batch.
at::Tensor GraphedStep::compute(const Batch& batch, bool isWhole) {
    const at::AutoGradMode grad(true);
    if (isWhole)
        m_work.begin(m_settled);
    return m_work.add(batch, m_weight);
}

GraphedStep::Recording* GraphedStep::recordingFor(const Batch& batch, bool isWhole, int64_t step) {
    if (!m_graphs)
        return nullptr;
    Key key = keyOf(batch, isWhole);
    if (const auto found = m_recordings.find(key); found != m_recordings.end())
        return &found->second;
    if (m_recordings.size() == kMostShapes) {
        report("batches have more than " + std::to_string(kMostShapes) + " shapes", step);
        return nullptr;
    }
    Recording& recording = m_recordings[std::move(key)];
    begin(recording, batch, isWhole);
    return &recording;
}

void GraphedStep::begin(Recording& recording, const Batch& batch, bool isWhole) {
    recording.input = batch;
    for (at::Tensor& tensor : recording.input.tensors)
        tensor = tensor.clone();
    recording.graph = m_graphs->make(
        [this, &recording, isWhole] { recording.loss = compute(recording.input, isWhole); });
}

void GraphedStep::report(const std::string& obstacle, int64_t step) {
    if (!obstacle.empty() && m_reported.insert(obstacle).second)
        m_work.onObstacle(obstacle, step);
}

at::Tensor GraphedStep::update(double setting, int64_t step) {
    if (!m_settled || !m_graphs)
        return m_work.update();
    if (!m_update || setting != m_setting) {
        m_setting = setting;
        m_update = m_graphs->make([this] { m_norm = m_work.update(); });
    }
    m_update->run();
    report(m_update->obstacle(), step);
    return m_norm;
}

} // namespace rm
