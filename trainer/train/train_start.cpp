// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "trainer/train/data/sample_order.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/train_loop.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <cstdio>
#include <numeric>

namespace rm {
namespace {

/// state.json of the checkpoint to go on from, the same on every rank; nullopt: from scratch.
Result<std::optional<TrainState>> readStart(const Session& session) {
    Result<std::string> mine;
    const std::string& dir = session.options.startFrom;
    if (session.world.isFirst() && !dir.empty()) {
        const auto state = openCheckpoint(dir);
        mine = state ? Result<std::string>(toJson(*state)) : tl::unexpected(state.error());
    }
    const auto agreed = agreeOnFirst(session.world, mine);
    if (!agreed)
        return tl::unexpected(agreed.error());
    if (agreed->empty())
        return std::nullopt;
    auto state = parseTrainState(*agreed, dir);
    if (!state)
        return tl::unexpected(state.error());
    return std::optional(std::move(*state));
}

std::vector<at::Tensor> allTensors(const Model& model, const Optimizer& optimizer) {
    std::vector<at::Tensor> tensors = replicatedTensors(model);
    for (NamedTensor& state : optimizer.state())
        tensors.push_back(std::move(state.tensor));
    return tensors;
}

/// Micro-batches of a step, from what a whole step shall hold.
Result<int64_t> accumulationFor(const RunSpec::Train& train, const std::vector<int64_t>& sizes) {
    if (train.globalBatch == 0)
        return train.accumulation;
    const int64_t perMicro = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    if (train.globalBatch % perMicro == 0)
        return train.globalBatch / perMicro;
    return fail(ErrorCode::kInvalid,
                "cut a step of train.global_batch = " + std::to_string(train.globalBatch) +
                    ": the ranks take " + std::to_string(perMicro) +
                    " at once, which does not divide it");
}

} // namespace

Result<std::unique_ptr<TrainLoop>> TrainLoop::create(const Session& session) {
    session.board->setPhase(Phase::kData);
    const auto from = readStart(session);
    if (!from)
        return tl::unexpected(from.error());
    session.telemetry->append(AttemptStarted{session.placement.attempt, session.world.rank(),
                                             session.world.size(), *from ? (*from)->step : 0,
                                             wallNowNs(), session.options.startFrom});
    auto task = makeTask(session);
    if (!task)
        return tl::unexpected(task.error());
    const std::vector<int64_t> sizes = (*task)->batchSizes();
    const auto accumulation = accumulationFor(session.spec.train, sizes);
    if (!accumulation)
        return tl::unexpected(accumulation.error());
    session.board->setPhase(Phase::kStarting);
    Model& model = (*task)->model();
    if (session.world.isFirst() && !*from)
        model.initialize(at::detail::createCPUGenerator(static_cast<uint64_t>(session.spec.seed)));
    model.moveTo(session.device.at);
    std::unique_ptr<TrainLoop> loop(
        new TrainLoop(session, std::move(*task), StepCut(sizes, *accumulation)));
    if (const auto started = loop->start(*from); !started)
        return tl::unexpected(started.error());
    return loop;
}

TrainLoop::TrainLoop(const Session& session, std::unique_ptr<Task> task, StepCut cut)
    : m_session(session)
    , m_spec(session.spec)
    , m_world(session.world)
    , m_board(*session.board)
    , m_task(std::move(task))
    , m_model(m_task->model())
    , m_values(parameterValues(m_model))
    , m_cut(std::move(cut))
    , m_optimizer(makeOptimizer(m_model, m_spec.optimizer))
    , m_report(std::make_unique<StepReport>(session))
    , m_sync(std::make_unique<GradientSync>(m_world, m_model,
                                            [this] { m_report->lap(metric::kPhaseBackwardMs); }))
    , m_control(std::make_unique<Control>(m_world, m_board, *session.telemetry)) {}

TrainLoop::~TrainLoop() = default;

Result<void> TrainLoop::start(const std::optional<TrainState>& from) {
    if (from) {
        Result<std::string> mine;
        if (m_world.isFirst()) {
            const auto restored =
                restoreCheckpoint(m_session.options.startFrom, m_model, *m_optimizer);
            mine = restored ? Result<std::string>() : tl::unexpected(restored.error());
        }
        if (const auto agreed = agreeOnFirst(m_world, mine); !agreed)
            return tl::unexpected(agreed.error());
        m_world.broadcast(allTensors(m_model, *m_optimizer));
        resumeFrom(*from);
    } else {
        m_world.broadcast(replicatedTensors(m_model));
        seedFresh();
    }
    if (m_world.isFirst())
        sweepUnpublished(m_session.checkpointDir());
    m_feed = std::make_unique<BatchFeed>(m_task->training(), m_cut, m_world.rank(), m_cursor);
    m_board.setStep(m_step);
    announce();
    return {};
}

void TrainLoop::resumeFrom(const TrainState& from) {
    m_step = from.step;
    m_cursor = from.cursor;
    m_overrides = from.overrides;
    m_validationLoss = from.validationLoss;
    m_bestValidationLoss = from.bestValidationLoss;
    const auto rank = static_cast<size_t>(m_world.rank());
    const bool sameWorld = from.worldSize == m_world.size() && rank < from.rngStates.size();
    if (sameWorld && from.device == m_session.device.at.str().substr(0, from.device.size())) {
        m_session.device.plugin->setRngState(from.rngStates[rank]);
        return;
    }
    seedFresh();
    if (m_world.isFirst())
        m_session.event(Severity::kInfo, "random-reseeded",
                        "resume step " + std::to_string(m_step) + " of " +
                            std::to_string(from.worldSize) + " ranks on " + from.device + " with " +
                            std::to_string(m_world.size()) + " on " + m_session.device.at.str() +
                            ": same data order, new random numbers for dropout",
                        m_step);
}

void TrainLoop::seedFresh() {
    at::manual_seed(mixSeed(static_cast<uint64_t>(m_spec.seed),
                            static_cast<uint64_t>(m_world.rank()), static_cast<uint64_t>(m_step)));
}

void TrainLoop::announce() const {
    if (!m_world.isFirst())
        return;
    std::printf(
        "# effective spec\n%s\n# rank %d of %d on %s, %lld parameters, %s, from step %lld\n",
        toToml(m_spec).c_str(), m_world.rank(), m_world.size(),
        m_session.device.plugin->deviceName().c_str(),
        static_cast<long long>(parameterCount(m_model)), m_task->summary().c_str(),
        static_cast<long long>(m_step));
}

} // namespace rm
