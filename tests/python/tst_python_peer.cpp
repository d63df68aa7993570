// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/journal.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <map>

namespace {

constexpr double kTolerance = 1e-5;
constexpr int kSteps = 20;
constexpr char kByte = 'a';

/// Placeholders: text file, sequences of a micro-batch, micro-batches of a step.
constexpr const char* kSpec = R"(
name = "python-peer"
[model]
layers = 2
heads = 4
width = 64
context = 32
[data]
train = ["%1"]
[train]
steps = 20
batch_size = %2
accumulation = %3
threads = 1
[optimizer]
lr = 0.001
clip = 1.0
[schedule]
type = "cosine"
warmup_steps = 5
min_lr = 0.0001
[validation]
every = 0
[checkpoint]
every = 0
[launch]
device = "cpu"
)";

QString fromEnvironment(const char* name) {
    return QString::fromLocal8Bit(qgetenv(name));
}

/// Values of one metric by step.
std::map<int64_t, float> series(const QString& journal, rm::MetricId metric) {
    std::map<int64_t, float> values;
    const auto records = rm::readJournal(journal.toStdString());
    if (!records)
        return values;
    for (const rm::Record& record : *records) {
        const auto* samples = std::get_if<rm::Samples>(&record);
        for (size_t i = 0; samples && i < samples->metric.size(); ++i)
            if (samples->metric[i] == metric)
                values[samples->step] = samples->value[i];
    }
    return values;
}

} // namespace

