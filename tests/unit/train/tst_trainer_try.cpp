// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/measures.h"
#include "tests/unit/train/picture_files.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"

#include <QDir>
#include <QObject>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kPicturesOfClass = 7;

Ended tryIt(const std::string& checkpoint, const QStringList& words) {
    return runSubcommand(QStringList{"try", QString::fromStdString(checkpoint)} + words);
}

/// The answer of a trainer that had one.
TryAnswer answerOf(const Ended& ended) {
    const auto answer = parseTryAnswer(ended.out.toStdString(), "the answer");
    if (ended.exitCode != 0 || !answer)
        qFatal("%s%s", qPrintable(ended.out), qPrintable(ended.err));
    return *answer;
}

} // namespace

/// Checkpoints of real tiny models, tried by the real trainer.
class TestTrainerTry : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        RunSpec text = tinySpec();
        text.train.steps = 2;
        text.schedule.warmupSteps = 1;
        text.validation.every = 2;
        text.validation.sampleTokens = 12;
        text.validation.prompt = "Once";
        QCOMPARE(m_text.run(text, 1), std::vector<int>{0});
        RunSpec pairs = translationSpec(m_folder.filePath("pairs.tsv"));
        pairs.validation.every = 12;
        QCOMPARE(m_pairs.run(pairs, 1), std::vector<int>{0});
        writeClasses(path("pictures"), {"a", "b", "c"}, kPicturesOfClass);
        QCOMPARE(m_pictures.run(tinyImageSpec(path("pictures")), 1), std::vector<int>{0});
    }

    void textIsContinuedAlikeForTheSameSeed() {
        const QStringList words{"--text", "Once", "--max-tokens", "15", "--seed", "7"};
        const TryAnswer answer = answerOf(tryIt(m_text.checkpoint(2), words));
        QCOMPARE(answer.kind, TryKind::kText);
        QCOMPARE(answer.tokens, 15);
        QCOMPARE(answer.step, 2);
        QVERIFY(!answer.text.empty());
        QVERIFY(answer.device.find("CPU") != std::string::npos);
        QCOMPARE(answerOf(tryIt(m_text.checkpoint(2), words)).text, answer.text);
    }

    void greedyContinuationNeedsNoSeed() {
        const auto greedy = [this](const QString& seed) {
            return answerOf(tryIt(m_text.checkpoint(2), {"--text", "Once", "--temperature", "0",
                                                         "--seed", seed, "--background"}))
                .text;
        };
        QCOMPARE(greedy("1"), greedy("2"));
    }

    void translationIsThatOfTheSample() {
        const auto samples = m_pairs.recordsOf<SampleText>(0);
        QVERIFY(!samples.empty());
        QString source;
        for (const SampleText& sample : samples)
            source += QString::fromStdString(sample.prompt) + '\n';
        const TryAnswer answer = answerOf(tryIt(m_pairs.checkpoint(12), {"--text", source}));
        QCOMPARE(answer.kind, TryKind::kTranslation);
        const QStringList lines = QString::fromStdString(answer.text).split('\n');
        QCOMPARE(lines.size(), static_cast<int>(samples.size()));
        for (int i = 0; i < lines.size(); ++i)
            QCOMPARE(lines[i].toStdString(), samples[static_cast<size_t>(i)].text);
    }

    void pictureGetsItsLikeliestClasses() {
        const QString picture = m_folder.filePath("pictures/b/1.jpg");
        const bool isThere = QFile::exists(picture);
        const QString file = isThere ? picture : m_folder.filePath("pictures/b/1.png");
        const TryAnswer answer = answerOf(tryIt(m_pictures.checkpoint(6), {"--picture", file}));
        QCOMPARE(answer.kind, TryKind::kClasses);
        QCOMPARE(answer.classes.size(), size_t{3});
        double sum = 0;
        for (size_t i = 0; i < answer.classes.size(); ++i) {
            QVERIFY(i == 0 || answer.classes[i].probability <= answer.classes[i - 1].probability);
            sum += answer.classes[i].probability;
        }
        QVERIFY(std::abs(sum - 1) < 1e-3);
        QFile bytes(file);
        QVERIFY(bytes.open(QIODevice::ReadOnly));
        QFile encoded(m_folder.filePath("encoded"));
        QVERIFY(encoded.open(QIODevice::WriteOnly));
        encoded.write(bytes.readAll().toBase64());
        encoded.close();
        const TryAnswer again = answerOf(
            tryIt(m_pictures.checkpoint(6), {"--picture", encoded.fileName(), "--base64"}));
        QCOMPARE(again.classes, answer.classes);
    }

    void whatDoesNotServeGetsOneClearError_data() {
        QTest::addColumn<QString>("checkpoint");
        QTest::addColumn<QStringList>("words");
        QTest::addColumn<QString>("says");
        const QString text = QString::fromStdString(m_text.checkpoint(2));
        const QString pairs = QString::fromStdString(m_pairs.checkpoint(12));
        const QString pictures = QString::fromStdString(m_pictures.checkpoint(6));
        const QString noPicture = m_folder.filePath("pairs.tsv");
        QTest::newRow("a picture for a text model")
            << text << QStringList{"--picture", noPicture} << "the input is a picture";
        QTest::newRow("a text for a picture model")
            << pictures << QStringList{"--text", "Once"} << "classifies pictures";
        QTest::newRow("no picture")
            << pictures << QStringList{"--picture", noPicture} << "read the picture: ";
        QTest::newRow("nothing to translate")
            << pairs << QStringList{"--text", " \n "} << "no text to translate";
        QTest::newRow("a sentence that is too long")
            << pairs << QStringList{"--text", QString("the file ").repeated(200)}
            << "model.context = 64";
        QTest::newRow("gone") << m_folder.filePath("nowhere") << QStringList{"--text", "a"}
                              << "it is not there (any more)";
        QTest::newRow("no Base64")
            << pictures << QStringList{"--picture", noPicture, "--base64"} << "it is not Base64";
    }

    void whatDoesNotServeGetsOneClearError() {
        QFETCH(QString, checkpoint);
        QFETCH(QStringList, words);
        QFETCH(QString, says);
        const Ended ended = tryIt(checkpoint.toStdString(), words);
        QVERIFY(ended.exitCode > 0);
        QVERIFY2(ended.err.startsWith("error: ") && ended.err.contains(says),
                 qPrintable(ended.err));
        QCOMPARE(ended.err.trimmed().count('\n'), 0);
    }

private:
    std::string path(const QString& name) const { return m_folder.filePath(name).toStdString(); }

    const QTemporaryDir m_folder;
    TrainerRun m_text, m_pairs, m_pictures;
};

QTEST_GUILESS_MAIN(TestTrainerTry)
#include "tst_trainer_try.moc"
