// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "trainer/train/data/sample_order.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/loop/train_loop.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <cstdio>
#include <filesystem>
#include <numeric>

namespace rm {
namespace {

/// The files of a checkpoint, on rank 0.
struct LoadedFiles {
    LoadedTensors model;
    LoadedTensors optimizer;
    std::optional<LoadedTensors> average;
};

Result<LoadedFiles> openFiles(const std::string& dir, const Model& model,
                              const Optimizer& optimizer) {
    auto weights = LoadedTensors::open(dir + "/" + kModelFile, modelShapes(model));
    if (!weights)
        return tl::unexpected(weights.error());
    auto state = LoadedTensors::open(dir + "/" + kOptimizerFile, optimizer.stateShapes());
    if (!state)
        return tl::unexpected(state.error());
    LoadedFiles files{std::move(*weights), std::move(*state), std::nullopt};
    const std::string path = dir + "/" + kAverageFile;
    if (!std::filesystem::exists(path))
        return files;
    auto average = LoadedTensors::open(path, modelShapes(model));
    if (!average)
        return tl::unexpected(average.error());
    files.average = std::move(*average);
    return files;
}

/// Micro-batches of a step, from what a whole step shall hold: as the spec says, or when the number
/// of ranks has changed as the checkpoint's steps did.
Result<int64_t> accumulationFor(const Session& session, const std::vector<int64_t>& sizes,
                                const std::optional<TrainState>& from) {
    const RunSpec::Train& train = session.spec.train;
    int64_t wanted = train.globalBatch;
    std::string what = "of train.global_batch";
    if (wanted == 0 && from && from->worldSize != session.world.size()) {
        wanted = from->positionsPerStep;
        what = "as those of the checkpoint, made by " + std::to_string(from->worldSize) + " ranks";
    }
    if (wanted == 0)
        return train.accumulation;
    const int64_t perMicro = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
    if (wanted % perMicro == 0)
        return wanted / perMicro;
    return fail(ErrorCode::kInvalid,
                "cut steps of " + std::to_string(wanted) + " samples " + what + ": the " +
                    std::to_string(sizes.size()) + " ranks take " + std::to_string(perMicro) +
                    " at once, which does not divide it; change train.batch_size, or set "
                    "train.global_batch to train with another one");
}

Result<void> checkSizes(const Session& session, const std::vector<int64_t>& sizes) {
    const auto ranks = static_cast<size_t>(session.world.size());
    if (sizes.size() == ranks)
        return {};
    return fail(ErrorCode::kInvalid, "train.rank_batch_sizes names " +
                                         std::to_string(sizes.size()) + " ranks, but the run has " +
                                         std::to_string(ranks));
}

void useTf32(bool on) {
    at::globalContext().setAllowTF32CuBLAS(on);
    at::globalContext().setAllowTF32CuDNN(on);
}

GradScaler makeScaler(const Session& session) {
    const RunSpec::Train& train = session.spec.train;
    const bool scales = train.precision == "float16";
    const bool skips = scales || train.onNonFinite == "skip";
    return {session.device.at, scales,
            skips ? GradScaler::Mode::kSkips : GradScaler::Mode::kStaysShut};
}

} // namespace

Result<std::optional<TrainState>> TrainLoop::readState(const World& world, const std::string& dir) {
    Result<std::string> mine;
    if (world.isFirst() && !dir.empty()) {
        const auto state = openCheckpoint(dir);
        mine = state ? Result<std::string>(toJson(*state)) : tl::unexpected(state.error());
    }
    const auto agreed = agreeOnFirst(world, mine);
    if (!agreed)
        return tl::unexpected(agreed.error());
    if (agreed->empty())
        return std::nullopt;
    auto state = parseTrainState(*agreed, dir);
    if (!state)
        return tl::unexpected(state.error());
    return std::optional(std::move(*state));
}

Result<std::unique_ptr<TrainLoop>> TrainLoop::create(const Session& session,
                                                     const TaskMaker& maker) {
    session.board->setPhase(Phase::kData);
    const auto from = readState(session.world, session.options.startFrom);
    if (!from)
        return tl::unexpected(from.error());
    session.telemetry->append(AttemptStarted{session.placement.attempt, session.world.rank(),
                                             session.world.size(), *from ? (*from)->step : 0,
                                             wallNowNs(), session.options.startFrom});
    auto task = maker(session);
    if (!task)
        return tl::unexpected(task.error());
    const std::vector<int64_t> sizes = (*task)->batchSizes();
    if (const auto checked = checkSizes(session, sizes); !checked)
        return tl::unexpected(checked.error());
    const auto accumulation = accumulationFor(session, sizes, *from);
    if (!accumulation)
        return tl::unexpected(accumulation.error());
    session.board->setPhase(Phase::kStarting);
    Model& model = (*task)->model();
    if (session.world.isFirst() && !*from)
        model.initialize(at::detail::createCPUGenerator(static_cast<uint64_t>(session.spec.seed)));
    model.moveTo(session.device.at);
    useTf32(session.spec.train.tf32);
    std::unique_ptr<TrainLoop> loop(
        new TrainLoop(session, std::move(*task), BatchPartition(sizes, *accumulation)));
    if (const auto started = loop->start(*from); !started)
        return tl::unexpected(started.error());
    return loop;
}

TrainLoop::TrainLoop(const Session& session, std::unique_ptr<Task> task, BatchPartition partition)
    : m_session(session)
    , m_spec(session.spec)
    , m_world(session.world)
    , m_board(*session.board)
    , m_task(std::move(task))
    , m_model(m_task->model())
    , m_partition(std::move(partition))
    , m_watch(m_spec.train.watch)
    , m_report(std::make_unique<StepReport>(session))
    , m_sync(std::make_unique<GradientSync>(m_world, m_model, m_spec.distribution,
                                            m_spec.optimizer.sharded,
                                            [this](MetricId ended) { onPhaseEnd(ended); }))
    , m_optimizer(makeOptimizer(m_model, m_spec.optimizer, m_world, m_sync.get()))
    , m_scaler(makeScaler(session))
    , m_control(std::make_unique<Control>(m_world, m_board, *session.telemetry))
    , m_newest(session.options.startFrom)
    , m_writer(session.device.at) {}

TrainLoop::~TrainLoop() = default;

Result<void> TrainLoop::start(const std::optional<TrainState>& from) {
    if (!from) {
        m_world.broadcast(replicatedTensors(m_model));
        seedFresh();
    }
    if (m_spec.train.ema > 0 && !from)
        m_average = std::make_unique<WeightAverage>(m_model, m_spec.train.ema);
    if (from) {
        if (const auto loaded = loadTensors(m_session.options.startFrom); !loaded)
            return loaded;
        resumeFrom(*from);
    }
    if (m_world.isFirst())
        findLine();
    m_graphedStep = makeGraphedStep();
    m_feed = makeFeed();
    m_board.setStep(m_step);
    announce();
    return {};
}

/// Rank 0: tidies the folder and sees which of its checkpoints this attempt goes on from.
void TrainLoop::findLine() {
    sweepUnpublished(m_session.checkpointDir());
    const auto entries = listCheckpoints(m_session.checkpointDir());
    m_line = lineOf(entries.value_or(std::vector<CheckpointEntry>()), m_session.placement.attempt,
                    m_session.options.startFrom);
}

/// Weights, averages and optimizer state of a checkpoint, to all ranks.
Result<void> TrainLoop::loadTensors(const std::string& dir) {
    std::optional<LoadedFiles> files;
    Result<std::string> mine;
    if (m_world.isFirst()) {
        auto opened = openFiles(dir, m_model, *m_optimizer);
        mine = opened ? Result<std::string>() : tl::unexpected(opened.error());
        if (opened)
            files = std::move(*opened);
    }
    if (const auto agreed = agreeOnFirst(m_world, mine); !agreed)
        return tl::unexpected(agreed.error());
    m_sync->settle();
    if (files)
        loadModel(files->model, m_model);
    m_world.broadcast(replicatedTensors(m_model));
    m_optimizer->loadState([&](const std::string& name) { return files->optimizer.tensor(name); });
    if (m_spec.train.ema == 0)
        return {};
    if (m_average) // a recording may know its tensors
        m_average->restart();
    else
        m_average = std::make_unique<WeightAverage>(m_model, m_spec.train.ema);
    if (files && files->average)
        m_average->load([&](const std::string& name) { return files->average->tensor(name); });
    m_world.broadcast(m_average->values());
    return {};
}

/// Where steps are recorded, batches come in few shapes.
std::unique_ptr<BatchFeed> TrainLoop::makeFeed() {
    BatchSource& source = m_task->training();
    BatchFeed::Settings settings{m_task->readers(), m_session.device.at,
                                 BadSamples::of(m_session, source.epochSize())};
    if (m_graphedStep)
        settings.change = [this](const Batch& batch) { return m_task->padded(batch); };
    return std::make_unique<BatchFeed>(source, m_partition, m_world.rank(), m_cursor,
                                       std::move(settings));
}

std::unique_ptr<GraphedStep> TrainLoop::makeGraphedStep() {
    GraphedStep::Work work;
    work.begin = [this](bool inPlace) {
        if (inPlace)
            m_sync->beginStepInPlace();
        else
            m_sync->beginStep();
    };
    work.add = [this](const Batch& batch, const at::Tensor& weight) {
        return addGradients(batch, weight);
    };
    work.update = [this] { return updateWeights(); };
    work.takeLaps = [this] { return m_report->takeRecorded(); };
    work.onReplay = [this](const RecordedLaps& laps) { m_report->replayed(laps); };
    work.onObstacle = [this](const std::string& why, int64_t step) {
        m_session.event(Severity::kInfo, "step-not-recorded",
                        "training steps that are not recorded are queued kernel by kernel: " + why,
                        step);
    };
    return GraphedStep::make(*m_session.device.plugin, m_world.isAlone(), std::move(work));
}

void TrainLoop::resumeFrom(const TrainState& from) {
    m_step = from.step;
    m_cursor = from.cursor;
    m_overrides = from.overrides;
    m_validationLoss = from.validationLoss;
    m_watched = from.watched;
    m_lookedAt = m_step;
    m_lookedSkips = from.skippedSteps;
    restoreScaler(from, from.skippedSteps);
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

void TrainLoop::restoreScaler(const TrainState& from, int64_t skipped) {
    GradScaler::State state;
    state.skipped = skipped;
    if (from.lossScale > 0) {
        state.lossScale = from.lossScale;
        state.finiteSteps = from.finiteSteps;
    }
    m_scaler.restore(state);
}

void TrainLoop::seedFresh() {
    at::manual_seed(mixSeed(static_cast<uint64_t>(m_spec.seed),
                            static_cast<uint64_t>(m_world.rank()), static_cast<uint64_t>(m_step)));
}

void TrainLoop::announce() const {
    if (!m_world.isFirst())
        return;
    std::printf(
        "# rank %d of %d on %s, %lld parameters, %s, %lld samples a step in %lld batches a rank, "
        "from step %lld\n",
        m_world.rank(), m_world.size(), m_session.device.plugin->deviceName().c_str(),
        static_cast<long long>(parameterCount(m_model)), m_task->summary().c_str(),
        static_cast<long long>(m_partition.positionsPerStep()),
        static_cast<long long>(m_partition.accumulation()), static_cast<long long>(m_step));
}

} // namespace rm
