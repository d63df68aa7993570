// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/demo_run.h"

#include "app/core/store/store_writer.h"
#include "shared/exit_code.h"
#include "shared/spec/run_spec.h"

#include <QBuffer>
#include <QColor>
#include <QImage>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <span>

namespace rm::test {

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;
constexpr int64_t kStepsPerBatch = 500;

RunSpec specOf(const DemoShape& shape) {
    RunSpec spec;
    spec.name = shape.name.toStdString();
    spec.model.type = shape.modelType;
    spec.data.train = {"/mnt/training-data/corpus"};
    spec.train.steps = shape.totalSteps;
    spec.checkpoint.every = shape.checkpointEvery;
    spec.checkpoint.directory = "/mnt/training-data/checkpoints";
    spec.optimizer.lr = shape.topLr;
    spec.schedule.minLr = shape.topLr / 10;
    return spec;
}

/// What a translation makes of two sentences, the better the later.
std::vector<SampleText> translationsAt(int64_t step, int64_t wallNs, bool isLate) {
    const auto of = [&](const char* source, const char* early, const char* late,
                        const char* reference, float score) {
        SampleText sample{step, wallNs, source, isLate ? late : early};
        sample.kind = SampleKind::kTranslation;
        sample.reference = reference;
        sample.score = isLate ? score : score / 2;
        return sample;
    };
    return {of("The file could not be opened.", "Il file non aperto file.",
               "Impossibile aprire il file.", "Impossibile aprire il file.", 100),
            of("Print the current page", "Pagina di la pagina stampa", "Stampa la pagina corrente",
               "Stampa la pagina attuale", 71.5f)};
}

const char* const kIcons[] = {"apps", "devices", "mimetypes", "places"};

std::vector<std::byte> pictureOf(int colour) {
    QImage image(64, 64, QImage::Format_RGB32);
    image.fill(QColor::fromHsv(colour * 37 % 360, 140, 220));
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "JPG");
    const auto jpeg = std::as_bytes(std::span(bytes.constData(), size_t(bytes.size())));
    return {jpeg.begin(), jpeg.end()};
}

/// Pictures of a validation, misclassified ones first, the fewer of them the later.
std::vector<SampleText> picturesAt(int64_t step, int64_t wallNs, int wrong) {
    std::vector<SampleText> samples;
    for (int i = 0; i < 8; ++i) {
        const char* label = kIcons[i % 4];
        SampleText sample{step, wallNs, label + ("/" + std::to_string(i)) + ".png",
                          i < wrong ? kIcons[(i + 1) % 4] : label};
        sample.kind = SampleKind::kPicture;
        sample.reference = label;
        sample.score = 0.95f - 0.06f * static_cast<float>(i);
        sample.picture = pictureOf(i);
        samples.push_back(std::move(sample));
    }
    return samples;
}

ConfusionMatrix confusionAt(int64_t step, int64_t wallNs, uint32_t wrong) {
    ConfusionMatrix matrix{step, wallNs, 4, {std::begin(kIcons), std::end(kIcons)}, {}};
    for (uint32_t row = 0; row < 4; ++row)
        for (uint32_t column = 0; column < 4; ++column)
            matrix.counts.push_back(row == column             ? 60 - 3 * wrong
                                    : column == (row + 1) % 4 ? 2 * wrong
                                                              : wrong / 2);
    return matrix;
}

} // namespace

DemoRun::DemoRun(StoreWriter& writer, DemoShape shape)
    : m_writer(writer)
    , m_shape(std::move(shape)) {}

int DemoRun::ranks() const {
    int ranks = 0;
    for (const RunNode& node : m_shape.nodes)
        ranks += node.ranks;
    return ranks;
}

int DemoRun::nodeOf(int rank) const {
    for (const RunNode& node : m_shape.nodes)
        if (rank >= node.firstRank && rank < node.firstRank + node.ranks)
            return node.nodeIndex;
    return 0;
}

