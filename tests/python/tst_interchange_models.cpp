// SPDX-License-Identifier: Apache-2.0
#include "shared/exit_code.h"
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/picture_files.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr double kTolerance = 1e-5;
constexpr const char* kCheckpoint = "/step-000000000";
constexpr const char* kTexts = "open the window number 7\tapri la finestra numero 7\n"
                               "è ☺\tnon c'è ☺\n";
constexpr const char* kShapes[] = {"separate", "shared"};

RunSpec resNetSpec(const QString& pictures) {
    RunSpec spec = tinyImageSpec(pictures.toStdString());
    spec.train.steps = 2;
    return spec;
}

} // namespace

/// Translations of transformers and ResNets of torchvision come in, and go out again.
class TestInterchangeModels : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        write("texts.tsv", kTexts);
        for (const char* shape : kShapes)
            train(shape);
        runJobs("marian_reference.py", m_jobs);
        m_jobs = {};
    }

    void translationsOfTransformersComeAndGo_data() {
        QTest::addColumn<QString>("shape");
        QTest::addColumn<QString>("form");
        for (const char* shape : kShapes)
            for (const char* form : {"hf", "parallel.pt"})
                QTest::addRow("%s, %s", shape, form) << QString(shape) << QString(form);
    }

    /// What they compute is compared by one process for all, in the next test.
    void translationsOfTransformersComeAndGo() {
        QFETCH(QString, shape);
        QFETCH(QString, form);
        const QString into = at("from-" + shape + "-" + form);
        QStringList arguments{"import", at(shape) + "/" + form, "--into", into};
        if (form != "hf")
            arguments << "--spec" << at(shape + ".toml");
        const Ended imported = runSubcommand(arguments);
        QVERIFY2(imported.exitCode == 0, qPrintable(imported.err));
        compareLater(shape + " " + form, dumpOf(shape, into + kCheckpoint), at(shape) + "/hf");
        if (form != "hf")
            return;
        const Ended exported = runSubcommand({"export", into + kCheckpoint, into + "-again"});
        QVERIFY2(exported.exitCode == 0, qPrintable(exported.err));
        compareLater(shape + " exported", dumpOf(shape, into + kCheckpoint), into + "-again");
    }

    void importedTranslationsComputeWhatTransformersDoes() {
        const QJsonObject reports = runJobs("marian_reference.py", m_jobs);
        QCOMPARE(reports.size(), 6);
        for (auto it = reports.begin(); it != reports.end(); ++it) {
            const QJsonObject report = it->toObject();
            QVERIFY2(report["logits"].toDouble(1) < kTolerance, qPrintable(it.key()));
            for (const char* same : {"sourceIds", "targetIds", "greedy", "beams", "texts"})
                QVERIFY2(report[QLatin1String(same)].toBool(), qPrintable(it.key() + same));
        }
    }

    void trainingGoesOnFromAnImportedTranslation() {
        TrainerRun run;
        const QString start = at("from-separate-hf") + kCheckpoint;
        RunSpec spec = translationSpec(at("pairs.tsv"));
        spec.train.steps = 3;
        QCOMPARE(run.run(spec, 2, {"--start-from", start}), (std::vector<int>{0, 0}));
        QCOMPARE(run.lastStep(0), int64_t{3});
    }

    void resNetOfTorchvisionComesAndGoes() {
        const QString made = at("resnet.pth");
        const QString spec =
            write("resnet.toml", QByteArray::fromStdString(toToml(resNetSpec(at("pictures")))));
        runJobs("image_peers.py", {{"made", QJsonArray{"make_state_dict", "resnet18", made}}});
        const Ended imported =
            runSubcommand({"import", made, "--into", at("resnet"), "--spec", spec});
        QVERIFY2(imported.exitCode == 0, qPrintable(imported.err));
        const QString checkpoint = at("resnet") + kCheckpoint;
        QCOMPARE(runSubcommand({"export", checkpoint, at("resnet-again")}).exitCode, 0);
        const QJsonObject jobs{
            {"same", QJsonArray{"compare_state_dicts", "resnet18", made, at("resnet-again")}}};
        QVERIFY(runJobs("image_peers.py", jobs)["same"].toBool());

        std::vector<std::string> classes;
        for (char name = 'a'; name < 'a' + 10; ++name)
            classes.emplace_back(1, name);
        writeClasses(at("pictures").toStdString(), classes, 2);
        TrainerRun run;
        QCOMPARE(run.run(resNetSpec(at("pictures")), 1, {"--start-from", checkpoint}),
                 std::vector<int>{0});
        QCOMPARE(run.lastStep(0), int64_t{2});
    }

    void anotherModelsWeightsAreNamed() {
        const QString spec =
            write("other.toml", QByteArray::fromStdString(toToml(resNetSpec(at("pictures")))));
        const Ended refused =
            runSubcommand({"import", at("separate/hf"), "--into", at("refused"), "--spec", spec});
        QCOMPARE(refused.exitCode, static_cast<int>(ExitCode::kUsage));
        QVERIFY2(refused.err.contains("it has no matrix fc.weight"), qPrintable(refused.err));
        QVERIFY(!QDir(at("refused")).exists());
    }

private:
    QString at(const QString& name) const { return m_folder.filePath(name); }

    QString write(const QString& name, const QByteArray& content) const {
        QFile file(at(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            QTest::qFail(qPrintable("write " + name), __FILE__, __LINE__);
        return file.fileName();
    }

    /// A checkpoint whose tokenizers the made-up models of transformers take over.
    void train(const QString& shape) {
        RunSpec spec = translationSpec(at("pairs.tsv"));
        spec.model.shareEmbeddings = shape == "shared";
        spec.train.steps = 5;
        write(shape + ".toml", QByteArray::fromStdString(toToml(spec)));
        TrainerRun& run = m_runs[shape];
        QCOMPARE(run.run(spec, 1), std::vector<int>{0});
        QVERIFY(QDir().mkpath(at(shape)));
        m_jobs[shape] = QJsonArray{"make", QString::fromStdString(run.checkpoint(5)), at(shape)};
    }

    /// What marian_dump makes of a checkpoint; of a file alone it has no tokenizers, so they are
    /// those of the shape's own checkpoint.
    QString dumpOf(const QString& shape, const QString& checkpoint) {
        for (const char* name : {"source.spm", "target.spm"})
            QFile::copy(QString::fromStdString(m_runs[shape].checkpoint(5)) + "/" + name,
                        checkpoint + "/" + name);
        const QString dump = at(QString("dump-%1").arg(m_dumps++));
        runPeer(builtProgram("marian_dump"), {checkpoint, at("texts.tsv"), dump});
        return dump;
    }

    void compareLater(const QString& name, const QString& dump, const QString& folder) {
        m_jobs[name] = QJsonArray{"compare", at("texts.tsv"), folder, dump};
    }

    const QTemporaryDir m_folder;
    std::map<QString, TrainerRun> m_runs; ///< by shape
    QJsonObject m_jobs;
    int m_dumps = 0;
};

QTEST_GUILESS_MAIN(TestInterchangeModels)
#include "tst_interchange_models.moc"
