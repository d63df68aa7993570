// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/records.h"
#include "shared/metrics/registry.h"
#include "trainer/train/checkpoint/text_files.h"
#include "trainer/train/data/batch_source.h"
#include "trainer/train/model/model.h"
#include "trainer/train/session/session.h"

#include <memory>
#include <optional>
#include <vector>

namespace rm {

/// One figure of a validation.
struct Figure {
    MetricId id = 0;
    double value = 0;
    bool operator==(const Figure&) const = default;
};

/// The training task of a model: its data, loss and metrics. This is all that the loop knows about
/// `model.type`. Made on every rank.
class Task {
public:
    virtual ~Task() = default;

    virtual Model& model() = 0;
    virtual BatchSource& training() = 0;

    /// Positions of one micro-batch, by rank: see batchSizesOf().
    virtual std::vector<int64_t> batchSizes() const;

    /// Pads a batch of training() to one of few shapes, for devices that record a step for each
    /// shape. Loss, gradients and Batch::targets stay those of the original batch. Any thread.
    virtual Batch padded(const Batch& batch) const { return batch; }

    /// Threads of this rank that read ahead: data.workers, or as many as suit the kind of data.
    int64_t readers() const;

    /// The metric of the throughput: targets (tokens, pictures) a second.
    virtual MetricId throughputMetric() const { return metric::kTrainTokensPerS; }

    /// Measures on the held-out data. All ranks call it together and get the same figures,
    /// including the loss; none when nothing is held out.
    virtual std::vector<Figure> validate() = 0;

    /// Text that the model generates from its prompts, or pictures of the last validation, which
    /// are given once. Rank 0 only; changes no generator.
    virtual std::vector<SampleText> samples(int64_t step) = 0;
    /// How the last validation confused the model's classes, which is given once; nullopt: there is
    /// nothing new. Rank 0 only.
    virtual std::optional<ConfusionMatrix> confusion(int64_t /*step*/) { return std::nullopt; }

    /// The data in words: "vocabulary 256, 1200 training and 60 validation tokens".
    virtual std::string summary() const = 0;

    /// config.json and the tokenizer's files.
    virtual TextFiles files() const = 0;

    /// Tells data apart, and what of them is held out: texts, pairs and token shards by their
    /// content, pictures by their names and, on rank 0, by ImageFolder::content(). Empty: it is not
    /// known. See mayBeSameData().
    const std::string& dataIdentity() const { return m_dataIdentity; }

protected:
    explicit Task(const Session& session)
        : m_session(session) {}

    const Session& m_session;
    std::string m_dataIdentity;
};

/// Workload::makeTask() of the workload that session.spec names.
Result<std::unique_ptr<Task>> makeTask(const Session& session);

} // namespace rm
