// SPDX-License-Identifier: Apache-2.0
#include "tests/python/peer_process.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/picture_files.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

/// What tokenizers stumble over, with control pieces that are text here.
const QString kText = QString::fromUtf8("The  license,\n\tits <s> and </s>: \"è\" ☺\n\n  <0x41> ");

/// Whoever loads Marian's tokenizer without sacremoses is told to install it, whatever the files.
const QString kOfTheReader = "UserWarning: Recommended: pip install sacremoses.";

} // namespace

/// Who loads what the trainer saved is not warned of anything, and need not say anything.
class TestQuietLoading : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        RM_NEEDS("python", !peerPython().isEmpty(),
                 "no Python with packaging/requirements/python-peer.txt at RINGMASTER_PYTHON");
        RunSpec bytes = tinySpec();
        bytes.model.context = 128; // holds kText
        train("bytes", bytes, {"gpt", kText});
        RunSpec greedy = bytes;
        greedy.validation.temperature = 0;
        train("greedy", greedy, {"gpt", kText});
        RunSpec pieces = bytes;
        pieces.data.tokenizer = "sentencepiece";
        pieces.data.vocabSize = 500;
        pieces.validation.temperature = 0.6;
        pieces.validation.topK = 7;
        pieces.validation.topP = 0.9;
        train("sentencepiece", pieces, {"gpt", kText});
        RunSpec pairs = translationSpec(m_folder.filePath("pairs.tsv"));
        train("translation", pairs, {"translation", "open the window"});
        pairs.model.shareEmbeddings = true;
        train("translation, shared", pairs, {"translation", "open the window"});
        const std::string pictures = m_folder.filePath("pictures").toStdString();
        writeClasses(pictures, {"a", "b"}, 20);
        train("resnet", tinyImageSpec(pictures), {"resnet"});
        m_reports = runJobs("quiet_loading.py", m_jobs);
        QCOMPARE(m_reports.size(), m_jobs.size());
    }

    void nothingIsSaid_data() {
        QTest::addColumn<QString>("name");
        for (const char* name :
             {"bytes", "greedy", "sentencepiece", "translation", "translation, shared", "resnet"})
            QTest::newRow(name) << QString(name);
    }

    void nothingIsSaid() {
        QFETCH(QString, name);
        const QJsonObject report = m_reports[name].toObject();
        QVERIFY(report.contains("said"));
        for (const QJsonValue& line : report["said"].toArray())
            QVERIFY2(line.toString() == kOfTheReader, qPrintable(line.toString()));
    }

    void tokenizersGiveTheIdsThatWereLearnt_data() {
        QTest::addColumn<QString>("name");
        for (const char* name : {"bytes", "sentencepiece"})
            QTest::newRow(name) << QString(name);
    }

    void tokenizersGiveTheIdsThatWereLearnt() {
        QFETCH(QString, name);
        const QJsonObject report = m_reports[name].toObject();
        QVERIFY(!report["ids"].toArray().isEmpty());
        QCOMPARE(report["ids"].toArray(), report["expectedIds"].toArray());
        QVERIFY(report["decoded"].toBool());
    }

    void textIsWrittenWithTheSettingsOfTheSpec() {
        const QJsonObject report = m_reports["sentencepiece"].toObject();
        QCOMPARE(report["written"].toInt(), 5);
        QCOMPARE(report["temperature"].toDouble(), 0.6);
        QCOMPARE(report["topK"].toInt(), 7);
        QCOMPARE(report["topP"].toDouble(), 0.9);
    }

private:
    /// Some steps; `job` is done with their checkpoint.
    void train(const QString& name, RunSpec spec, const QStringList& job) {
        spec.train.steps = 5;
        TrainerRun& run = m_runs[name];
        QCOMPARE(run.run(spec, 1), std::vector<int>{0});
        QJsonArray arguments = QJsonArray::fromStringList(job);
        arguments.insert(1, QString::fromStdString(run.checkpoint(5)));
        m_jobs[name] = arguments;
    }

    const QTemporaryDir m_folder;
    std::map<QString, TrainerRun> m_runs;
    QJsonObject m_jobs;
    QJsonObject m_reports; ///< by the same names
};

QTEST_GUILESS_MAIN(TestQuietLoading)
#include "tst_quiet_loading.moc"
