// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/trainer_run.h"

#include "shared/checkpoint/manifest.h"
#include "shared/io/file.h"
#include "shared/journal/journal.h"
#include "shared/journal/segment.h"
#include "tests/support/free_port.h"

#include <QDeadlineTimer>
#include <QFile>
#include <QTest>

namespace rm::test {
namespace {

constexpr int kDeadlineMs = 60000; ///< a loaded machine is slow

QString trainerProgram() {
    return qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-trainer";
}

QProcessEnvironment environmentOf(int rank, int worldSize, int port, int attempt,
                                  const QString& runId) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("TORCHELASTIC_RESTART_COUNT", QString::number(attempt - 1));
    environment.insert("TORCHELASTIC_RUN_ID", runId);
    if (worldSize == 1)
        return environment;
    environment.insert("RANK", QString::number(rank));
    environment.insert("LOCAL_RANK", QString::number(rank));
    environment.insert("WORLD_SIZE", QString::number(worldSize));
    environment.insert("LOCAL_WORLD_SIZE", QString::number(worldSize));
    environment.insert("GROUP_RANK", "0");
    environment.insert("MASTER_ADDR", "127.0.0.1");
    environment.insert("MASTER_PORT", QString::number(port));
    return environment;
}

QString rankFile(const char* format, int rank) {
    return QString::asprintf(format, rank);
}

int exitOf(QProcess& process, int timeoutMs) {
    if (process.state() != QProcess::NotRunning && !process.waitForFinished(timeoutMs))
        return TrainerRun::kTimedOut;
    return process.exitStatus() == QProcess::CrashExit ? -process.exitCode() : process.exitCode();
}

} // namespace

RunSpec tinySpec() {
    RunSpec spec;
    spec.name = "tiny";
    spec.model.layers = 2;
    spec.model.heads = 2;
    spec.model.width = 32;
    spec.model.context = 32;
    spec.data.train = {"/usr/share/common-licenses/BSD", "/usr/share/common-licenses/Artistic"};
    spec.data.validationShare = 0.1;
    spec.train.steps = 20;
    spec.train.batchSize = 4;
    spec.train.threads = 1;
    spec.optimizer.lr = 1e-2;
    spec.schedule.warmupSteps = 3;
    spec.validation.every = 0;
    spec.validation.batches = 2;
    spec.validation.sampleTokens = 8;
    spec.checkpoint.every = 0;
    spec.launch.device = "cpu";
    return spec;
}

RunSpec tinyImageSpec(const std::string& pictures) {
    RunSpec spec;
    spec.name = "images";
    spec.model.type = "resnet18";
    spec.model.imageSize = 32;
    spec.data.train = {pictures};
    spec.data.validationShare = 0.2;
    spec.train.steps = 6;
    spec.train.batchSize = 4;
    spec.train.threads = 1;
    spec.optimizer.lr = 1e-3;
    spec.validation.every = 0;
    spec.checkpoint.every = 0;
    spec.launch.device = "cpu";
    return spec;
}

Ended runSubcommand(const QStringList& arguments, const QString& tmpDir) {
    constexpr int kTimeoutMs = 60000;
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    if (!tmpDir.isEmpty())
        environment.insert("TMPDIR", tmpDir);
    process.setProcessEnvironment(environment);
    process.start(trainerProgram(), arguments);
    if (!process.waitForFinished(kTimeoutMs) || process.exitStatus() != QProcess::NormalExit)
        return {};
    return {process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()),
            QString::fromUtf8(process.readAllStandardError())};
}

TrainerRun::TrainerRun()
    : m_program(trainerProgram()) {}

TrainerRun::~TrainerRun() {
    for (const auto& process : m_ranks) {
        if (process->state() == QProcess::NotRunning)
            continue;
        process->kill();
        process->waitForFinished();
    }
}

std::string TrainerRun::checkpoint(int64_t step) const {
    const std::string first = dir() + "/checkpoints/" + checkpointName(step);
    for (int64_t attempt = 1; attempt <= m_attempt; ++attempt)
        if (const std::string there =
                attempt == 1 ? first : dir() + "/checkpoints/" + checkpointName(step, attempt);
            QFile::exists(QString::fromStdString(there)))
            return there;
    return first;
}

void TrainerRun::start(const RunSpec& spec, int worldSize, const QStringList& extra) {
    const QString specPath = m_dir.filePath("spec.toml");
    QFile file(specPath);
    if (!file.open(QIODevice::WriteOnly))
        QFAIL("cannot write the spec");
    file.write(QByteArray::fromStdString(toToml(spec)));
    file.close();
    const int port = freePort();
    ++m_attempt;
    m_ranks.clear();
    for (int rank = 0; rank < worldSize; ++rank) {
        auto process = std::make_unique<QProcess>();
        QProcessEnvironment environment = environmentOf(rank, worldSize, port, m_attempt, m_runId);
        for (const auto& [name, value] : m_variables)
            environment.insert(name, value);
        process->setProcessEnvironment(environment);
        process->setProcessChannelMode(QProcess::MergedChannels);
        process->setStandardOutputFile(m_dir.filePath(rankFile("log-%d", rank)));
        process->start(m_program,
                       QStringList{"--spec", specPath, "--run-dir", m_dir.path()} + extra);
        if (!process->waitForStarted())
            qFatal("start %s: %s", qPrintable(process->program()),
                   qPrintable(process->errorString()));
        m_ranks.push_back(std::move(process));
    }
}

std::vector<int> TrainerRun::finish(int timeoutMs) {
    const QDeadlineTimer deadline(timeoutMs);
    std::vector<int> codes;
    for (const auto& process : m_ranks)
        codes.push_back(exitOf(*process, static_cast<int>(deadline.remainingTime())));
    return codes;
}

std::vector<int> TrainerRun::run(const RunSpec& spec, int worldSize, const QStringList& extra) {
    start(spec, worldSize, extra);
    return finish();
}

QString TrainerRun::output(int rank) const {
    QFile file(m_dir.filePath(rankFile("log-%d", rank)));
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

std::vector<Record> TrainerRun::records(int rank) const {
    return readSegments(dir() + "/journal", rankName(rank)).value_or(std::vector<Record>());
}

std::map<int64_t, float> TrainerRun::series(int rank, MetricId metric) const {
    std::map<int64_t, float> values;
    for (const Samples& samples : recordsOf<Samples>(rank))
        for (size_t i = 0; i < samples.metric.size(); ++i)
            if (samples.metric[i] == metric)
                values[samples.step] = samples.value[i];
    return values;
}

int64_t TrainerRun::lastStep(int rank) const {
    const auto losses = series(rank, metric::kTrainLoss);
    return losses.empty() ? 0 : losses.rbegin()->first;
}

bool TrainerRun::post(const Command& command) const {
    const auto isPosted = [&] {
        auto board = Board::open(dir() + "/board/rank-00000");
        // A page that is not its rank's yet loses the command.
        return board && board->status().attempt > 0 && board->postCommand(command).value_or(false);
    };
    return QTest::qWaitFor(isPosted, kDeadlineMs);
}

std::optional<CommandApplied> TrainerRun::applied(const std::string& id) const {
    std::optional<CommandApplied> found;
    const auto isApplied = [&] {
        for (const CommandApplied& one : recordsOf<CommandApplied>(0))
            if (one.id == id)
                found = one;
        return found.has_value();
    };
    static_cast<void>(QTest::qWaitFor(isApplied, kDeadlineMs));
    return found;
}

} // namespace rm::test
