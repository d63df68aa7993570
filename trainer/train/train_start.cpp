// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/train_loop.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <cstdio>

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

std::string tokenizerOfStart(const Session& session) {
    const char* file = tokenizerModelFile(session.spec.data);
    return file && !session.options.startFrom.empty()
               ? checkpointText(session.options.startFrom, file)
               : std::string();
}

std::vector<at::Tensor> allTensors(const Model& model, const AdamW& optimizer) {
    std::vector<at::Tensor> tensors;
    for (const at::Tensor& value : parameterValues(model))
        tensors.push_back(value.detach());
    for (const AdamW::State& state : optimizer.state())
        tensors.insert(tensors.end(), {state.average, state.averageSquare, state.step});
    return tensors;
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
    auto data = prepareTextData(session.spec, session.runDir + "/data", session.world,
                                tokenizerOfStart(session));
    if (!data)
        return tl::unexpected(data.error());
    session.board->setPhase(Phase::kStarting);
    auto model = makeModel(session.spec, data->vocabSize);
    if (session.world.isFirst() && !*from)
        model->initialize(at::detail::createCPUGenerator(static_cast<uint64_t>(session.spec.seed)));
    model->moveTo(session.device.at);
    std::unique_ptr<TrainLoop> loop(new TrainLoop(session, std::move(*data), std::move(model)));
    if (const auto started = loop->start(*from); !started)
        return tl::unexpected(started.error());
    return loop;
}

TrainLoop::TrainLoop(const Session& session, TextData data, std::unique_ptr<Model> model)
    : m_session(session)
    , m_spec(session.spec)
    , m_world(session.world)
    , m_board(*session.board)
    , m_data(std::move(data))
    , m_batches(m_data.train, m_spec.model.context, static_cast<uint64_t>(m_spec.seed))
    , m_model(std::move(model))
    , m_optimizer(*m_model, m_spec.optimizer)
    , m_report(std::make_unique<StepReport>(session))
    , m_sync(std::make_unique<GradientSync>(m_world, *m_model,
                                            [this] { m_report->lap(metric::kPhaseBackwardMs); }))
    , m_control(std::make_unique<Control>(m_world, m_board, *session.telemetry)) {}

TrainLoop::~TrainLoop() = default;

Result<void> TrainLoop::start(const std::optional<TrainState>& from) {
    if (from) {
        Result<std::string> mine;
        if (m_world.isFirst()) {
            const auto restored =
                restoreCheckpoint(m_session.options.startFrom, *m_model, m_optimizer);
            mine = restored ? Result<std::string>() : tl::unexpected(restored.error());
        }
        if (const auto agreed = agreeOnFirst(m_world, mine); !agreed)
            return tl::unexpected(agreed.error());
        m_world.broadcast(allTensors(*m_model, m_optimizer));
        resumeFrom(*from);
    } else {
        std::vector<at::Tensor> values;
        for (const at::Tensor& value : parameterValues(*m_model))
            values.push_back(value.detach());
        m_world.broadcast(values);
        seedFresh();
    }
    if (m_world.isFirst())
        sweepUnpublished(m_session.checkpointDir());
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
    std::printf("# effective spec\n%s\n# rank %d of %d on %s, %lld parameters, vocabulary %lld, "
                "%lld training and %lld validation tokens, from step %lld\n",
                toToml(m_spec).c_str(), m_world.rank(), m_world.size(),
                m_session.device.plugin->deviceName().c_str(),
                static_cast<long long>(parameterCount(*m_model)),
                static_cast<long long>(m_data.vocabSize),
                static_cast<long long>(m_data.train.count()),
                static_cast<long long>(m_data.validation.count()), static_cast<long long>(m_step));
}

} // namespace rm
