// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "tests/support/requirement.h"
#include "tests/unit/train/picture_files.h"
#include "tests/unit/train/rank_ends.h"
#include "tests/unit/train/trainer_run.h"

#include <QDir>
#include <QObject>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kPerClass = 7;
constexpr int kRecipeMs = 600000; ///< beside other work

QStringList from(const std::string& checkpoint) {
    return {"--start-from", QString::fromStdString(checkpoint)};
}

std::string sha256Of(const std::string& checkpoint, const std::string& name) {
    const auto manifest = readManifest(checkpoint);
    for (const auto& file : manifest ? manifest->files : decltype(manifest->files)())
        if (file.name == name)
            return file.sha256;
    return {};
}

} // namespace

/// Real trainers over made-up pictures.
class TestTrainerImages : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        QVERIFY(m_folder.isValid());
        writeClasses(path("pictures"), {"a", "b", "c"}, kPerClass);
    }

    void resumedRunIsBitEqual_data() {
        QTest::addColumn<int>("worldSize");
        QTest::newRow("alone") << 1;
        QTest::newRow("two ranks") << 2;
    }

    /// From the middle of an epoch, with readers ahead of both.
    void resumedRunIsBitEqual() {
        QFETCH(int, worldSize);
        RunSpec spec = imageSpec();
        spec.data.workers = 3;
        spec.train.accumulation = 2;
        spec.checkpoint.every = 3;
        spec.validation.every = 2;
        const std::vector<int> ok(static_cast<size_t>(worldSize), 0);
        TrainerRun whole, resumed;
        QCOMPARE(whole.run(spec, worldSize), ok);
        QCOMPARE(resumed.run(spec, worldSize, from(whole.checkpoint(3))), ok);
        for (int rank = 0; rank < worldSize; ++rank) {
            auto expected = whole.series(rank, metric::kTrainLoss);
            std::erase_if(expected, [](const auto& one) { return one.first <= 3; });
            QCOMPARE(resumed.series(rank, metric::kTrainLoss), expected);
        }
        for (const char* name : {"model.safetensors", "optimizer.safetensors"}) {
            const std::string sha = sha256Of(whole.checkpoint(spec.train.steps), name);
            QVERIFY(!sha.empty());
            QCOMPARE(sha256Of(resumed.checkpoint(spec.train.steps), name), sha);
        }
    }

    void readersDoNotChangeTheRun() {
        std::map<int64_t, float> expected;
        for (const int64_t readers : {1, 2, 5}) {
            RunSpec spec = imageSpec();
            spec.data.workers = readers;
            TrainerRun run;
            QCOMPARE(run.run(spec, 1), std::vector<int>{0});
            const auto losses = run.series(0, metric::kTrainLoss);
            QCOMPARE(losses.size(), size_t{6});
            if (expected.empty())
                expected = losses;
            QCOMPARE(losses, expected);
        }
    }

    void pausedRunGoesOnWhereItWas() {
        RunSpec spec = imageSpec();
        spec.data.workers = 2;
        spec.train.steps = 100000;
        spec.schedule.type = "constant";
        TrainerRun run;
        run.start(spec, 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > 2, 60000);
        QVERIFY(run.post({"p", CommandKind::kPause, {}}));
        QCOMPARE(run.finish(), both(ExitCode::kPaused));
        const int64_t paused = run.lastStep(0);
        spec.train.steps = paused + 3;
        QCOMPARE(run.run(spec, 2, from(run.checkpoint(paused))), both(ExitCode::kOk));
        TrainerRun whole;
        QCOMPARE(whole.run(spec, 2), both(ExitCode::kOk));
        for (const int rank : {0, 1})
            QCOMPARE(run.series(rank, metric::kTrainLoss), whole.series(rank, metric::kTrainLoss));
    }

    void synchronizedRanksEqualOneWithTheWholeBatch() {
        RunSpec one = imageSpec();
        one.train.batchSize = 8;
        one.optimizer.type = "sgd"; // AdamW's first steps make much of rounding
        one.optimizer.lr = 0.01;
        TrainerRun alone;
        QCOMPARE(alone.run(one, 1), std::vector<int>{0});
        const auto expected = alone.series(0, metric::kTrainLoss);
        QCOMPARE(expected.size(), size_t{6});
        RunSpec two = one;
        two.train.batchSize = 4;
        two.model.syncBatchNorm = true;
        two.train.activationCheckpointing = true; // the backward pass speaks to all ranks, too
        const double synchronized = largestDifference(two, expected);
        QVERIFY2(synchronized < 1e-4, qPrintable(QString::number(synchronized)));
        two.model.syncBatchNorm = false;
        two.train.activationCheckpointing = false;
        QVERIFY(largestDifference(two, expected) > 1e-2);
    }

    void validationKeepsPicturesAndWhatTheyWereTakenFor() {
        RunSpec spec = imageSpec();
        spec.validation.every = 3;
        spec.validation.pictures = 2;
        spec.data.validation = {path("pictures")};
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), both(ExitCode::kOk));
        const auto samples = run.recordsOf<SampleText>(0);
        QCOMPARE(samples.size(), size_t{4}); // of two validations
        bool wasRight = false;
        int64_t step = 0;
        for (const SampleText& sample : samples) {
            wasRight = wasRight && sample.step == step;
            step = sample.step;
            QCOMPARE(sample.kind, SampleKind::kPicture);
            QVERIFY(sample.step == 3 || sample.step == 6);
            QVERIFY(sample.prompt.starts_with(path("pictures") + "/" + sample.reference + "/"));
            QVERIFY(sample.score > 0 && sample.score <= 1);
            const bool isJpeg = sample.picture.size() > 2 && sample.picture[0] == std::byte{0xff} &&
                                sample.picture[1] == std::byte{0xd8};
            QVERIFY(isJpeg);
            const bool isRight = sample.text == sample.reference;
            QVERIFY(isRight || !wasRight); // misclassified ones come first
            wasRight = isRight;
        }
        const auto matrices = run.recordsOf<ConfusionMatrix>(0);
        QCOMPARE(matrices.size(), size_t{2});
        const std::vector<std::string> names{"a", "b", "c"};
        for (const ConfusionMatrix& matrix : matrices) {
            QCOMPARE(matrix.names, names);
            QCOMPARE(matrix.classes, 3);
            for (size_t of = 0; of < names.size(); ++of) {
                uint32_t all = 0;
                for (size_t takenFor = 0; takenFor < names.size(); ++takenFor)
                    all += matrix.at(of, takenFor);
                QCOMPARE(all, uint32_t{kPerClass}); // those of both ranks
            }
        }
        const float top1 = run.series(0, metric::kValidationTop1).at(6);
        const ConfusionMatrix& last = matrices.back();
        const auto right = static_cast<float>(last.at(0, 0) + last.at(1, 1) + last.at(2, 2));
        QVERIFY(std::abs(right / (3 * kPerClass) - top1) < 1e-5f);
    }

    void noPictureIsKeptWhereNoneIsWanted() {
        RunSpec spec = imageSpec();
        spec.validation.every = 3;
        spec.validation.pictures = 0;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), std::vector<int>{0});
        QVERIFY(run.recordsOf<SampleText>(0).empty());
        QVERIFY(run.recordsOf<ConfusionMatrix>(0).empty());
    }

    void badPicturesAreNamedAndLeftOut() {
        const std::string bad = path("some-bad/b/2.jpg");
        writeClasses(path("some-bad"), {"a", "b", "c"}, kPerClass);
        writeBytes(bad, "no picture");
        RunSpec spec = imageSpec();
        spec.data.train = {path("some-bad")};
        spec.data.validation = {path("pictures")};
        spec.data.maxBad = 0.2;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), std::vector<int>{0});
        std::vector<std::string> named;
        for (const Event& event : run.recordsOf<Event>(0))
            if (event.code == "bad-sample")
                named.push_back(event.message);
        QCOMPARE(named.size(), size_t{1});
        QVERIFY(named[0].find(bad) != std::string::npos);
        QCOMPARE(run.series(0, metric::kDataBadSamples).begin()->second, 1.0f);
    }

    void tooManyBadPicturesEndTheRunWithOneClearError() {
        const std::string bad = path("too-bad/b/2.jpg");
        writeClasses(path("too-bad"), {"a", "b", "c"}, kPerClass);
        writeBytes(bad, "no picture");
        RunSpec spec = imageSpec();
        spec.data.train = {path("too-bad")};
        spec.data.maxBad = 0;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), std::vector<int>{static_cast<int>(ExitCode::kCorrupt)});
        QVERIFY2(run.output(0).contains("data.max_bad") && run.output(0).contains(bad.c_str()),
                 qPrintable(run.output(0)));
    }

    void foldersThatDoNotServeAreRefusedOnAllRanks_data() {
        QTest::addColumn<QString>("train");
        QTest::addColumn<QString>("validation");
        QTest::addColumn<int>("classes");
        QTest::addColumn<QString>("says");
        QTest::newRow("missing") << "nowhere"
                                 << "" << 0 << "nowhere";
        QTest::newRow("no classes") << "pictures/a"
                                    << "" << 0 << "no folders (one a class)";
        QTest::newRow("strange class") << "pictures"
                                       << "other" << 0 << "\"z\"";
        QTest::newRow("too few classes") << "pictures"
                                         << "" << 2 << "model.classes";
    }

    void foldersThatDoNotServeAreRefusedOnAllRanks() {
        QFETCH(QString, train);
        QFETCH(QString, validation);
        QFETCH(int, classes);
        QFETCH(QString, says);
        writeClasses(path("other"), {"z"}, 1);
        RunSpec spec = imageSpec();
        spec.data.train = {path(train)};
        if (!validation.isEmpty())
            spec.data.validation = {path(validation)};
        spec.model.classes = classes;
        TrainerRun run;
        const auto codes = run.run(spec, 2);
        QVERIFY(codes[0] == codes[1] && codes[0] > 0);
        for (const int rank : {0, 1})
            QVERIFY2(run.output(rank).contains(says), qPrintable(run.output(rank)));
    }

    void changedClassesAreRefusedOnResume_data() {
        QTest::addColumn<QStringList>("classes");
        QTest::addColumn<QString>("says");
        QTest::newRow("renamed") << QStringList{"a", "b", "d"}
                                 << R"(number 2 is "c" there and "d" here)";
        QTest::newRow("one more") << QStringList{"a", "b", "c", "d"}
                                  << R"(number 3 is none there and "d" here)";
        QTest::newRow("one in between")
            << QStringList{"a", "aa", "c"} << R"(number 1 is "b" there and "aa" here)";
    }

    void changedClassesAreRefusedOnResume() {
        QFETCH(QStringList, classes);
        QFETCH(QString, says);
        RunSpec spec = imageSpec();
        spec.train.steps = 1;
        TrainerRun before, after;
        QCOMPARE(before.run(spec, 1), std::vector<int>{0});
        const QString folder = QString("changed-") + QTest::currentDataTag();
        std::vector<std::string> names;
        for (const QString& name : classes)
            names.push_back(name.toStdString());
        writeClasses(path(folder), names, kPerClass);
        spec.data.train = {path(folder)};
        QCOMPARE(after.run(spec, 2, from(before.checkpoint(1))), firstOf(ExitCode::kUsage));
        for (const int rank : {0, 1})
            QVERIFY2(after.output(rank).contains(says), qPrintable(after.output(rank)));
    }

    /// Fewer steps than the recipe's, on real pictures.
    void resnetTinyLearnsIcons() {
        const auto recipe = loadRunSpec(qEnvironmentVariable("RINGMASTER_SOURCE").toStdString() +
                                        "/resources/recipes/resnet-tiny.toml");
        QVERIFY2(recipe, recipe ? "" : recipe.error().message.c_str());
        RunSpec spec = *recipe;
        RM_NEEDS("icons", QDir(QString::fromStdString(spec.data.train[0])).exists(),
                 "the Debian package oxygen-icon-theme is not installed");
        spec.train.steps = 50;
        spec.train.threads = 1;
        spec.schedule.warmupSteps = 5;
        spec.validation.every = 25;
        spec.checkpoint.every = 0;
        spec.launch.device = "cpu";
        TrainerRun run;
        run.start(spec, 2);
        QCOMPARE(run.finish(kRecipeMs), both(ExitCode::kOk));
        const auto losses = run.series(0, metric::kValidationLoss);
        QCOMPARE(losses.size(), size_t{2});
        const float top1 = run.series(0, metric::kValidationTop1).at(50);
        qInfo("loss %.3f, then %.3f; %.3f are right", double(losses.at(25)), double(losses.at(50)),
              double(top1));
        QVERIFY(losses.at(50) < losses.at(25));
        QVERIFY(losses.at(50) < 1.9f); // ln 10 = 2.3 knows nothing
        QVERIFY(top1 > 0.42f);         // 0.32 are of one class
        QVERIFY(run.series(0, metric::kTrainImagesPerS).at(50) > 0);
    }

private:
    std::string path(const QString& name) const { return m_folder.filePath(name).toStdString(); }

    RunSpec imageSpec() const { return tinyImageSpec(path("pictures")); }

    /// Of the mean loss of two ranks from a curve, relative.
    static double largestDifference(const RunSpec& spec, const std::map<int64_t, float>& expected) {
        TrainerRun run;
        if (run.run(spec, 2) != both(ExitCode::kOk))
            return 1;
        const auto first = run.series(0, metric::kTrainLoss);
        const auto second = run.series(1, metric::kTrainLoss);
        double largest = 0;
        for (const auto& [step, loss] : expected)
            largest = std::max<double>(
                largest, std::abs((first.at(step) + second.at(step)) / 2 - loss) / loss);
        return largest;
    }

    const QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestTrainerImages)
#include "tst_trainer_images.moc"
