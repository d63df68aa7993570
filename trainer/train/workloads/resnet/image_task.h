// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/workloads/resnet/image_batches.h"
#include "trainer/train/workloads/resnet/image_findings.h"
#include "trainer/train/workloads/resnet/resnet.h"
#include "trainer/train/workloads/task.h"

#include <optional>
#include <set>

namespace rm {

/// The class names of a checkpoint, by class, from ResNet::configJson(); empty: it has none.
std::vector<std::string> classesOf(const std::string& checkpoint);

/// Trains a ResNet to classify pictures.
class ImageTask final : public Task {
public:
    static Result<std::unique_ptr<Task>> create(const Session& session);

    Model& model() override { return m_model; }
    BatchSource& training() override { return m_training; }
    MetricId throughputMetric() const override { return metric::kTrainImagesPerS; }

    /// Loss, top-1 and top-5. Afterwards all ranks have rank 0's running statistics.
    std::vector<Figure> validate() override;
    std::vector<SampleText> samples(int64_t step) override;
    std::optional<ConfusionMatrix> confusion(int64_t step) override;
    std::string summary() const override;
    TextFiles files() const override { return {{"config.json", m_model.configJson()}}; }

private:
    struct Folders;

    ImageTask(const Session& session, Folders folders, std::string identity);

    static Result<Folders> scan(const Session& session);
    void shareBuffers();
    void noteBad(const Batch& batch);
    std::optional<ImageFindings> wantedFindings() const;

    TrainingImages m_training;
    std::optional<ValidationImages> m_validation;
    ResNet m_model;
    std::set<std::string> m_bad; ///< paths of validation that could not be read
    std::vector<std::string> m_classNames;
    std::optional<ImageFindings> m_pictured, m_confused; ///< of the last validation, until given
};

} // namespace rm
