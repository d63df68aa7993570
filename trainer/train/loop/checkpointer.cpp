// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/checkpointer.h"

#include "shared/amounts.h"
#include "shared/checkpoint/keep_rules.h"
#include "shared/checkpoint/owner.h"
#include "shared/io/clock.h"
#include "shared/io/control_group.h"
#include "shared/journal/event_codes.h"
#include "shared/return_if_error.h"
#include "shared/spec/live_settings.h"
#include "trainer/train/dist/agree.h"
#include "trainer/train/loop/validator.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <thread>

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
    RM_ASSIGN_OR_RETURN(auto weights,
                        LoadedTensors::open(dir + "/" + kModelFile, modelShapes(model)));
    RM_ASSIGN_OR_RETURN(auto state,
                        LoadedTensors::open(dir + "/" + kOptimizerFile, optimizer.stateShapes()));
    LoadedFiles files{std::move(weights), std::move(state), std::nullopt};
    const std::string path = dir + "/" + kAverageFile;
    if (!std::filesystem::exists(path))
        return files;
    RM_ASSIGN_OR_RETURN(auto average, LoadedTensors::open(path, modelShapes(model)));
    files.average = std::move(average);
    return files;
}

/// Whether there is a processor that is used neither by the ranks nor by the thread that saves.
/// Ranks on a GPU leave processors free.
bool hasSpareCore(const Session& session) {
    const int ranks = session.environment.localWorldSize;
    const int busy = ranks * threadsPerRank(session.spec, ranks) + 1;
    return !session.device.isCpu() || givenCores() > busy;
}

uint64_t bytesOf(const CheckpointContent& content) {
    uint64_t bytes = 0;
    for (const auto& file : content.tensorFiles)
        for (const NamedTensor& one : file.tensors)
            bytes += one.tensor.nbytes();
    return bytes;
}

/// Whether the file system could hold the checkpoint if it were empty.
bool couldHold(const std::string& folder, const CheckpointContent& content) {
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    return !error && space.capacity > bytesOf(content);
}

/// The error; with the room that the checkpoint needs, if that is more than there is.
Error withRoom(const Error& error, const std::string& folder, const CheckpointContent& content) {
    std::error_code unknown;
    const auto space = std::filesystem::space(folder, unknown);
    const uint64_t needed = bytesOf(content);
    if (error.code != ErrorCode::kExhausted || unknown || space.available > needed)
        return error;
    return {error.code, error.message + "; it takes " + bytesWords(static_cast<int64_t>(needed)) +
                            ", and " + bytesWords(static_cast<int64_t>(space.available)) +
                            " are free there: make room"};
}

Result<TrainState> agreeOnState(const World& world, const std::string& dir,
                                const std::function<Result<TrainState>(const std::string&)>& read) {
    Result<std::string> mine;
    if (world.isFirst())
        mine = read(dir).map([](const TrainState& state) { return toJson(state); });
    RM_ASSIGN_OR_RETURN(const auto agreed, agreeOnFirst(world, mine));
    return parseTrainState(agreed, dir);
}

Result<WholeCheckpoint> findWhole(const Options& options) {
    if (options.fallsBack) {
        // A crash between two renames may have left it under its other name.
        if (!readManifest(options.startFrom))
            sweepUnpublished(std::filesystem::path(options.startFrom).parent_path().string());
        return newestWhole(options.startFrom);
    }
    return verifyCheckpoint(options.startFrom).map([&](Manifest manifest) {
        return WholeCheckpoint{options.startFrom, std::move(manifest), {}};
    });
}

/// Drops settings that the spec overrules. A branch trains as its spec says, without what `set` or
/// a rule changed, or was about to change, in the other run. A run that is started by hand under
/// the same id keeps these settings, except those whose values in the spec have changed.
void dropOverruled(TrainState& state, const std::string& dir, const Session& session) {
    const RunSpec& spec = session.spec;
    const auto manifest = readManifest(dir);
    if (manifest && manifest->runId != session.environment.runId) {
        state.settings.clear();
        for (RuleState& rule : state.rules)
            rule.owedLrFactor = 1;
        return;
    }
    const auto before = parseRunSpec(checkpointText(dir, "spec.toml"), dir + "/spec.toml");
    if (before)
        std::erase_if(state.settings, [&](const auto& setting) {
            return liveValue(*before, setting.first) != liveValue(spec, setting.first);
        });
}

} // namespace

Result<TrainState> readTrainState(const World& world, const std::string& dir) {
    return agreeOnState(world, dir, openCheckpoint);
}

