// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "shared/exit_code.h"
#include "tests/unit/train/rank_ends.h"
#include "tests/unit/train/trainer_run.h"
#include "tests/unit/train/translation_run.h"

#include <QDir>
#include <QFile>
#include <QObject>
#include <QTest>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <set>

using namespace rm;
using namespace rm::test;

namespace {

QStringList from(const std::string& checkpoint) {
    return {"--start-from", QString::fromStdString(checkpoint)};
}

const std::vector<int> kAlone{0};
const std::vector<int> kBoth{0, 0};

/// Losses of all ranks, by step.
std::vector<std::map<int64_t, float>> losses(const TrainerRun& run, int worldSize) {
    std::vector<std::map<int64_t, float>> all;
    for (int rank = 0; rank < worldSize; ++rank)
        all.push_back(run.series(rank, metric::kTrainLoss));
    return all;
}

/// Changes one bit.
void damage(const std::string& path) {
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(file.size() / 2));
    char byte = 0;
    QVERIFY(file.getChar(&byte) && file.seek(file.size() / 2));
    QVERIFY(file.putChar(static_cast<char>(byte ^ 1)));
}

/// "60 of 1", by step and attempt: those that are there.
QStringList checkpointsOf(const TrainerRun& run) {
    QStringList all;
    for (const CheckpointEntry& entry :
         listCheckpoints(run.dir() + "/checkpoints").value_or(std::vector<CheckpointEntry>()))
        all << QString("%1 of %2").arg(entry.manifest.step).arg(entry.manifest.attempt);
    return all;
}

/// (step, text) of what was sampled after a step.
std::vector<std::pair<int64_t, std::string>> sampleTexts(const TrainerRun& run, int64_t after) {
    std::vector<std::pair<int64_t, std::string>> texts;
    for (const SampleText& sample : run.recordsOf<SampleText>(0))
        if (sample.step > after)
            texts.emplace_back(sample.step, sample.text);
    return texts;
}

} // namespace