int64_t DemoRun::wallOf(int64_t step) const {
    return m_attemptStartNs +
           static_cast<int64_t>(static_cast<double>(step - m_attemptFirstStep) * m_shape.stepMs) *
               kMs;
}

double DemoRun::noise(double spread) {
    return std::normal_distribution<double>(0, spread)(m_random);
}

double DemoRun::loss(int64_t step) {
    const double part = static_cast<double>(step) / static_cast<double>(m_shape.totalSteps);
    return m_shape.lastLoss + (m_shape.firstLoss - m_shape.lastLoss) * std::exp(-6 * part);
}

bool DemoRun::isSlow(int rank, int64_t step) const {
    return rank >= 0 && rank == m_shape.slowRank && step > m_shape.lastStep * 4 / 5;
}

IngestBatch DemoRun::batchOf(int nodeIndex) const {
    IngestBatch batch;
    batch.run = m_shape.id;
    batch.nodeIndex = nodeIndex;
    return batch;
}

Result<void> DemoRun::create() {
    NewRun run{m_shape.id, m_shape.name, toToml(specOf(m_shape)), m_shape.nodes, {}, 0};
    return m_writer.createRun(run);
}

Samples DemoRun::stepSamples(int rank, int64_t step) {
    const double part = static_cast<double>(step) / static_cast<double>(m_shape.totalSteps);
    const double warm = std::min(1.0, part / 0.05);
    const double lr = m_shape.topLr * warm * 0.5 * (1 + std::cos(std::numbers::pi * part));
    const double waits = isSlow(rank, step) ? 18 : 0;
    const double work = 4 + 21 + 44 + 9;
    const double slowest = isSlow(m_shape.slowRank, step) ? 18 : 0;
    const double wait = std::max(1.0, 5 + slowest - waits + noise(0.6));
    const double scale = m_shape.stepMs / 85;
    const double stepMs = (work + waits + wait) * scale;
    using namespace metric;
    const std::vector<std::pair<MetricId, double>> values = {
        {kTrainLoss, loss(step) + noise(0.16)},
        {kTrainLr, lr},
        {kTrainGradNorm, 0.75 + 2.5 * std::exp(-5 * part) + std::abs(noise(0.12))},
        {m_shape.throughputMetric,
         m_shape.throughput * 83 / (work + waits + wait) * (0.97 + 0.008 * rank)},
        {kTrainStepMs, stepMs},
        {kPhaseDataMs, (4 + waits + noise(0.3)) * scale},
        {kPhaseForwardMs, (21 + noise(0.4)) * scale},
        {kPhaseBackwardMs, (44 + noise(0.5)) * scale},
        {kPhaseAllreduceMs, wait * scale},
        {kPhaseOptimizerMs, (9 + noise(0.2)) * scale}};
    Samples samples{rank, step, wallOf(step), {}, {}};
    for (const auto& [id, value] : values) {
        samples.metric.push_back(id);
        samples.value.push_back(static_cast<float>(value));
    }
    return samples;
}

Samples DemoRun::machineSamples(int rank, int64_t step, int64_t wallNs) {
    const double busy = (isSlow(rank, step) ? 0.58 : 0.93) + noise(0.025);
    Samples samples{rank, step, wallNs, {}, {}};
    samples.metric = {m_shape.gpus ? metric::kGpuUtilization : metric::kRankCpu,
                      metric::kRankMemoryBytes};
    samples.value = {static_cast<float>(std::clamp(busy, 0.0, 1.0)), 3.1e9F};
    const auto add = [&samples](MetricId id, double value) {
        samples.metric.push_back(id);
        samples.value.push_back(static_cast<float>(value));
    };
    if (m_shape.gpus) {
        add(metric::kGpuMemoryBytes, 61e9 + 1e8 * noise(1));
        add(metric::kGpuPowerW, 690 * busy);
        add(metric::kGpuTemperatureC, 66 + noise(1));
    }
    const bool leads = std::ranges::any_of(
        m_shape.nodes, [rank](const RunNode& node) { return node.firstRank == rank; });
    if (leads) {
        add(metric::kNodeCpu, 0.31 + noise(0.02));
        add(metric::kNodeMemoryBytes, 212e9 + 1e9 * noise(1));
        add(metric::kNodeRxBytesPerS, 1.1e9 * busy);
        add(metric::kNodeTxBytesPerS, 1.1e9 * busy);
    }
    return samples;
}