Result<Start> findStart(Session& session) {
    Start start;
    if (session.options.startFrom.empty())
        return start;
    Result<std::string> mine;
    if (session.world.isFirst()) {
        auto whole = findWhole(session.options);
        mine = whole.map([](const WholeCheckpoint& found) { return found.path; });
        if (whole)
            start.passedOver = std::move(whole->passedOver);
    }
    RM_ASSIGN_OR_RETURN(session.options.startFrom, agreeOnFirst(session.world, mine));
    RM_ASSIGN_OR_RETURN(
        start.state,
        agreeOnState(session.world, session.options.startFrom, [&session](const std::string& dir) {
            return readState(dir).map([&](TrainState state) {
                dropOverruled(state, dir, session);
                return state;
            });
        }));
    return start;
}

Checkpointer::Checkpointer(Training& training, Validator& validator)
    : m_training(training)
    , m_validator(validator)
    , m_session(training.session)
    , m_newest(m_session.options.startFrom)
    , m_writer(m_session.device.at) {}

Result<void> Checkpointer::claimFolder() {
    Result<std::string> mine;
    if (m_training.world.isFirst()) {
        const std::string folder = m_session.checkpointDir();
        const auto entries = listCheckpoints(folder);
        m_line = lineOf(entries.value_or(std::vector<CheckpointEntry>()),
                        m_session.environment.attempt, m_session.options.startFrom);
        const TorchrunEnvironment& environment = m_session.environment;
        const auto claimed = claimCheckpoints(
            folder, {environment.runId, m_session.spec.name, m_line, environment.storeNonce});
        mine = claimed.map([] { return std::string(); });
        if (claimed) {
            sweepUnpublished(folder);
            // A run's start is no mere copy of a checkpoint, which newer ones would replace.
            std::error_code ignored;
            std::filesystem::remove(m_session.options.startFrom + "/" + kCopyMark, ignored);
        }
    }
    return agreeOnFirst(m_training.world, mine).map([](const std::string&) {});
}

Result<void> Checkpointer::load(const std::string& dir) {
    Training& t = m_training;
    std::optional<LoadedFiles> files;
    Result<std::string> mine;
    if (t.world.isFirst()) {
        auto opened = openFiles(dir, t.model, *t.optimizer);
        mine = opened ? Result<std::string>() : tl::unexpected(opened.error());
        if (opened)
            files = std::move(*opened);
    }
    RM_RETURN_IF_ERROR(agreeOnFirst(t.world, mine));
    t.sync.settle();
    if (files)
        loadModel(files->model, t.model);
    t.world.broadcast(replicatedTensors(t.model));
    t.optimizer->loadState([&](const std::string& name) { return files->optimizer.tensor(name); });
    if (t.spec.train.ema == 0)
        return {};
    if (t.average) // a recorded step may use its tensors
        t.average->restart();
    else
        t.average = std::make_unique<WeightAverage>(t.model, t.spec.train.ema);
    if (files && files->average)
        t.average->load([&](const std::string& name) { return files->average->tensor(name); });
    t.world.broadcast(t.average->values());
    return {};
}

std::string Checkpointer::whyDue() const {
    const RunSpec::Checkpoint& rule = m_training.spec.checkpoint;
    if (m_training.isDueByEpochs(rule.everyEpochs))
        return "epoch " + std::to_string(m_training.epochsDone());
    return m_training.isDue(rule.every) ? "every " + std::to_string(rule.every) : std::string();
}

Result<void> Checkpointer::saveAtEnd() {
    m_isAtEnd = true;
    return saveAndWait("end");
}

void Checkpointer::save(const std::string& reason, const std::optional<Command>& command) {
    m_training.board.setPhase(Phase::kCheckpoint);
    const StepReport::Span span(m_training.report, TraceKind::kCheckpoint);
    const int64_t began = monotonicNowNs();
    CheckpointContent content = collect(reason);
    if (m_training.world.isFirst())
        m_writer.start(std::move(content), [this, command](const CheckpointContent& staged) {
            const auto done = m_isAtEnd ? publishWithPatience(staged) : publish(staged);
            reportWritten(staged, done, command);
            return done;
        });
    const double ms = static_cast<double>(monotonicNowNs() - began) / 1e6;
    m_training.report.publishAlone(metric::kPhaseCheckpointMs, ms, m_training.step);
}

