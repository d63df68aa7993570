// SPDX-License-Identifier: Apache-2.0
// A checkpoint is collected by all ranks at a step's boundary and written by a thread of rank 0
// while training goes on.
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/loop/train_loop.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace rm {

/// `command`: whose end is to be journaled with it.
void TrainLoop::save(const std::string& reason, const std::optional<Command>& command) {
    m_board.setPhase(Phase::kCheckpoint);
    const int64_t began = monotonicNowNs();
    CheckpointContent content = collect(reason);
    if (m_world.isFirst())
        m_writer.start(std::move(content), [this, command](const CheckpointContent& staged) {
            const auto done = publish(staged);
            reportWritten(staged, done, command);
            return done;
        });
    const double ms = static_cast<double>(monotonicNowNs() - began) / 1e6;
    m_report->publishAlone(metric::kPhaseCheckpointMs, ms, m_step);
}

/// Returns on all ranks when it is safe, or why it is not.
Result<void> TrainLoop::saveAndWait(const std::string& reason) {
    save(reason);
    Result<std::string> mine;
    if (m_world.isFirst())
        if (const auto done = m_writer.wait(); !done)
            mine = tl::unexpected(done.error());
    const auto agreed = agreeOnFirst(m_world, mine);
    return agreed ? Result<void>() : tl::unexpected(agreed.error());
}

/// All ranks together; what rank 0 returns is to be written.
CheckpointContent TrainLoop::collect(const std::string& reason) {
    m_sync->settle();
    const std::vector<uint8_t> rng = m_session.device.plugin->rngState();
    // Before the gathering that rank 0 needs all others for: a step that a checkpoint holds is then
    // in every rank's journal, also when all are killed the moment it is published.
    m_session.telemetry->flush();
    const auto rngStates = m_world.gather(std::string(rng.begin(), rng.end()));
    auto optimizerState = m_optimizer->collectState();
    if (!m_world.isFirst())
        return {};
    static_cast<void>(m_writer.wait()); // its outcome decides which is best
    noteBestSaved();
    CheckpointContent content;
    content.state = stateNow();
    for (const std::string& bytes : rngStates)
        content.state.rngStates.emplace_back(bytes.begin(), bytes.end());
    content.tensorFiles = {{kModelFile, modelTensors(m_model)},
                           {kOptimizerFile, std::move(optimizerState)}};
    if (m_average)
        content.tensorFiles.push_back({kAverageFile, averagedTensors()});
    content.texts = m_task->files();
    content.texts.emplace_back("spec.toml", toToml(m_spec));
    Manifest& manifest = content.manifest;
    manifest.runId = m_session.placement.runId;
    manifest.attempt = m_session.placement.attempt;
    manifest.step = m_step;
    manifest.worldSize = m_world.size();
    manifest.createdNs = wallNowNs();
    manifest.reason = reason;
    if (m_validatedAt == m_step)
        manifest.validationLoss = m_validationLoss;
    manifest.line = m_line.behind;
    manifest.best = m_watched.bestSavedStep == m_step;
    return content;
}

/// A model as the Python libraries load it: buffers belong to it.
std::vector<NamedTensor> TrainLoop::averagedTensors() const {
    std::vector<NamedTensor> tensors = m_average->tensors();
    for (NamedTensor& buffer : bufferTensors(m_model))
        tensors.push_back(std::move(buffer));
    return tensors;
}

TrainState TrainLoop::stateNow() {
    const GradScaler::State scaler = m_scaler.state();
    TrainState state;
    state.step = m_step;
    state.cursor = m_cursor;
    state.epoch =
        static_cast<double>(m_cursor) / static_cast<double>(m_task->training().epochSize());
    state.positionsPerStep = m_partition.positionsPerStep();
    state.worldSize = m_world.size();
    state.device = m_session.device.isCpu() ? "cpu" : "cuda";
    const std::string spec = toToml(m_spec);
    state.specHash = sha256Hex(std::as_bytes(std::span<const char>(spec)));
    state.overrides = m_overrides;
    state.validationLoss = m_validationLoss;
    state.watched = m_watched;
    state.lossScale = m_scaler.scalesLoss() ? scaler.lossScale : 0;
    state.finiteSteps = scaler.finiteSteps;
    state.skippedSteps = scaler.skipped;
    return state;
}

/// Rank 0: whether the checkpoint to be saved now, whose weights were validated, is the best.
void TrainLoop::noteBestSaved() {
    const auto entries = listCheckpoints(m_session.checkpointDir());
    const auto isBest = [this](const CheckpointEntry& entry) {
        return entry.manifest.step == m_watched.bestSavedStep && m_line.has(entry.manifest);
    };
    if (!entries || std::ranges::none_of(*entries, isBest))
        m_watched.bestSaved = std::numeric_limits<double>::quiet_NaN();
    if (m_watchedAt != m_step || !m_watch.isBetter(m_watched.last, m_watched.bestSaved))
        return;
    m_watched.bestSaved = m_watched.last;
    m_watched.bestSavedStep = m_step;
}

/// The writer's thread: writes, journals, and removes what is not kept any more.
Result<void> TrainLoop::publish(const CheckpointContent& content) {
    const int64_t began = monotonicNowNs();
    const auto path = saveCheckpoint(m_session.checkpointDir(), content);
    if (!path)
        return tl::unexpected(path.error());
    m_newest = *path;
    const auto written = readManifest(*path);
    const Manifest& manifest = written ? *written : content.manifest;
    const double ms = static_cast<double>(monotonicNowNs() - began) / 1e6;
    m_session.telemetry->append(CheckpointSaved{
        manifest.step, wallNowNs(), std::filesystem::absolute(*path).string(), manifest.bytes(), ms,
        manifest.reason, manifest.validationLoss, manifest.best});
    std::printf("checkpoint %s (%s, %.0f ms)\n", path->c_str(), manifest.reason.c_str(), ms);
    std::fflush(stdout);
    removeOldCheckpoints();
    return {};
}

void TrainLoop::removeOldCheckpoints() {
    const auto entries = listCheckpoints(m_session.checkpointDir());
    if (!entries)
        return;
    const RunSpec::Checkpoint& rule = m_spec.checkpoint;
    for (const std::string& path :
         checkpointsToRemove(*entries, m_line, rule.keepLast, rule.keepBest)) {
        const auto manifest = readManifest(path);
        const int64_t step = manifest ? manifest->step : -1;
        if (const auto removed = removeCheckpoint(path); !removed)
            m_session.event(Severity::kWarning, "checkpoint-not-removed", removed.error().message,
                            step);
        else
            m_session.telemetry->append(CheckpointRemoved{step, wallNowNs(), path});
    }
}

/// The writer's thread. Training goes on without the checkpoint; whoever waits for it hears of it.
void TrainLoop::reportWritten(const CheckpointContent& content, const Result<void>& done,
                              const std::optional<Command>& command) {
    const int64_t step = content.manifest.step;
    if (!done)
        m_session.event(Severity::kWarning, "checkpoint-failed", done.error().message, step);
    if (command)
        m_session.telemetry->append(CommandApplied{command->id, commandKindName(command->kind),
                                                   step, wallNowNs(), done.has_value(),
                                                   done ? "" : done.error().message});
}

} // namespace rm