void DemoRun::milestones(IngestBatch& batch, int64_t step) {
    const int64_t wall = wallOf(step);
    if (step % (m_shape.checkpointEvery / 2) == 0) {
        const double value = loss(step) + 0.06 + std::abs(noise(0.02));
        Samples validation{0, step, wall, {metric::kValidationLoss}, {static_cast<float>(value)}};
        const double part = static_cast<double>(step) / static_cast<double>(m_shape.totalSteps);
        for (const auto& [id, last] : m_shape.quality) {
            validation.metric.push_back(id);
            validation.value.push_back(static_cast<float>(last * (1 - std::exp(-4 * part))));
        }
        batch.records.push_back(validation);
        if (m_shape.throughputMetric == metric::kTrainImagesPerS) {
            const int wrong = part < 0.5 ? 5 : 2;
            std::ranges::copy(picturesAt(step, wall, wrong), std::back_inserter(batch.records));
            batch.records.push_back(confusionAt(step, wall, static_cast<uint32_t>(wrong)));
        } else if (!m_shape.quality.empty()) // of a translation
            std::ranges::copy(translationsAt(step, wall, part > 0.3),
                              std::back_inserter(batch.records));
        else if (m_shape.throughputMetric == metric::kTrainTokensPerS)
            batch.records.push_back(SampleText{
                step, wall, "\n",
                std::string(part < 0.5 ? "Everyone is permitted to copies of copy and verbatim "
                                       : "Everyone is permitted to copy and distribute verbatim ") +
                    "copies of this license "
                    "document, but changing it is not allowed.\n\nThe licenses for most software "
                    "are "
                    "designed to take away your freedom to share and change it. By contrast, the "
                    "General "
                    "Public License is intended to guarantee your freedom to share and change free "
                    "software, to make sure the software is free for all its users.\n"});
    }
    if (step % m_shape.checkpointEvery == 0) {
        const double value = loss(step) + 0.07;
        const bool best = value < m_best;
        m_best = std::min(m_best, value);
        batch.records.push_back(CheckpointSaved{
            step, wall, "/mnt/training-data/checkpoints/step-" + std::to_string(step), 743'000'000,
            412, "every " + std::to_string(m_shape.checkpointEvery), value, best});
    }
}