class TestTrainerResume : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void resumedRunIsBitEqual_data() {
        QTest::addColumn<bool>("translates");
        QTest::addColumn<int>("worldSize");
        QTest::newRow("alone") << false << 1;
        QTest::newRow("two ranks") << false << 2;
        QTest::newRow("translation, alone") << true << 1;
        QTest::newRow("translation, two ranks") << true << 2;
    }

    void resumedRunIsBitEqual() {
        QFETCH(bool, translates);
        QFETCH(int, worldSize);
        const QTemporaryDir folder;
        RunSpec spec = translates ? translationSpec(folder.filePath("pairs.tsv")) : tinySpec();
        spec.data.workers = translates ? 2 : 0;
        spec.model.dropout = 0.2;
        spec.train.steps = 20;
        spec.train.accumulation = 2;
        spec.checkpoint.every = 8;
        spec.validation.every = 5;
        const std::vector<int> ok(static_cast<size_t>(worldSize), 0);

        TrainerRun whole;
        QCOMPARE(whole.run(spec, worldSize), ok);
        TrainerRun resumed;
        QCOMPARE(resumed.run(spec, worldSize, from(whole.checkpoint(8))), ok);

        QCOMPARE(sampleTexts(resumed, 8), sampleTexts(whole, 8));
        QVERIFY(!sampleTexts(resumed, 8).empty());
        const auto expected = losses(whole, worldSize);
        const auto actual = losses(resumed, worldSize);
        for (int rank = 0; rank < worldSize; ++rank) {
            QCOMPARE(actual[rank].size(), 12u);
            for (const auto& [step, loss] : actual[rank])
                QCOMPARE(std::bit_cast<uint32_t>(loss),
                         std::bit_cast<uint32_t>(expected[rank].at(step)));
        }
        const auto sha = [](const TrainerRun& run) {
            const auto manifest = readManifest(run.checkpoint(20));
            for (const auto& file : manifest->files)
                if (file.name == "optimizer.safetensors")
                    return file.sha256;
            return std::string();
        };
        QVERIFY(!sha(whole).empty());
        QCOMPARE(sha(resumed), sha(whole));
    }

    void aDamagedNewestCheckpointIsPassedOverByName() {
        RunSpec spec = tinySpec();
        spec.train.steps = 15;
        spec.checkpoint.every = 5;
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), kBoth);
        spec.train.steps = 20;
        const QStringList newest = from(run.checkpoint(15)) + QStringList{"--fall-back"};
        damage(run.checkpoint(15) + "/optimizer.safetensors");
        QCOMPARE(run.run(spec, 2, newest), kBoth);
        const auto started = run.recordsOf<AttemptStarted>(1);
        QCOMPARE(started.back().startStep, 10);
        QCOMPARE(started.back().startFrom, run.checkpoint(10));
        std::vector<Event> events;
        for (const Event& event : run.recordsOf<Event>(0))
            if (event.code == kCheckpointDamagedEvent)
                events.push_back(event);
        QCOMPARE(events.size(), size_t(1));
        QCOMPARE(events[0].step, 15);
        QCOMPARE(QString::fromStdString(events[0].message),
                 QString("checkpoint step 15 is damaged (optimizer.safetensors: its SHA-256 is not "
                         "the one in the manifest); resumed from step 10"));
        QVERIFY2(checkpointsOf(run).contains("15 of 2"), qPrintable(checkpointsOf(run).join(' ')));

        // By name it is that one or none.
        QCOMPARE(run.run(spec, 1, from(run.checkpoint(15))),
                 std::vector<int>{static_cast<int>(ExitCode::kCorrupt)});
    }

    void otherDataThanBeforeIsTold_data() {
        QTest::addColumn<bool>("changes");
        QTest::newRow("the same") << false;
        QTest::newRow("changed") << true;
    }

    void otherDataThanBeforeIsTold() {
        QFETCH(bool, changes);
        const QTemporaryDir folder;
        const QString text = folder.filePath("text.txt");
        QVERIFY(QFile::copy("/usr/share/common-licenses/Artistic", text));
        QVERIFY(QFile::setPermissions(text, QFile::ReadOwner | QFile::WriteOwner));
        RunSpec spec = tinySpec();
        spec.data.train = {text.toStdString()};
        spec.train.steps = 5;
        spec.checkpoint.every = 5;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), kAlone);
        if (changes) {
            QFile file(text);
            QVERIFY(file.open(QIODevice::Append) && file.write("Another page.\n") > 0);
        }
        spec.train.steps = 10;
        QCOMPARE(run.run(spec, 1, from(run.checkpoint(5))), kAlone);
        const auto events = run.recordsOf<Event>(0);
        QCOMPARE(std::ranges::count(events, "data-changed", &Event::code), changes ? 1 : 0);
    }

    /// Token shards of one length.
    void otherShardsThanBeforeAreTold() {
        const QTemporaryDir folder;
        const QString shard = folder.filePath("own.rmtok");
        const auto write = [&](int shift) { // as trainer/train/data/text/FORMAT.md has it
            QByteArray bytes("RMTOKENS");
            const auto append = [&bytes](auto value) {
                bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
            };
            append(uint32_t{1});
            append(uint32_t{2});
            append(uint64_t{4000});
            append(uint64_t{256});
            for (int at = 0; at < 4000; ++at)
                append(static_cast<uint16_t>((at * 7 + shift) % 251));
            QFile file(shard);
            QVERIFY(file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size());
        };
        write(0);
        RunSpec spec = tinySpec();
        spec.data.train = spec.data.validation = {shard.toStdString()};
        spec.train.steps = 5;
        spec.checkpoint.every = 5;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), kAlone);
        const auto told = [&] {
            const auto events = run.recordsOf<Event>(0);
            return std::ranges::count(events, "data-changed", &Event::code);
        };
        spec.train.steps = 10;
        QCOMPARE(run.run(spec, 1, from(run.checkpoint(5))), kAlone);
        QCOMPARE(told(), 0);
        write(1);
        spec.train.steps = 15;
        QCOMPARE(run.run(spec, 1, from(run.checkpoint(10))), kAlone);
        QCOMPARE(told(), 1);
    }

    void whenNoCheckpointIsWholeThatIsTheError() {
        RunSpec spec = tinySpec();
        spec.train.steps = 10;
        spec.checkpoint.every = 5;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), kAlone);
        for (const int64_t step : {5, 10})
            damage(run.checkpoint(step) + "/model.safetensors");
        QCOMPARE(run.run(spec, 2, from(run.checkpoint(10)) + QStringList{"--fall-back"}),
                 firstOf(ExitCode::kCorrupt));
        QVERIFY2(
            run.output(0).contains("no checkpoint is whole; step-000000010: model.safetensors"),
            qPrintable(run.output(0)));
        QVERIFY2(run.output(0).contains("; step-000000005: model.safetensors"),
                 qPrintable(run.output(0)));
    }

    void aFolderChosenByHandBelongsToTheRunThatUsesIt() {
        const QTemporaryDir folder;
        RunSpec spec = tinySpec();
        spec.train.steps = 4;
        spec.checkpoint.directory = folder.path().toStdString();
        QVERIFY(QDir(folder.path()).mkdir("tmp-mine"));
        TrainerRun first;
        QCOMPARE(first.run(spec, 1), kAlone);
        QVERIFY(QDir(folder.filePath("tmp-mine")).exists());

        spec.name = "other";
        TrainerRun second;
        second.useRunId("second");
        QCOMPARE(second.run(spec, 2), firstOf(ExitCode::kUsage));
        QVERIFY2(second.output(0).contains("the folder belongs to the run \"tiny\""),
                 qPrintable(second.output(0)));
        spec.train.steps = 6;
        const QString last = folder.filePath("step-000000004");
        QCOMPARE(second.run(spec, 1, from(last.toStdString())), kAlone);
    }

    /// Weights that do not move are equal bit by bit however many ranks hold them.
    void samplesFollowFromWeightsSeedAndStep() {
        RunSpec spec = tinySpec();
        spec.train.steps = 3;
        spec.optimizer.lr = 0;
        spec.validation.every = 1;
        spec.validation.sampleTokens = 60;
        const auto made = [](const RunSpec& requested, int ranks) {
            TrainerRun run;
            run.run(requested, ranks);
            return sampleTexts(run, 0);
        };
        const auto alone = made(spec, 1);
        QCOMPARE(alone.size(), 3u);
        QVERIFY(alone[0].second != alone[1].second);
        QCOMPARE(made(spec, 2), alone);

        RunSpec greedy = spec;
        greedy.validation.temperature = 0;
        const auto likeliest = made(greedy, 1);
        QCOMPARE(likeliest[0].second, likeliest[1].second);
        RunSpec oneOfOne = spec;
        oneOfOne.validation.topK = 1;
        QCOMPARE(made(oneOfOne, 1), likeliest);
        RunSpec nucleus = spec;
        nucleus.validation.topP = 0;
        QCOMPARE(made(nucleus, 1), likeliest);
    }

    void killedRunGoesOnFromItsLastCheckpoint() {
        RunSpec spec = tinySpec();
        spec.model.dropout = 0.2;
        spec.train.steps = 4000;
        spec.checkpoint.every = 10;
        TrainerRun run;
        run.start(spec, 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(0) > 25, 30000);
        run.rank(0).kill();
        run.rank(1).kill();
        run.finish();
        const auto saved = listCheckpoints(run.dir() + "/checkpoints");
        QVERIFY(saved && !saved->empty());
        const int64_t step = saved->back().manifest.step;
        const auto before = losses(run, 2);
        spec.train.steps = step + 20;
        QCOMPARE(run.run(spec, 2, from(saved->back().path)), kBoth);

        const auto after = losses(run, 2);
        QCOMPARE(after[0].rbegin()->first, step + 20);
        // The cosine ends elsewhere now, so only the first step after must agree.
        for (int rank = 0; rank < 2; ++rank)
            if (before[rank].contains(step + 1))
                QCOMPARE(after[rank].at(step + 1), before[rank].at(step + 1));
        const auto attempts = run.recordsOf<AttemptStarted>(1);
        QCOMPARE(attempts.size(), 2u);
        QCOMPARE(attempts[1].attempt, 2);
        QCOMPARE(attempts[1].startStep, step);
    }

    void twoRanksEqualOneWithTheSameGlobalBatch() {
        RunSpec one = tinySpec();
        one.train.accumulation = 4;
        RunSpec two = tinySpec();
        two.train.accumulation = 2;
        TrainerRun alone;
        QCOMPARE(alone.run(one, 1), kAlone);
        TrainerRun together;
        QCOMPARE(together.run(two, 2), kBoth);
        const auto expected = losses(alone, 1)[0];
        const auto both = losses(together, 2);
        QCOMPARE(both[0].size(), expected.size());
        for (const auto& [step, loss] : expected) {
            const float mean = (both[0].at(step) + both[1].at(step)) / 2;
            QVERIFY2(std::abs(mean - loss) <= 1e-5f * loss,
                     qPrintable(QString("step %1: %2, %3").arg(step).arg(mean).arg(loss)));
        }
        QCOMPARE(together.series(0, metric::kTrainGradNorm),
                 together.series(1, metric::kTrainGradNorm));
    }

    void anotherWorldSizeGoesOnWithTheSameData() {
        RunSpec spec = tinySpec();
        spec.checkpoint.every = 10;
        TrainerRun whole;
        QCOMPARE(whole.run(spec, 2), kBoth);
        RunSpec alone = spec;
        alone.train.accumulation = 2;
        TrainerRun resumed;
        QCOMPARE(resumed.run(alone, 1, from(whole.checkpoint(10))), kAlone);
        const auto both = losses(whole, 2);
        const auto after = losses(resumed, 1)[0];
        QCOMPARE(after.size(), 10u);
        for (const auto& [step, loss] : after) {
            const float mean = (both[0].at(step) + both[1].at(step)) / 2;
            QVERIFY(std::abs(mean - loss) <= 1e-5f * loss);
        }
        const auto events = resumed.recordsOf<Event>(0);
        QCOMPARE(events.size(), 1u);
        QCOMPARE(events[0].code, "random-reseeded");
    }

    void damagedCheckpointIsRefusedOnAllRanks() {
        RunSpec spec = tinySpec();
        spec.train.steps = 4;
        TrainerRun whole;
        QCOMPARE(whole.run(spec, 1), kAlone);
        QFile model(QString::fromStdString(whole.checkpoint(4) + "/model.safetensors"));
        QVERIFY(model.open(QIODevice::ReadWrite));
        QVERIFY(model.seek(model.size() - 5));
        model.write("x");
        model.close();
        TrainerRun resumed;
        QCOMPARE(resumed.run(spec, 2, from(whole.checkpoint(4))), firstOf(ExitCode::kCorrupt));
        QVERIFY2(resumed.output(1).contains("model.safetensors"), qPrintable(resumed.output(1)));
    }

    void checkpointOfAnotherModelIsRefused() {
        RunSpec spec = tinySpec();
        spec.train.steps = 4;
        TrainerRun whole;
        QCOMPARE(whole.run(spec, 1), kAlone);
        spec.model.width = 64;
        TrainerRun resumed;
        QCOMPARE(resumed.run(spec, 1, from(whole.checkpoint(4))),
                 std::vector<int>{static_cast<int>(ExitCode::kUsage)});
        QVERIFY2(resumed.output(0).contains("transformer.wte.weight"),
                 qPrintable(resumed.output(0)));
    }

    void onlyTheLastAndTheBestAreKept() {
        RunSpec spec = tinySpec();
        spec.checkpoint.every = 3;
        spec.checkpoint.keepLast = 2;
        spec.checkpoint.keepBest = true;
        spec.validation.every = 3;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), kAlone);
        const auto kept = listCheckpoints(run.dir() + "/checkpoints");
        QVERIFY(kept && kept->size() >= 2 && kept->size() <= 3);
        QCOMPARE(kept->back().manifest.step, 20);
        QCOMPARE(kept->back().manifest.reason, "end");
        const auto saved = run.recordsOf<CheckpointSaved>(0).size();
        const auto removed = run.recordsOf<CheckpointRemoved>(0).size();
        QCOMPARE(saved, 7u);
        QCOMPARE(saved - removed, kept->size());
    }

    // 60 and 76 are there, the run goes on from 60 and ends at 62.
    void restoredCheckpointIsKept() {
        RunSpec spec = tinySpec();
        spec.checkpoint.every = 20;
        spec.checkpoint.keepLast = 2;
        spec.train.steps = 76;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), kAlone);
        QCOMPARE(checkpointsOf(run), (QStringList{"60 of 1", "76 of 1"}));
        spec.train.steps = 62;
        QCOMPARE(run.run(spec, 1, from(run.checkpoint(60))), kAlone);
        QCOMPARE(checkpointsOf(run), (QStringList{"60 of 1", "62 of 2", "76 of 1"}));
        // What comes next counts 60 and 62, and neither takes nor removes 76.
        spec.train.steps = 100;
        QCOMPARE(run.run(spec, 1, from(run.checkpoint(62))), kAlone);
        QCOMPARE(checkpointsOf(run), (QStringList{"76 of 1", "80 of 3", "100 of 3"}));
    }

    void abandonedCheckpointIsNotOverwritten() {
        RunSpec spec = tinySpec(); // keep_last 3, as a person has it
        spec.checkpoint.every = 10;
        spec.train.steps = 100;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), kAlone);
        QCOMPARE(checkpointsOf(run), (QStringList{"80 of 1", "90 of 1", "100 of 1"}));
        const auto before = readManifest(run.checkpoint(100));
        spec.train.steps = 120;
        QCOMPARE(run.run(spec, 1, from(run.checkpoint(80))), kAlone);
        QCOMPARE(checkpointsOf(run),
                 (QStringList{"90 of 1", "100 of 1", "100 of 2", "110 of 2", "120 of 2"}));
        QVERIFY(verifyCheckpoint(run.checkpoint(100)));
        QVERIFY(readManifest(run.checkpoint(100))->files == before->files);
        const auto newer = readManifest(run.checkpoint(100) + "-attempt-2");
        QVERIFY(newer && newer->line == std::vector<Manifest::Ancestor>({{1, 80}}));
    }

    void bestIsWhatWasValidated() {
        RunSpec spec = tinySpec();
        spec.checkpoint.every = 10;
        spec.validation.every = 7;
        spec.train.steps = 40;
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), kBoth);
        const auto validated = run.series(0, metric::kValidationLoss);
        double best = INFINITY;
        std::set<int64_t> bestSteps;
        for (const auto& [step, loss] : validated)
            if (loss < best) {
                best = loss;
                bestSteps.insert(step);
            }
        QVERIFY(bestSteps.size() > 1); // it learns
        std::set<int64_t> markedSteps;
        for (const CheckpointSaved& saved : run.recordsOf<CheckpointSaved>(0)) {
            const auto loss = validated.find(saved.step);
            QCOMPARE(std::isnan(saved.validationLoss), loss == validated.end());
            QVERIFY(loss == validated.end() || float(saved.validationLoss) == loss->second);
            QVERIFY(saved.reason != "best" || saved.best);
            if (saved.best)
                markedSteps.insert(saved.step);
        }
        QVERIFY(markedSteps == bestSteps);
        const auto kept = listCheckpoints(run.dir() + "/checkpoints");
        const CheckpointEntry* found = bestOf(*kept, lineOf(*kept, 1, {}));
        QVERIFY(found);
        QCOMPARE(found->manifest.step, *bestSteps.rbegin());
        QCOMPARE(std::ranges::count(*kept, true,
                                    [](const CheckpointEntry& each) {
                                        return each.manifest.best && each.manifest.reason == "best";
                                    }),
                 std::ptrdiff_t(found->manifest.reason == "best"));
    }

    void bestOfAnAbandonedLineIsNotTheRunsBest() {
        RunSpec spec = tinySpec();
        spec.checkpoint.every = 10;
        spec.validation.every = 10;
        spec.train.steps = 30;
        TrainerRun run;
        QCOMPARE(run.run(spec, 1), kAlone);
        spec.optimizer.lr = 0; // as good as at 10, never better
        spec.train.steps = 21;
        QCOMPARE(run.run(spec, 1, from(run.checkpoint(10))), kAlone);
        const auto all = listCheckpoints(run.dir() + "/checkpoints");
        const CheckpointEntry* best = bestOf(*all, lineOf(*all, 2, run.checkpoint(10)));
        QVERIFY(best);
        QCOMPARE(best->manifest.step, 10);
    }

    void commandedValidationIsSavedToo() {
        RunSpec spec = tinySpec();
        spec.train.steps = 100000;
        TrainerRun run;
        run.start(spec, 2);
        QVERIFY(run.post({"v", CommandKind::kValidate, {}}));
        const auto applied = run.applied("v");
        QVERIFY(applied && applied->ok);
        const auto isSaved = [&] {
            const auto saved = run.recordsOf<CheckpointSaved>(0);
            return !saved.empty() && saved[0].step == applied->step && saved[0].best &&
                   saved[0].reason == "best";
        };
        QTRY_VERIFY_WITH_TIMEOUT(isSaved(), 20000);
        QVERIFY(run.post({"stop", CommandKind::kStop, {}}));
        run.finish();
    }
};

QTEST_GUILESS_MAIN(TestTrainerResume)
#include "tst_trainer_resume.moc"
