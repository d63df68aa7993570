// SPDX-License-Identifier: Apache-2.0
#include "tests/support/requirement.h"
#include "tests/unit/train/rank_ends.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"

#include <QDir>
#include <QObject>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kRecipeMs = 600000;     ///< beside other work
constexpr int kFewestCatalogues = 15; // half of what packaging/debian-packages.txt brings
constexpr float kKnowsNothing = 7.6f; // ln 2000, the recipe's vocabulary

/// The recipe's model on its sentences, for as many steps.
RunSpec recipe(int64_t steps) {
    auto spec = loadRunSpec(qEnvironmentVariable("RINGMASTER_SOURCE").toStdString() +
                            "/resources/recipes/translation-tiny.toml");
    if (!spec)
        qFatal("%s", spec.error().message.c_str());
    spec->train.steps = steps;
    spec->train.epochs = 0;
    spec->train.threads = 1;
    spec->schedule.warmupSteps = steps / 6;
    spec->validation.every = steps / 2;
    spec->checkpoint.every = 0;
    spec->launch.device = "cpu";
    return *spec;
}

float last(const TrainerRun& run, MetricId id) {
    return run.series(0, id).rbegin()->second;
}

} // namespace

/// Real trainers that learn to translate.
class TestTrainerTranslation : public QObject {
    Q_OBJECT
private Q_SLOTS:
    /// Less than a third of the recipe's steps.
    void translationTinyLearnsCatalogues() {
        const RunSpec spec = recipe(240);
        const QDir catalogues(QString::fromStdString(spec.data.train[0]));
        RM_NEEDS("catalogues", catalogues.entryList({"*.mo"}).size() >= kFewestCatalogues,
                 "packaging/debian-packages.txt names packages with Italian messages");
        RunSpec untaught = recipe(2);
        untaught.optimizer.lr = 1e-12;
        untaught.schedule.minLr = 0;
        TrainerRun before, after;
        QCOMPARE(before.run(untaught, 2), both(ExitCode::kOk));
        after.start(spec, 2);
        QCOMPARE(after.finish(kRecipeMs), both(ExitCode::kOk));
        const auto losses = after.series(0, metric::kValidationLoss);
        QCOMPARE(losses.size(), size_t{2});
        const float untaughtLoss = last(before, metric::kValidationLoss);
        QVERIFY2(untaughtLoss > kKnowsNothing - 0.3f, qPrintable(QString::number(untaughtLoss)));
        QVERIFY(losses.at(120) < untaughtLoss - 1);
        QVERIFY(losses.at(240) < losses.at(120) - 0.2f);
        for (const MetricId id : {metric::kValidationBleu, metric::kValidationChrf}) {
            const QString found = QString("%1 after %2").arg(last(after, id)).arg(last(before, id));
            QVERIFY2(last(after, id) > last(before, id) + 0.3f, qPrintable(found));
        }
        QVERIFY(last(after, metric::kValidationWer) < last(before, metric::kValidationWer));
    }

    void samplesAreStoredWithTheirStep() {
        RunSpec spec = translationSpec(pairs());
        spec.validation.every = 6;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), std::vector<int>{0});
        const auto samples = run.recordsOf<SampleText>(0);
        QCOMPARE(samples.size(), size_t{6});
        for (size_t i = 0; i < samples.size(); ++i) {
            QCOMPARE(samples[i].step, i < 3 ? 6 : 12);
            QCOMPARE(samples[i].kind, SampleKind::kTranslation);
            QVERIFY(!samples[i].prompt.empty());
            QVERIFY(!samples[i].reference.empty());
            QVERIFY(samples[i].score >= 0 && samples[i].score <= 100);
            QCOMPARE(samples[i].prompt, samples[i % 3].prompt);
        }
    }

    void brokenLinesAreCountedAndNamed() {
        RunSpec spec = translationSpec(pairs());
        append("no tab\nthree\tcolumns\there\n");
        spec.train.steps = 3;
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), both(ExitCode::kOk));
        std::vector<std::string> reported;
        for (const Event& event : run.recordsOf<Event>(0))
            if (event.code == "pairs-left-out")
                reported.push_back(event.message);
        QCOMPARE(reported.size(), size_t{1});
        for (const char* place : {"pairs.tsv:361: ", "pairs.tsv:362: "})
            QVERIFY2(reported[0].find(place) != std::string::npos, reported[0].c_str());
        QCOMPARE(run.series(0, metric::kDataBadSamples).begin()->second, 2.0f);
        QVERIFY(run.series(1, metric::kDataBadSamples).empty());
    }

    void tooManyBrokenLinesEndTheRunWithOneClearError() {
        const RunSpec spec = translationSpec(pairs());
        append(QByteArray("no tab\n").repeated(10));
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), firstOf(ExitCode::kCorrupt));
        for (const int rank : {0, 1})
            for (const char* part : {"10 of 370", "data.max_bad", "pairs.tsv:361: "})
                QVERIFY2(run.output(rank).contains(part), qPrintable(run.output(rank)));
        QVERIFY(QDir(QString::fromStdString(run.dir()) + "/data").isEmpty());
    }

    void settingsThatDoNotServeAreRefusedOnAllRanks_data() {
        QTest::addColumn<QString>("tokenizer");
        QTest::addColumn<int>("sampleTokens");
        QTest::addColumn<QString>("watch");
        QTest::addColumn<QString>("says");
        QTest::newRow("bytes") << "bytes" << 24 << "loss"
                               << "data.tokenizer";
        QTest::newRow("long samples") << "sentencepiece" << 65 << "loss"
                                      << "model.context = 64";
        QTest::newRow("never measured") << "sentencepiece" << 0 << "bleu"
                                        << "train.watch";
    }

    void settingsThatDoNotServeAreRefusedOnAllRanks() {
        QFETCH(QString, tokenizer);
        QFETCH(int, sampleTokens);
        QFETCH(QString, watch);
        QFETCH(QString, says);
        RunSpec spec = translationSpec(pairs());
        spec.data.tokenizer = tokenizer.toStdString();
        spec.validation.sampleTokens = sampleTokens;
        spec.train.watch = watch.toStdString();
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), both(ExitCode::kUsage));
        for (const int rank : {0, 1})
            QVERIFY2(run.output(rank).contains(says), qPrintable(run.output(rank)));
    }

private:
    QString pairs() const { return m_folder.filePath("pairs.tsv"); }

    void append(const QByteArray& lines) const {
        QFile file(pairs());
        QVERIFY(file.open(QIODevice::Append) && file.write(lines) == lines.size());
    }

    const QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestTrainerTranslation)
#include "tst_trainer_translation.moc"
