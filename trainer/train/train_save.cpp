// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/train_loop.h"

#include <cmath>
#include <cstdio>
#include <filesystem>

namespace rm {

Result<void> TrainLoop::save(const std::string& reason) {
    m_board.setPhase(Phase::kCheckpoint);
    const int64_t began = monotonicNowNs();
    const std::vector<uint8_t> rng = m_session.device.plugin->rngState();
    auto rngStates = m_world.gather(std::string(rng.begin(), rng.end()));
    Result<std::string> mine;
    if (m_world.isFirst())
        mine = publish(reason, std::move(rngStates));
    const auto agreed = agreeOnFirst(m_world, mine);
    if (!agreed)
        return tl::unexpected(agreed.error());
    const double ms = static_cast<double>(monotonicNowNs() - began) / 1e6;
    m_report->publishAlone(metric::kPhaseCheckpointMs, ms, m_step);
    return {};
}

/// Rank 0: writes, journals, and removes what is not kept any more.
Result<std::string> TrainLoop::publish(const std::string& reason,
                                       std::vector<std::string> rngStates) {
    const int64_t began = monotonicNowNs();
    const bool best = std::isfinite(m_validationLoss) &&
                      !(m_bestValidationLoss <= m_validationLoss); // NaN: first
    if (best)
        m_bestValidationLoss = m_validationLoss;
    const std::string spec = toToml(m_spec);
    TrainState state{m_step,
                     static_cast<double>(m_cursor) /
                         static_cast<double>(m_task->training().epochSize()),
                     m_cursor,
                     m_world.size(),
                     m_session.device.isCpu() ? "cpu" : "cuda",
                     sha256Hex(std::as_bytes(std::span<const char>(spec))),
                     m_overrides,
                     m_validationLoss,
                     m_bestValidationLoss,
                     {}};
    for (const std::string& bytes : rngStates)
        state.rngStates.emplace_back(bytes.begin(), bytes.end());
    Manifest manifest;
    manifest.runId = m_session.placement.runId;
    manifest.attempt = m_session.placement.attempt;
    manifest.step = m_step;
    manifest.worldSize = m_world.size();
    manifest.createdNs = wallNowNs();
    manifest.reason = reason;
    manifest.validationLoss = m_validationLoss;
    TextFiles texts = m_task->files();
    texts.emplace_back("spec.toml", spec);
    auto path =
        saveCheckpoint(m_session.checkpointDir(), manifest, m_model, *m_optimizer, state, texts);
    if (!path)
        return path;
    const auto written = readManifest(*path);
    const double ms = static_cast<double>(monotonicNowNs() - began) / 1e6;
    m_session.telemetry->append(
        CheckpointSaved{m_step, wallNowNs(), std::filesystem::absolute(*path).string(),
                        written ? written->bytes() : 0, ms, reason, m_validationLoss, best});
    std::printf("checkpoint %s (%s, %.0f ms)\n", path->c_str(), reason.c_str(), ms);
    std::fflush(stdout);
    removeOldCheckpoints();
    return path;
}

void TrainLoop::removeOldCheckpoints() {
    const auto entries = listCheckpoints(m_session.checkpointDir());
    if (!entries)
        return;
    for (const std::string& path :
         checkpointsToRemove(*entries, m_spec.checkpoint.keepLast, m_spec.checkpoint.keepBest)) {
        const auto manifest = readManifest(path);
        if (const auto removed = removeCheckpoint(path); !removed)
            m_session.event(Severity::kWarning, "checkpoint-not-removed", removed.error().message,
                            m_step);
        else
            m_session.telemetry->append(
                CheckpointRemoved{manifest ? manifest->step : -1, wallNowNs(), path});
    }
}

} // namespace rm
