// SPDX-License-Identifier: Apache-2.0
#include "shared/exit_code.h"
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/trainer_run.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-5;
constexpr const char* kCheckpoint = "/step-000000000";

/// Of the models that transformers_gpt.py makes.
RunSpec gptSpec() {
    RunSpec spec = tinySpec();
    spec.model.layers = 2;
    spec.model.heads = 4;
    spec.model.width = 64;
    spec.model.feedForward = 96;
    spec.model.context = 32;
    spec.train.steps = 2;
    spec.schedule.warmupSteps = 0;
    spec.train.batchSize = 2;
    spec.data.train = {"/usr/share/common-licenses"};
    return spec;
}

} // namespace

/// import, export and inspect beside transformers and torch.save().
class TestInterchange : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        const QJsonObject made{{"sums", QJsonArray{"make", m_folder.path()}}};
        m_sums = runJobs("transformers_gpt.py", made)["sums"].toObject();
        QVERIFY(!m_sums.isEmpty());
        QFile spec(at("spec.toml"));
        QVERIFY(spec.open(QIODevice::WriteOnly));
        spec.write(QByteArray::fromStdString(toToml(gptSpec())));
    }

    void everyFormBecomesTheSameCheckpoint_data() {
        QTest::addColumn<double>("tolerance");
        for (const char* exact :
             {"hf", "sharded", "bin", "plain.safetensors", "double.safetensors", "tied.pt",
              "legacy.pth", "parallel.pt", "headless.pt", "nested.pt"})
            QTest::newRow(exact) << 1e-9;
        QTest::newRow("half.safetensors") << 1e-2;
    }

    void everyFormBecomesTheSameCheckpoint() {
        QFETCH(double, tolerance);
        const QString form = QTest::currentDataTag();
        const QString into = at("from-" + form);
        const Ended imported = trainer({"import", at(form), "--into", into, "--spec", specFile()});
        QVERIFY2(imported.exitCode == 0, qPrintable(imported.err));
        QCOMPARE(imported.out.trimmed(), into + kCheckpoint);
        const QJsonObject seen = inspect(into + kCheckpoint);
        QCOMPARE(seen["kind"].toString(), QString("checkpoint"));
        QCOMPARE(seen["step"].toInt(-1), 0);
        QCOMPARE(seen["weights"].toArray().size(), m_sums.size());
        for (const QJsonValue& weight : seen["weights"].toArray()) {
            const double sum = m_sums[weight["name"].toString()].toDouble(1e30);
            QVERIFY2(std::abs(weight["sum"].toDouble() - sum) < tolerance,
                     qPrintable(weight["name"].toString()));
            QCOMPARE(weight["dtype"].toString(), QString("F32"));
        }
    }

    void whatComesAndGoesComputesWhatTransformersDoes() {
        QVERIFY(trainer({"import", at("nested.pt"), "--into", at("nested"), "--spec", specFile()})
                    .exitCode == 0);
        QVERIFY(trainer({"import", at("hf"), "--into", at("again")}).exitCode == 0);
        const Ended exported = trainer({"export", at("again") + kCheckpoint, at("exported")});
        QVERIFY2(exported.exitCode == 0, qPrintable(exported.err));
        QVERIFY(exported.out.contains("exported/model.safetensors"));
        TrainerRun run;
        QCOMPARE(run.run(gptSpec(), 1), std::vector<int>{0});
        const QString trained = QString::fromStdString(run.checkpoint(2));
        const QJsonObject jobs{
            {"imported", QJsonArray{"compare", at("hf"), dumpOf(at("nested") + kCheckpoint)}},
            {"exported",
             QJsonArray{"logits", at("exported"), dumpOf(at("again") + kCheckpoint), at("hf")}},
            {"trained", QJsonArray{"compare", trained, dumpOf(trained)}}};
        const QJsonObject reports = runJobs("transformers_gpt.py", jobs);
        for (const QString& name : jobs.keys())
            QVERIFY2(reports[name].toObject()["logits"].toDouble(1) < kTolerance, qPrintable(name));
        QVERIFY(reports["exported"].toObject()["weightsEqual"].toBool());
        const QJsonObject sampling = reports["imported"].toObject()["sampling"].toObject();
        QCOMPARE(sampling.size(), 8);
        for (const QString& setting : sampling.keys())
            QVERIFY2(sampling[setting].toDouble(1) < 1e-6, qPrintable(setting));
    }

    void importedModelKeepsWhereItsTextsBeginAndEnd() {
        QVERIFY(trainer({"import", at("hf"), "--into", at("ends")}).exitCode == 0);
        QFile config(at("ends") + kCheckpoint + "/config.json");
        QVERIFY(config.open(QIODevice::ReadOnly));
        const QJsonObject read = QJsonDocument::fromJson(config.readAll()).object();
        QCOMPARE(read["bos_token_id"], QJsonValue(0));
        QCOMPARE(read["eos_token_id"], QJsonValue(1));
    }

    void exportedFileHoldsTheWeightsInTheTypeAskedFor() {
        QVERIFY(trainer({"import", at("hf"), "--into", at("typed")}).exitCode == 0);
        const QString file = at("typed.safetensors");
        QVERIFY(trainer({"export", at("typed") + kCheckpoint, file, "--precision", "bfloat16"})
                    .exitCode == 0);
        const QJsonObject seen = inspect(file);
        QCOMPARE(seen["weights"].toArray().size(), m_sums.size());
        QCOMPARE(seen["weights"].toArray().first()["dtype"].toString(), QString("BF16"));
        const Ended twice = trainer({"export", at("typed") + kCheckpoint, file});
        QCOMPARE(twice.exitCode, static_cast<int>(ExitCode::kUsage));
        QVERIFY(twice.err.contains("exists already"));
    }

    void trainingGoesOnFromAnImport() {
        QVERIFY(trainer({"import", at("tied.pt"), "--into", at("start"), "--spec", specFile()})
                    .exitCode == 0);
        TrainerRun run;
        QCOMPARE(run.run(gptSpec(), 2, {"--start-from", at("start") + kCheckpoint}),
                 (std::vector<int>{0, 0}));
        QCOMPARE(run.lastStep(0), int64_t{2});
    }

    void aRunStartsFromEveryFormWithoutImport() {
        for (const char* form : {"hf", "sharded", "nested.pt", "plain.safetensors"}) {
            RunSpec spec = gptSpec();
            spec.model.startFrom = at(form).toStdString();
            TrainerRun run;
            QCOMPARE(run.run(spec, 1, {"--save-initial"}), std::vector<int>{0});
            const QJsonObject seen = inspect(QString::fromStdString(run.checkpoint(0)));
            QCOMPARE(seen["weights"].toArray().size(), m_sums.size());
            for (const QJsonValue& weight : seen["weights"].toArray())
                QVERIFY2(std::abs(weight["sum"].toDouble() -
                                  m_sums[weight["name"].toString()].toDouble(1e30)) < 1e-9,
                         qPrintable(QString(form) + " " + weight["name"].toString()));
        }
    }

    void whatDoesNotFitIsNamedInFull() {
        const Ended outcome =
            trainer({"import", at("broken.pt"), "--into", at("broken"), "--spec", specFile()});
        QCOMPARE(outcome.exitCode, static_cast<int>(ExitCode::kUsage));
        for (const char* name : {"missing: transformer.wpe.weight", "transformer.extra",
                                 "transformer.ln_f.bias (it is (63), the model's (64))"})
            QVERIFY2(outcome.err.contains(name), qPrintable(outcome.err));
        QVERIFY(!QFileInfo::exists(at("broken") + kCheckpoint));
    }

    void hostileFilesDoNoHarm_data() {
        QTest::addColumn<int>("exitCode");
        QTest::newRow("executes.pt") << static_cast<int>(ExitCode::kUsage);
        QTest::newRow("swells.pt") << static_cast<int>(ExitCode::kExhausted);
        QTest::newRow("script.pt") << static_cast<int>(ExitCode::kUsage);
        QTest::newRow("protocol4.pt") << static_cast<int>(ExitCode::kCorrupt);
        QTest::newRow("noise.pt") << static_cast<int>(ExitCode::kCorrupt);
    }

    void hostileFilesDoNoHarm() {
        QFETCH(int, exitCode);
        const Ended outcome = trainer({"inspect", at(QTest::currentDataTag())});
        QVERIFY2(outcome.exitCode == exitCode, qPrintable(outcome.err));
        QVERIFY(outcome.err.contains(QTest::currentDataTag()));
        QVERIFY(!QFileInfo::exists(at("executed")));
        QVERIFY(QDir(m_scratch.path()).isEmpty());
    }

private:
    QString at(const QString& name) const { return m_folder.filePath(name); }
    QString specFile() const { return at("spec.toml"); }

    Ended trainer(const QStringList& arguments) const {
        return runSubcommand(arguments, m_scratch.path());
    }

    QJsonObject inspect(const QString& path) {
        return QJsonDocument::fromJson(trainer({"inspect", path, "--json"}).out.toUtf8()).object();
    }

    QString dumpOf(const QString& checkpoint) {
        const QString dump = at(QString("dump-%1").arg(m_dumps++));
        runPeer(builtProgram("gpt_dump"), {specFile(), checkpoint, dump});
        return dump;
    }

    QTemporaryDir m_folder;
    QTemporaryDir m_scratch;
    QJsonObject m_sums; ///< of the made-up weights
    int m_dumps = 0;
};

QTEST_GUILESS_MAIN(TestInterchange)
#include "tst_interchange.moc"
