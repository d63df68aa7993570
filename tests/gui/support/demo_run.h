// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_writer.h"
#include "shared/metrics/registry.h"

#include <random>

namespace rm::test {

/// Shape of one invented run.
struct DemoShape {
    QString id, name;
    std::vector<RunNode> nodes;
    std::string modelType = "gpt";
    int64_t totalSteps = 1000;
    int64_t lastStep = 1000;
    int64_t startNs = 0;
    double stepMs = 85;
    double firstLoss = 7.2, lastLoss = 2.1;
    double topLr = 1e-3;
    MetricId throughputMetric = metric::kTrainTokensPerS;
    double throughput = 51500; ///< a rank
    int slowRank = -1;         ///< waits for data in the last fifth
    bool gpus = true;
    int64_t checkpointEvery = 1000;
    std::vector<std::pair<MetricId, double>> quality = {}; ///< where validation comes to
};

/// Writes the records that a run of that shape would have journaled.
class DemoRun {
public:
    DemoRun(StoreWriter& writer, DemoShape shape);

    Result<void> create();
    /// Steps first..last of an attempt, with validation, checkpoints, samples of text and log.
    Result<void> train(int attempt, int64_t firstStep, int64_t lastStep, int64_t startNs);
    Result<void> end(Outcome outcome, int failedRank = -1, const std::string& message = {},
                     const std::string& tail = {});
    Result<void> addEvent(Severity severity, const std::string& code, const std::string& message,
                          int rank, int64_t step, int64_t wallNs);
    Result<void> command(const std::string& kind, int64_t step, int64_t wallNs,
                         const std::string& message = {});
    int64_t wallOf(int64_t step) const;
    int ranks() const;

private:
    int nodeOf(int rank) const;
    IngestBatch batchOf(int nodeIndex) const;
    Samples stepSamples(int rank, int64_t step);
    Samples machineSamples(int rank, int64_t step, int64_t wallNs);
    void milestones(IngestBatch& batch, int64_t step);
    double loss(int64_t step);
    double noise(double spread);
    bool isSlow(int rank, int64_t step) const;

    StoreWriter& m_writer;
    DemoShape m_shape;
    std::mt19937 m_random{20260101};
    int m_attempt = 1;
    int64_t m_attemptStartNs = 0;
    int64_t m_attemptFirstStep = 1;
    double m_best = 1e9;
};

} // namespace rm::test
