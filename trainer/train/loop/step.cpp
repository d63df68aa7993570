// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/step.h"

#include "shared/return_if_error.h"
#include "trainer/train/data/bad_samples.h"
#include "trainer/train/device/autocast.h"
#include "trainer/train/loop/graphed_step.h"

namespace rm {
namespace {

/// The gradients of inputs and of weights take a product each where the forward pass takes one.
constexpr double kForwardAndBackward = 3;

/// Runs eagerly, one micro-batch after the other.
class PlainStep final : public Step {
public:
    explicit PlainStep(Training& training)
        : Step(training) {}

    at::Tensor update(double lr) override { return updateWeights(lr); }

protected:
    Result<at::Tensor> computeGradients() override {
        Training& t = m_training;
        t.sync.beginStep();
        const int64_t count = t.partition.accumulation();
        at::Tensor total;
        for (int64_t micro = 0; micro < count; ++micro) {
            RM_ASSIGN_OR_RETURN(const auto batch, nextBatch());
            t.board.setPhase(Phase::kForward);
            const at::Tensor loss = forward(batch);
            m_slowness.inCompute(t.step + 1);
            t.report.lap(metric::kPhaseForwardMs);
            t.board.setPhase(Phase::kBackward);
            const bool last = micro + 1 == count;
            t.sync.backward(loss, t.scaler.seed(loss, weightOf(batch)), last);
            t.report.lap(last ? metric::kPhaseAllreduceMs : metric::kPhaseBackwardMs);
            if (count == 1)
                return loss.detach();
            if (const at::Tensor sum = loss.detach() * batch.targets; total.defined())
                total.add_(sum);
            else
                total = sum;
        }
        return total.div_(targets());
    }
};

/// Runs recordings of the device.
class RecordedStep final : public Step {
public:
    explicit RecordedStep(Training& training)
        : Step(training)
        , m_graph(GraphedStep::make(*training.session.device.plugin, training.world.isAlone(),
                                    work())) {}

    bool isPossible() const { return m_graph != nullptr; }

    at::Tensor update(double lr) override {
        m_lr = lr;
        m_training.scaler.setLr(lr);
        return m_graph->update(m_training.live.optimizer.clip, m_training.step + 1);
    }

protected:
    Result<at::Tensor> computeGradients() override {
        std::vector<Batch> batches;
        for (int64_t micro = 0; micro < m_training.partition.accumulation(); ++micro) {
            RM_ASSIGN_OR_RETURN(auto batch, nextBatch());
            batches.push_back(std::move(batch));
        }
        m_training.board.setPhase(Phase::kForward);
        return m_graph->gradients(batches, m_training.step + 1);
    }

    // Pads the batch, as few shapes need few recordings.
    std::function<Batch(const Batch&)> change() override {
        return [task = m_training.task.get()](const Batch& batch) { return task->padded(batch); };
    }

private:
    GraphedStep::Work work() {
        GraphedStep::Work work;
        work.begin = [this](bool inPlace) {
            if (inPlace)
                m_training.sync.beginStepInPlace();
            else
                m_training.sync.beginStep();
        };
        work.weight = [this](const Batch& batch) { return weightOf(batch); };
        work.add = [this](const Batch& batch, const at::Tensor& weight) {
            return addGradients(batch, weight);
        };
        work.update = [this] { return updateWeights(m_lr); };
        work.takeLaps = [this] { return m_training.report.takeRecorded(); };
        work.onReplay = [this](const RecordedLaps& laps) { m_training.report.replayed(laps); };
        work.onObstacle = [this](const std::string& why, int64_t step) {
            m_training.session.event(
                Severity::kInfo, "step-not-recorded",
                "training steps that are not recorded are queued kernel by kernel: " + why, step);
        };
        return work;
    }

    at::Tensor addGradients(const Batch& batch, const at::Tensor& weight) {
        const at::Tensor loss = forward(batch);
        m_training.report.lap(metric::kPhaseForwardMs);
        m_training.sync.backward(loss, m_training.scaler.seed(loss, weight), true);
        m_training.report.lap(metric::kPhaseAllreduceMs);
        return loss.detach();
    }

    std::unique_ptr<GraphedStep> m_graph;
    double m_lr = 0;
};

/// Counts as data.max_bad says. Each path becomes an event, their number data/bad_samples.
BadSamples badSamplesOf(const Session& session, int64_t epochSize) {
    constexpr int64_t kMostEvents = 1000;
    return {session.spec.data.maxBad, epochSize, [&session](const BadSample& bad, int64_t total) {
                session.telemetry->push(metric::kDataBadSamples, static_cast<float>(total));
                if (total <= kMostEvents)
                    session.event(Severity::kWarning, "bad-sample",
                                  "read " + bad.path + ": " + bad.cause + "; left out", -1);
            }};
}

} // namespace

std::unique_ptr<Step> Step::make(Training& training) {
    std::unique_ptr<Step> step;
    if (auto recorded = std::make_unique<RecordedStep>(training); recorded->isPossible())
        step = std::move(recorded);
    else
        step = std::make_unique<PlainStep>(training);
    step->startReading();
    return step;
}

void Step::startReading() {
    BatchSource& source = m_training.task->training();
    BatchFeed::Settings settings{m_training.task->readers(), m_training.session.device.at,
                                 badSamplesOf(m_training.session, source.epochSize())};
    settings.change = change();
    m_feed = std::make_unique<BatchFeed>(source, m_training.partition, m_training.world.rank(),
                                         m_training.cursor, std::move(settings));
}

Result<at::Tensor> Step::gradients() {
    const BatchPartition& partition = m_training.partition;
    const bool isOnly = m_training.world.isAlone() && partition.accumulation() == 1;
    m_targets = 0;
    m_allTargets.reset();
    if (!isOnly)
        m_allTargets = partition.targets(m_training.task->training(), m_training.cursor);
    auto loss = computeGradients();
    m_training.cursor += partition.positionsPerStep();
    return loss;
}

Result<Batch> Step::nextBatch() {
    m_training.board.setPhase(Phase::kData);
    auto read = m_feed->next();
    if (!read)
        return read;
    m_slowness.inData(m_training.step + 1);
    m_targets += read->targets;
    m_flops += kForwardAndBackward * m_training.model.forwardFlops(*read);
    Batch batch = toDevice(std::move(*read), m_training.session.device);
    m_training.report.lap(metric::kPhaseDataMs);
    return batch;
}

at::Tensor Step::forward(const Batch& batch) {
    const Autocast autocast(m_training.spec.train.precision, m_training.session.device);
    return m_training.model.loss(batch, true);
}

double Step::weightOf(const Batch& batch) const {
    return m_allTargets ? static_cast<double>(batch.targets) / static_cast<double>(*m_allTargets)
                        : 1.0;
}

at::Tensor Step::updateWeights(double lr) {
    Training& t = m_training;
    const at::Tensor gradNorm =
        t.scaler.update(*t.optimizer, lr, t.live.optimizer.clip, t.spec.optimizer.clipValue);
    if (t.average) {
        t.sync.settle();
        t.average->update();
    }
    return gradNorm;
}

} // namespace rm
