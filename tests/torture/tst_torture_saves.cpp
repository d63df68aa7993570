// SPDX-License-Identifier: Apache-2.0
#include "tests/torture/seeds.h"
#include "trainer/train/checkpoint/checkpoint.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <functional>
#include <numeric>
#include <random>

using namespace rm;

namespace {

constexpr int kShortKills = 200;

/// Runs `work` in a child process that stops as it enters and leaves each system call, and kills it
/// at the `last` of these stops. Returns the stops that it came to; -1: it cannot be traced.
int stopsUntilKilled(int last, const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        ::raise(SIGSTOP);
        work();
        ::_exit(0);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
        ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL) != 0)
        return -1;
    int stops = 0;
    while (stops < last && ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 &&
           ::waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ++stops;
    if (WIFSTOPPED(status)) {
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
    }
    return stops;
}

/// Whose weights all have the number of its step.
CheckpointContent contentOf(int64_t step) {
    CheckpointContent content;
    content.manifest.runId = "run";
    content.manifest.step = step;
    content.manifest.reason = "every 1";
    content.manifest.line.emplace();
    const at::Tensor weights = at::full({16, 64}, static_cast<float>(step));
    content.tensorFiles = {{kModelFile, {{"weight", weights}}},
                           {kOptimizerFile, {{"weight.exp_avg", weights}}}};
    content.state.step = step;
    content.state.rngStates = {{1, 2, 3}};
    content.texts = {{"spec.toml", "name = \"run\"\n"}};
    return content;
}

/// "" or what is wrong: it can be loaded, and holds what was saved.
std::string flawIn(const std::string& folder) {
    const auto state = openCheckpoint(folder);
    if (!state)
        return state.error().message;
    const auto loaded = LoadedTensors::open(folder + "/" + kModelFile, {{"weight", {16, 64}}});
    if (!loaded)
        return loaded.error().message;
    const at::Tensor expected = at::full({16, 64}, static_cast<float>(state->step));
    return at::equal(loaded->tensor("weight"), expected) ? "" : folder + ": other weights";
}

} // namespace

/// A rank that is killed at a system call while it saves.
class tst_torture_saves : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void f12KilledSavesLeaveOnlyWholeCheckpoints_data() { test::addSeeds(); }
    void f12KilledSavesLeaveOnlyWholeCheckpoints();

private:
    /// What a rank does at a step: it saves, here also in the place of a checkpoint of that step,
    /// and removes an old one.
    void save(int64_t step) const {
        static_cast<void>(saveCheckpoint(m_parent, contentOf(step)));
        static_cast<void>(saveCheckpoint(m_parent, contentOf(step)));
        static_cast<void>(removeCheckpoint(m_parent + "/" + checkpointName(step - 2)));
    }
    QStringList entries() const {
        return QDir(QString::fromStdString(m_parent))
            .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
    }
    /// "" or what is wrong, after a save of `step` that was killed.
    std::string flawAfter(int64_t step) const;

    std::string m_parent;
};

std::string tst_torture_saves::flawAfter(int64_t step) const {
    for (const QString& name : entries())
        if (name.startsWith("step-"))
            if (const std::string flaw = flawIn(m_parent + "/" + name.toStdString());
                !flaw.empty() &&
                QFile::exists(QString::fromStdString(m_parent) + "/" + name + "/MANIFEST.json"))
                return flaw;
    sweepUnpublished(m_parent);
    for (const QString& name : entries())
        if (!name.startsWith("step-"))
            return "left behind: " + name.toStdString();
    const std::string before = m_parent + "/" + checkpointName(step - 1);
    const auto newest = newestWhole(before);
    if (!newest || newest->path != before)
        return "the checkpoint before is gone";
    CheckpointContent content = contentOf(step);
    content.hasSpareCore = true; // hashed by a second thread, which a forked child cannot have
    const auto again = saveCheckpoint(m_parent, content);
    return again ? flawIn(*again) : again.error().message;
}

void tst_torture_saves::f12KilledSavesLeaveOnlyWholeCheckpoints() {
    std::mt19937_64 random = test::randomOfRow();
    at::set_num_threads(1); // the child of a fork has no others
    const QTemporaryDir folder;
    m_parent = folder.filePath("checkpoints").toStdString();
    const auto begin = [this] {
        for (const int64_t step : {1, 2})
            if (const auto saved = saveCheckpoint(m_parent, contentOf(step)); !saved)
                qFatal("%s", saved.error().message.c_str());
    };
    begin();
    const int all = stopsUntilKilled(INT_MAX, [this] { save(3); });
    QVERIFY2(all > kShortKills, qPrintable(QString::number(all)));
    std::vector<int> stops(static_cast<size_t>(all));
    std::iota(stops.begin(), stops.end(), 1);
    if (!test::isLong()) {
        std::shuffle(stops.begin(), stops.end(), random);
        stops.resize(kShortKills);
    }
    for (const int stop : stops) {
        QDir(QString::fromStdString(m_parent)).removeRecursively();
        begin();
        stopsUntilKilled(stop, [this] { save(3); });
        const std::string flaw = flawAfter(3);
        QVERIFY2(flaw.empty(), (flaw + ", killed at stop " + std::to_string(stop)).c_str());
    }
    qInfo("%zu kills at %d stops", stops.size(), all);
}

QTEST_GUILESS_MAIN(tst_torture_saves)
#include "tst_torture_saves.moc"