/// The trainer beside Python: the wheel's own torch, torchrun and safetensors.
class TestPythonPeer : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        const bool found = QFileInfo(m_python).isExecutable();
        RM_NEEDS("python", found, m_missing.arg(m_python));
        QVERIFY(m_folder.isValid());
        writeFile("spec.toml", specFor("/usr/share/common-licenses", 4, 1));
        runProgram(m_trainer, {"--spec", m_folder.filePath("spec.toml"), "--run-dir",
                               m_folder.filePath("alone"), "--save-initial"});
    }

    void numbersEqualPyTorch() {
        const QString dump = m_folder.filePath("dump.safetensors");
        const QString initial = checkpoint("alone", 0);
        runProgram(m_tests + "/gpt_dump", {m_folder.filePath("spec.toml"), initial, dump});
        const QJsonObject report = runPython("gpt_reference.py", {"dump", initial, dump});
        QCOMPARE(report["steps"].toInt(), kSteps);
        for (const char* scalar : {"logits", "loss", "losses"})
            QVERIFY2(report[QLatin1String(scalar)].toDouble(1) < kTolerance, scalar);
        for (const char* tensors : {"gradients", "parameters"}) {
            const QJsonObject worst = report[QLatin1String(tensors)].toObject();
            QVERIFY2(worst["difference"].toDouble(1) < kTolerance,
                     qPrintable(worst["tensor"].toString()));
        }
        QVERIFY(report["lastLoss"].toDouble() < report["firstLoss"].toDouble());
    }

    void wholeLoopEqualsPyTorch_data() {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<int>("batchSize");
        QTest::addColumn<int>("accumulation");
        QTest::newRow("alone") << 1 << 4 << 1;
        QTest::newRow("accumulated") << 1 << 2 << 3;
        QTest::newRow("two ranks, accumulated") << 2 << 1 << 2;
    }

    void wholeLoopEqualsPyTorch() {
        QFETCH(int, ranks);
        QFETCH(int, batchSize);
        QFETCH(int, accumulation);
        writeFile("same.txt", QByteArray(20000, kByte));
        writeFile("same.toml", specFor(m_folder.filePath("same.txt"), batchSize, accumulation));
        const QString runDir = QString("loop-%1-%2").arg(ranks).arg(accumulation);
        torchrun(ranks, {"--spec", m_folder.filePath("same.toml"), "--run-dir",
                         m_folder.filePath(runDir), "--save-initial"});
        const QJsonObject report =
            runPython("gpt_reference.py", {"loop", checkpoint(runDir, 0),
                                           checkpoint(runDir, kSteps), QString::number(kByte)});
        const QJsonObject worst = report["parameters"].toObject();
        QVERIFY2(worst["difference"].toDouble(1) < kTolerance,
                 qPrintable(worst["tensor"].toString()));
        const auto losses = series(journal(runDir, 0), rm::metric::kTrainLoss);
        QCOMPARE(losses.size(), size_t(kSteps));
        for (const auto& [step, loss] : losses) {
            const double expected = report["losses"].toArray().at(int(step) - 1).toDouble();
            QVERIFY2(std::abs(loss - expected) < kTolerance * expected,
                     qPrintable(QString("step %1: %2 not %3").arg(step).arg(loss).arg(expected)));
        }
    }

    void safetensorsReadsCheckpointsWithoutTorch() {
        for (const int step : {0, kSteps}) {
            const QJsonObject seen = runPython("read_checkpoint.py", {checkpoint("alone", step)});
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
        torchrun(2, {"--spec", m_folder.filePath("spec.toml"), "--run-dir",
                     m_folder.filePath("torchrun")});
        const auto norms = series(journal("torchrun", 0), rm::metric::kTrainGradNorm);
        QCOMPARE(norms.size(), size_t(kSteps));
        // Equal norms of the averaged gradients: one world of two, not two worlds of one.
        QVERIFY(norms == series(journal("torchrun", 1), rm::metric::kTrainGradNorm));
        QVERIFY(norms != series(journal("alone", 0), rm::metric::kTrainGradNorm));
        QVERIFY(QFileInfo::exists(checkpoint("torchrun", kSteps) + "/MANIFEST.json"));
    }

private:
    // Embeddings; per block two norms, attention and the feed-forward; the last norm.
    static constexpr int kParameters =
        (256 + 32) * 64 + 2 * (4 * 64 + 4 * 64 * 64 + 4 * 64 + 8 * 64 * 64 + 5 * 64) + 2 * 64;

    static QByteArray specFor(const QString& text, int batchSize, int accumulation) {
        return QString(kSpec).arg(text).arg(batchSize).arg(accumulation).toUtf8();
    }

    void writeFile(const QString& name, const QByteArray& content) {
        QFile file(m_folder.filePath(name));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(content), content.size());
    }

    void torchrun(int ranks, const QStringList& arguments) {
        runProgram(m_python, QStringList{"-m", "torch.distributed.run", "--standalone",
                                         QString("--nproc_per_node=%1").arg(ranks), "--no-python",
                                         m_trainer} +
                                 arguments);
    }

    QString journal(const QString& runDir, int rank) const {
        return m_folder.filePath(runDir + "/journal/" +
                                 QString::fromStdString(rm::rankJournalName(rank)));
    }

    QString checkpoint(const QString& runDir, int step) const {
        return m_folder.filePath(runDir + "/checkpoints/" +
                                 QString("step-%1").arg(step, 9, 10, QChar('0')));
    }

    /// Standard output of a program that must succeed; else the test has failed and it is empty.
    QByteArray runProgram(const QString& program, const QStringList& arguments) {
        QProcess process;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PYTHONPATH", m_scripts + "/peer");
        environment.insert("LD_LIBRARY_PATH", fromEnvironment("RINGMASTER_STAND_INS"));
        environment.insert("PYTHONDONTWRITEBYTECODE", "1");
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(m_folder.path());
        process.start(program, arguments);
        const bool good = process.waitForFinished(120000) &&
                          process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
        if (!good) {
            qWarning("%s", process.readAllStandardError().right(4000).constData());
            QTest::qFail(qPrintable(program + " failed: " + process.errorString()), __FILE__,
                         __LINE__);
            return {};
        }
        return process.readAllStandardOutput();
    }

    QJsonObject runPython(const QString& script, QStringList arguments) {
        arguments.prepend(m_scripts + "/" + script);
        const QByteArray out = runProgram(m_python, arguments);
        qInfo("%s", out.trimmed().constData());
        return QJsonDocument::fromJson(out).object();
    }

    const QString m_python = fromEnvironment("RINGMASTER_PYTHON");
    const QString m_trainer = fromEnvironment("RINGMASTER_BIN") + "/ringmaster-trainer";
    const QString m_tests = fromEnvironment("RINGMASTER_BUILD") + "/tests";
    const QString m_scripts = fromEnvironment("RINGMASTER_SOURCE") + "/tests/python";
    const QString m_missing =
        "no Python 3.11 with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON='%1'; "
        "`packaging/setup --tests` makes one in the cache (python-peer/bin/python3)";
    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestPythonPeer)
#include "tst_python_peer.moc"
