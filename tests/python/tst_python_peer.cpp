// SPDX-License-Identifier: Apache-2.0
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/trainer_run.h"

#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-5;
/// Of what Adam made in some steps: it divides gradients by their size, which brings out in biases,
/// which were zero, how a processor rounds.
constexpr double kTrainedTolerance = 5e-5;
constexpr int kSteps = 20;
constexpr char kByte = 'a';

struct Cut {
    const char* name;
    int ranks;
    int batchSize;
    int accumulation;
    const char* precision = "float32";
};
constexpr Cut kCuts[] = {{"alone", 1, 4, 1},
                         {"accumulated", 1, 2, 3},
                         {"two ranks, accumulated", 2, 1, 2},
                         {"bfloat16", 1, 4, 1, "bfloat16"},
                         {"bfloat16, two ranks, accumulated", 2, 1, 2, "bfloat16"}};

struct Tolerance {
    double losses;
    double parameters;
};

/// Products in bfloat16 are rounded at 2^-9, and the two sides add them up in other orders; biases,
/// which were zero, are Adam's steps along little more than that.
Tolerance toleranceOf(const Cut& cut) {
    const bool exact = std::string_view(cut.precision) == "float32";
    return exact ? Tolerance{kTolerance, kTrainedTolerance} : Tolerance{1e-3, 2e-2};
}

RunSpec specFor(const QString& text, const Cut& cut) {
    RunSpec spec = tinySpec();
    spec.model.heads = 4;
    spec.model.width = 64;
    spec.data.train = {text.toStdString()};
    spec.train.steps = kSteps;
    spec.train.batchSize = cut.batchSize;
    spec.train.accumulation = cut.accumulation;
    spec.train.precision = cut.precision;
    spec.optimizer.lr = 0.001;
    spec.optimizer.clip = 1.0;
    spec.schedule.warmupSteps = 5;
    spec.schedule.minLr = 0.0001;
    return spec;
}

QString checkpoint(const TrainerRun& run, int step) {
    return QString::fromStdString(run.checkpoint(step));
}

QString specFile(const TrainerRun& run) {
    return QString::fromStdString(run.dir()) + "/spec.toml";
}

} // namespace

