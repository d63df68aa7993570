// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/resnet/image_batches.h"
#include "trainer/train/workloads/resnet/resnet.h"
#include "trainer/train/workloads/task.h"

#include <optional>
#include <set>

namespace rm {

/// Trains a ResNet to classify pictures.
class ImageTask final : public Task {
public:
    static Result<std::unique_ptr<Task>> create(const Session& session);

    Model& model() override { return m_model; }
    BatchSource& training() override { return m_training; }
    MetricId throughputMetric() const override { return metric::kTrainImagesPerS; }

    /// Loss, top-1 and top-5. Afterwards all ranks have rank 0's running statistics.
    std::vector<Figure> validate() override;
    std::vector<SampleText> samples(int64_t) override { return {}; }
    std::string summary() const override;
    TextFiles files() const override { return {{"config.json", m_model.configJson()}}; }

private:
    struct Folders;

    ImageTask(const Session& session, Folders folders, std::string identity);

    static Result<Folders> scan(const Session& session);
    void shareBuffers();
    void noteBad(const Batch& batch);

    TrainingImages m_training;
    std::optional<ValidationImages> m_validation;
    ResNet m_model;
    std::set<std::string> m_bad; ///< paths of validation that could not be read
};

} // namespace rm