Result<void> Checkpointer::saveAndWait(const std::string& reason) {
    const StepReport::Span span(m_training.report, TraceKind::kCheckpoint);
    save(reason);
    Result<std::string> mine;
    if (m_training.world.isFirst())
        if (const auto done = m_writer.wait(); !done)
            mine = tl::unexpected(done.error());
    const auto agreed = agreeOnFirst(m_training.world, mine);
    return agreed ? Result<void>() : tl::unexpected(agreed.error());
}

Result<std::string> Checkpointer::newest(const std::function<bool(int64_t step)>& isGood) {
    m_writer.release();
    static_cast<void>(m_writer.wait()); // sets m_newest
    return agreeOnFirst(m_training.world, m_training.world.isFirst() ? newestHere(isGood) : "");
}

std::string Checkpointer::newestHere(const std::function<bool(int64_t step)>& isGood) const {
    const auto isGoodAt = [&](const std::string& path) {
        const auto manifest = readManifest(path);
        return manifest && isGood(manifest->step);
    };
    if (isGoodAt(m_newest))
        return m_newest;
    const auto listed = listCheckpoints(m_session.checkpointDir());
    const auto entries = listed.value_or(std::vector<CheckpointEntry>());
    const CheckpointEntry* found = nullptr;
    for (const CheckpointEntry& entry : entries)
        if (m_line.has(entry.manifest) && isGood(entry.manifest.step) &&
            (!found || entry.manifest.step > found->manifest.step))
            found = &entry;
    // The one that the attempt started from may lie in another folder.
    const std::string& start = m_session.options.startFrom;
    return found ? found->path : isGoodAt(start) ? start : std::string();
}

/// Rank 0 tells which ranks cannot write their journals, once each. Returns what follows that in
/// each of `texts`.
std::vector<std::string> Checkpointer::noteUnwritten(std::vector<std::string> texts) {
    m_unwritten.resize(texts.size());
    for (size_t rank = 0; rank < texts.size(); ++rank) {
        const std::string why = texts[rank].c_str(); // up to the first zero
        texts[rank].erase(0, why.size() + 1);
        if (!why.empty() && !m_unwritten[rank])
            m_session.telemetry->append(
                Event{-1, m_training.step, wallNowNs(), Severity::kError, kJournalUnwrittenEvent,
                      "rank " + std::to_string(rank) + " cannot write its journal, and " + why +
                          "; they are lost if it ends before that is mended, and checkpoint " +
                          std::to_string(m_training.step) + " is saved all the same"});
        m_unwritten[rank] = !why.empty();
    }
    return texts;
}

/// Collects the content of a checkpoint; only rank 0's result is used.
CheckpointContent Checkpointer::collect(const std::string& reason) {
    const Training& t = m_training;
    m_training.sync.settle();
    const std::vector<uint8_t> rng = m_session.device.plugin->rngState();
    // Flushed before the gather, for which rank 0 needs all ranks: then every rank's journal has
    // the steps of a published checkpoint, even if all ranks are killed right afterwards. A rank
    // whose disk does not take them is named instead, as training counts for more.
    Telemetry& telemetry = *m_session.telemetry;
    const std::string unwritten = telemetry.flush() ? std::string() : telemetry.unwritten();
    const auto rngStates =
        noteUnwritten(t.world.gather(unwritten + '\0' + std::string(rng.begin(), rng.end())));
    auto optimizerState = t.optimizer->collectState();
    if (!t.world.isFirst())
        return {};
    static_cast<void>(m_writer.wait()); // its outcome decides which is best
    CheckpointContent content;
    Manifest& manifest = content.manifest;
    manifest.best = noteSaving();
    content.state = stateNow();
    for (const std::string& bytes : rngStates)
        content.state.rngStates.emplace_back(bytes.begin(), bytes.end());
    content.tensorFiles = {{kModelFile, modelTensors(t.model)},
                           {kOptimizerFile, std::move(optimizerState)}};
    if (t.average)
        content.tensorFiles.push_back({kAverageFile, averagedTensors()});
    content.texts = t.task->files();
    content.texts.emplace_back("spec.toml", toToml(t.spec));
    manifest.runId = m_session.environment.runId;
    manifest.attempt = m_session.environment.attempt;
    manifest.nonce = m_session.environment.storeNonce;
    manifest.step = t.step;
    manifest.worldSize = t.world.size();
    manifest.createdNs = wallNowNs();
    manifest.reason = reason;
    if (m_validator.hasValidated())
        manifest.validationLoss = m_validator.loss();
    manifest.watched = m_validator.watchedNow();
    manifest.line = m_line.behind;
    content.hasSpareCore = hasSpareCore(m_session);
    return content;
}