/// The trainer beside Python: the wheel's own torch, torchrun and safetensors.
class TestPythonPeer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        const QString dump = m_folder.filePath("dump.safetensors");
        train(m_alone, "/usr/share/common-licenses", kCuts[0]);
        runPeer(builtProgram("gpt_dump"), {specFile(m_alone), checkpoint(m_alone, 0), dump});
        QJsonObject jobs{{"dump", QJsonArray{"dump", checkpoint(m_alone, 0), dump}}};
        QFile same(m_folder.filePath("same.txt"));
        QVERIFY(same.open(QIODevice::WriteOnly));
        same.write(QByteArray(20000, kByte));
        same.close();
        for (const Cut& cut : kCuts) {
            TrainerRun& run = m_loops[cut.name];
            train(run, same.fileName(), cut);
            jobs[cut.name] = QJsonArray{"loop", checkpoint(run, 0), checkpoint(run, kSteps), kByte};
        }
        m_reports = runJobs("gpt_reference.py", jobs);
        QCOMPARE(m_reports.size(), jobs.size());
    }

    void numbersEqualPyTorch() {
        const QJsonObject report = m_reports["dump"].toObject();
        QCOMPARE(report["steps"].toInt(), kSteps);
        for (const char* scalar : {"logits", "loss", "losses", "flops"})
            QVERIFY2(report[QLatin1String(scalar)].toDouble(1) < kTolerance, scalar);
        checkWorst(report["gradients"].toObject());
        checkWorst(report["parameters"].toObject(), kTrainedTolerance);
        QVERIFY(report["lastLoss"].toDouble() < report["firstLoss"].toDouble());
    }

    void wholeLoopEqualsPyTorch_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<Tolerance>("tolerance");
        for (const Cut& cut : kCuts)
            QTest::newRow(cut.name) << QString(cut.name) << toleranceOf(cut);
    }

    void wholeLoopEqualsPyTorch() {
        QFETCH(QString, name);
        QFETCH(Tolerance, tolerance);
        const QJsonObject report = m_reports[name].toObject();
        checkWorst(report["parameters"].toObject(), tolerance.parameters);
        const auto losses = m_loops.at(name).series(0, metric::kTrainLoss);
        QCOMPARE(losses.size(), size_t(kSteps));
        for (const auto& [step, loss] : losses) {
            const double expected = report["losses"].toArray().at(int(step) - 1).toDouble();
            QVERIFY2(std::abs(loss - expected) < tolerance.losses * expected,
                     qPrintable(QString("step %1: %2 not %3").arg(step).arg(loss).arg(expected)));
        }
    }

    void bfloat16RoundsAsAsked() {
        const auto exact = m_loops.at("alone").series(0, metric::kTrainLoss);
        const auto rounded = m_loops.at("bfloat16").series(0, metric::kTrainLoss);
        QCOMPARE(rounded.size(), exact.size());
        float largest = 0;
        for (const auto& [step, loss] : exact)
            largest = std::max(largest, std::abs(loss - rounded.at(step)));
        QVERIFY(largest > 10 * kTolerance);
    }

    void safetensorsReadsCheckpointsWithoutTorch() {
        for (const int step : {0, kSteps}) {
            const QJsonObject seen = runScript("read_checkpoint.py", {checkpoint(m_alone, step)});
            QCOMPARE(seen["step"].toInt(-1), step);
            QCOMPARE(seen["tensors"].toInt(), 2 + 2 * 12 + 2);
            QCOMPARE(seen["parameters"].toInt(), kParameters);
            QVERIFY(seen["float32"].toBool());
            QVERIFY(seen["finite"].toBool());
            QVERIFY(seen["optimizerComplete"].toBool());
            QVERIFY(!seen["torchLoaded"].toBool(true));
        }
    }

    void torchrunStartsTheTrainer() {
        const TrainerRun run;
        runPeer(peerPython(),
                {"-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "--no-python",
                 qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-trainer", "--spec",
                 specFile(m_alone), "--run-dir", QString::fromStdString(run.dir())});
        const auto norms = run.series(0, metric::kTrainGradNorm);
        QCOMPARE(norms.size(), size_t(kSteps));
        // Equal norms of the averaged gradients: one world of two, not two worlds of one.
        QCOMPARE(run.series(1, metric::kTrainGradNorm), norms);
        QVERIFY(norms != m_alone.series(0, metric::kTrainGradNorm));
        QVERIFY(QFileInfo::exists(checkpoint(run, kSteps) + "/MANIFEST.json"));
    }

private:
    // Embeddings; per block two norms, attention and the feed-forward; the last norm.
    static constexpr int kParameters =
        (256 + 32) * 64 + 2 * (4 * 64 + 4 * 64 * 64 + 4 * 64 + 8 * 64 * 64 + 5 * 64) + 2 * 64;

    static void train(TrainerRun& run, const QString& text, const Cut& cut) {
        const std::vector<int> ok(static_cast<size_t>(cut.ranks), 0);
        QCOMPARE(run.run(specFor(text, cut), cut.ranks, {"--save-initial"}), ok);
    }

    static void checkWorst(const QJsonObject& worst, double tolerance = kTolerance) {
        const double difference = worst["difference"].toDouble(1);
        QVERIFY2(difference < tolerance,
                 qPrintable(worst["tensor"].toString() + QString(": %1").arg(difference)));
    }

    const QTemporaryDir m_folder;
    TrainerRun m_alone;
    std::map<QString, TrainerRun> m_loops; ///< on a text of one letter, by the cut's name
    QJsonObject m_reports;
};

QTEST_GUILESS_MAIN(TestPythonPeer)
#include "tst_python_peer.moc"