Result<void> DemoRun::train(int attempt, int64_t firstStep, int64_t lastStep, int64_t startNs) {
    m_attempt = attempt;
    m_attemptStartNs = startNs;
    m_attemptFirstStep = firstStep;
    auto begun =
        m_writer.beginAttempt(m_shape.id, {attempt, firstStep - 1, {}, m_shape.nodes, 0, "cuda13"});
    for (const RunNode& node : m_shape.nodes) {
        IngestBatch batch = batchOf(node.nodeIndex);
        for (int rank = node.firstRank; begun && rank < node.firstRank + node.ranks; ++rank) {
            batch.records.push_back(
                AttemptStarted{attempt, rank, ranks(), firstStep - 1, startNs - 2 * kSecond, {}});
            batch.records.push_back(RankStarted{attempt, rank, 41'200 + rank, startNs - kSecond});
            batch.logLines.push_back({rank,
                                      "rank " + std::to_string(rank) + " of " +
                                          std::to_string(ranks()) +
                                          " on cuda:" + std::to_string(rank - node.firstRank),
                                      startNs - kSecond + rank * kMs});
            batch.logLines.push_back({rank, "data: 1024 shards, the vocabulary has 16000 pieces",
                                      startNs - kSecond / 2});
        }
        if (node.nodeIndex > 0)
            batch.logLines.push_back(
                {node.firstRank,
                 "[W1130 06:07:14.123456789 socket.cpp:764] [c10d] The client socket has failed to "
                 "connect to [" +
                     m_shape.nodes.front().nodeName + "]:29500 (errno: 111 - Connection refused).",
                 startNs - kSecond});
        int64_t lastMachineNs = 0;
        for (int64_t step = firstStep; step <= lastStep && begun; ++step) {
            for (int rank = node.firstRank; rank < node.firstRank + node.ranks; ++rank)
                batch.records.push_back(stepSamples(rank, step));
            if (wallOf(step) - lastMachineNs >= kSecond) {
                lastMachineNs = wallOf(step);
                for (int rank = node.firstRank; rank < node.firstRank + node.ranks; ++rank)
                    batch.records.push_back(machineSamples(rank, step, lastMachineNs));
            }
            if (node.nodeIndex == 0)
                milestones(batch, step);
            if (step % 100 == 0)
                batch.logLines.push_back({node.firstRank,
                                          "step " + std::to_string(step) + "  loss " +
                                              std::to_string(loss(step)).substr(0, 5),
                                          wallOf(step)});
            if (step % kStepsPerBatch == 0 || step == lastStep) {
                begun = m_writer.ingest(batch);
                batch = batchOf(node.nodeIndex);
            }
        }
    }
    return begun;
}

Result<void> DemoRun::end(Outcome outcome, int failedRank, const std::string& message,
                          const std::string& tail) {
    const int64_t wall = wallOf(m_shape.lastStep) + kSecond;
    Result<void> done;
    for (const RunNode& node : m_shape.nodes) {
        IngestBatch batch = batchOf(node.nodeIndex);
        for (int rank = node.firstRank; rank < node.firstRank + node.ranks; ++rank) {
            RankExited exited{m_attempt, rank, 0, 0, wall + rank * kMs, "ended", {}};
            if (outcome == Outcome::kPaused)
                exited.exitCode = static_cast<int>(ExitCode::kPaused);
            if (outcome == Outcome::kPaused)
                exited.message = "paused";
            if (outcome == Outcome::kFailed)
                exited = {m_attempt,
                          rank,
                          static_cast<int>(ExitCode::kPeerLost),
                          0,
                          wall + 100 * kMs,
                          "exited: peer lost",
                          {}};
            if (outcome == Outcome::kFailed && rank == failedRank)
                exited = {m_attempt, rank, 0, 9, wall, "killed by SIGKILL", tail};
            batch.records.push_back(exited);
        }
        const bool here = failedRank >= 0 && nodeOf(failedRank) == node.nodeIndex;
        batch.records.push_back(AttemptEnded{m_attempt, outcome, here ? failedRank : -1,
                                             here ? 137 : 0, wall + 200 * kMs,
                                             here || failedRank < 0 ? message : "peer lost"});
        if (done)
            done = m_writer.ingest(batch);
    }
    return done;
}

Result<void> DemoRun::addEvent(Severity severity, const std::string& code,
                               const std::string& message, int rank, int64_t step, int64_t wallNs) {
    IngestBatch batch = batchOf(rank < 0 ? 0 : nodeOf(rank));
    batch.records.push_back(Event{rank, step, wallNs, severity, code, message});
    return m_writer.ingest(batch);
}

Result<void> DemoRun::command(const std::string& kind, int64_t step, int64_t wallNs,
                              const std::string& message) {
    IngestBatch batch = batchOf(0);
    batch.records.push_back(
        CommandApplied{kind + '-' + std::to_string(step), kind, step, wallNs, true, message});
    return m_writer.ingest(batch);
}

} // namespace rm::test