/// The averaged model as the Python libraries load it, including the buffers.
std::vector<NamedTensor> Checkpointer::averagedTensors() const {
    std::vector<NamedTensor> tensors = m_training.average->tensors();
    for (NamedTensor& buffer : bufferTensors(m_training.model))
        tensors.push_back(std::move(buffer));
    return tensors;
}

TrainState Checkpointer::stateNow() const {
    const Training& t = m_training;
    const GradScaler::State scaler = t.scaler.state();
    TrainState state;
    state.step = t.step;
    state.cursor = t.cursor;
    state.epoch =
        static_cast<double>(t.cursor) / static_cast<double>(t.task->training().epochSize());
    state.positionsPerStep = t.partition.positionsPerStep();
    state.worldSize = t.world.size();
    state.device = m_session.device.isCpu() ? "cpu" : "cuda";
    state.specHash = specHashOf(t.spec);
    state.dataIdentity = t.task->dataIdentity();
    state.settings = t.settings;
    m_validator.store(state);
    if (m_store)
        m_store(state);
    state.lossScale = t.scaler.scalesLoss() ? scaler.lossScale : 0;
    state.finiteSteps = scaler.finiteSteps;
    state.skippedSteps = scaler.skipped;
    return state;
}

/// Rank 0: whether the weights to be saved now are the best that a checkpoint holds.
bool Checkpointer::noteSaving() {
    const auto entries = listCheckpoints(m_session.checkpointDir());
    const auto isBest = [this](const CheckpointEntry& entry) {
        return entry.manifest.step == m_validator.bestSavedStep() && m_line.has(entry.manifest);
    };
    return m_validator.noteSaving(entries && std::ranges::any_of(*entries, isBest));
}

/// On the writer's thread: writes and journals the checkpoint and removes the checkpoints that
/// retention drops.
Result<void> Checkpointer::publish(const CheckpointContent& content) {
    const int64_t began = monotonicNowNs();
    const std::string folder = m_session.checkpointDir();
    const auto path = saveCheckpoint(folder, content);
    if (!path)
        return tl::unexpected(withRoom(path.error(), folder, content));
    m_newest = *path;
    const auto written = readManifest(*path);
    const Manifest& manifest = written ? *written : content.manifest;
    const double ms = static_cast<double>(monotonicNowNs() - began) / 1e6;
    m_session.telemetry->append(CheckpointSaved{
        manifest.step, wallNowNs(), std::filesystem::absolute(*path).string(), manifest.bytes(), ms,
        manifest.reason, manifest.validationLoss, manifest.best});
    std::printf("checkpoint %s (%s, %.0f ms)\n", path->c_str(), manifest.reason.c_str(), ms);
    std::fflush(stdout);
    removeOldCheckpoints(manifest);
    return {};
}

Result<void> Checkpointer::publishWithPatience(const CheckpointContent& content) {
    constexpr int64_t kPatienceNs = 300'000'000'000;
    constexpr auto kPause = std::chrono::seconds(1);
    const int64_t untilNs = monotonicNowNs() + kPatienceNs;
    auto done = publish(content);
    const auto mayFitLater = [&] {
        return !done && done.error().code == ErrorCode::kExhausted &&
               couldHold(m_session.checkpointDir(), content) && monotonicNowNs() < untilNs;
    };
    if (mayFitLater())
        m_session.event(Severity::kWarning, "checkpoint-waits",
                        done.error().message + "; tried again each second for five minutes, as the "
                                               "run ends with it",
                        content.manifest.step);
    while (mayFitLater()) {
        std::this_thread::sleep_for(kPause);
        done = publish(content);
    }
    return done;
}

void Checkpointer::removeOldCheckpoints(const Manifest& saved) {
    const auto entries = listCheckpoints(m_session.checkpointDir());
    if (!entries)
        return;
    for (const std::string& path :
         checkpointsToRemove(*entries, m_line, keepRulesOf(m_training.spec.checkpoint))) {
        const auto manifest = readManifest(path);
        const int64_t step = manifest ? manifest->step : -1;
        if (const auto removed = removeCheckpoint(path, saved); !removed)
            m_session.event(Severity::kWarning, "checkpoint-not-removed", removed.error().message,
                            step);
        else
            m_session.telemetry->append(CheckpointRemoved{step, wallNowNs(), path});
    }
}

/// On the writer's thread. A failure does not end training; it is reported to whoever waits for the
/// checkpoint.
void Checkpointer::reportWritten(const CheckpointContent& content, const Result<void>& done,
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
