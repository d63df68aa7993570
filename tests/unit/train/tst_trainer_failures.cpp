// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/manifest.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"
#include "tests/unit/train/rank_ends.h"
#include "tests/unit/train/trainer_run.h"

#include <QDir>
#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QTest>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

using namespace rm;
using namespace rm::test;
namespace fs = std::filesystem;

namespace {

std::vector<int> alone(ExitCode code) {
    return {static_cast<int>(code)};
}

/// Of a model whose checkpoint that disk can hold.
RunSpec specOn(const OwnDisk& disk, int64_t steps) {
    RunSpec spec = tinySpec();
    spec.model.width = 16;
    spec.checkpoint.directory = disk.path() + "/checkpoints";
    spec.train.steps = steps;
    return spec;
}

} // namespace

class TestTrainerFailures : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void killedPeerEndsTheOthersSoon_data() {
        QTest::addColumn<int>("victim");
        QTest::newRow("rank 0") << 0;
        QTest::newRow("rank 1") << 1;
    }

    void killedPeerEndsTheOthersSoon() {
        QFETCH(int, victim);
        RunSpec spec = tinySpec();
        spec.train.steps = 1000000;
        TrainerRun run;
        run.start(spec, 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > 3 && run.lastStep(0) > 3, 30000);
        run.rank(victim).kill();
        QElapsedTimer sinceKill;
        sinceKill.start();
        const int survivor = 1 - victim;
        const auto codes = run.finish(20000);
        QCOMPARE(codes[static_cast<size_t>(survivor)], static_cast<int>(ExitCode::kPeerLost));
        QVERIFY2(sinceKill.elapsed() < 5000, qPrintable(QString::number(sinceKill.elapsed())));
        const std::string report =
            run.dir() + "/failure-rank-0000" + std::to_string(survivor) + ".json";
        QVERIFY(fs::exists(report));
        const auto events = run.recordsOf<Event>(survivor);
        QCOMPARE(events.size(), 1u);
        QCOMPARE(events[0].code, "rank-failed");
        QCOMPARE(events[0].severity, Severity::kError);
    }

    void aLoneRankSaysWhoIsMissingAndEndsWhenTold_data() {
        QTest::addColumn<int>("lone");
        QTest::newRow("rank 0 without the other") << 0;
        QTest::newRow("another without rank 0") << 1;
    }

    void aLoneRankSaysWhoIsMissingAndEndsWhenTold() {
        QFETCH(int, lone);
        TrainerRun run;
        run.start(tinySpec(), 2);
        QProcess& other = run.rank(1 - lone);
        ::kill(static_cast<pid_t>(other.processId()), SIGSTOP); // it never comes, and serves nobody
        other.kill();
        const QString words =
            lone == 0 ? "waits for rank 1 of 2" : "waits for rank 0, which serves there";
        QTRY_VERIFY2_WITH_TIMEOUT(run.output(lone).contains(words), qPrintable(run.output(lone)),
                                  30000);
        QElapsedTimer sinceSignal;
        sinceSignal.start();
        run.rank(lone).terminate();
        const auto codes = run.finish(20000);
        QCOMPARE(codes[static_cast<size_t>(lone)], static_cast<int>(ExitCode::kUnavailable));
        QVERIFY2(sinceSignal.elapsed() < 10000, qPrintable(QString::number(sinceSignal.elapsed())));
    }

    void peerKilledWhileHeldEndsTheOthers() {
        RunSpec spec = tinySpec();
        spec.train.steps = 1000000;
        TrainerRun run;
        run.start(spec, 2);
        QVERIFY(run.post({"h", CommandKind::kHold, {}}));
        QVERIFY(run.applied("h"));
        run.rank(1).kill();
        QCOMPARE(run.finish(20000)[0], static_cast<int>(ExitCode::kPeerLost));
    }

    /// It would end a rank that writes to one that is gone, before it can tell of it.
    void aBrokenPipeEndsNoRank() {
        RunSpec spec = tinySpec();
        spec.train.steps = 1000000;
        TrainerRun run;
        run.start(spec, 1);
        QVERIFY(run.post({"h", CommandKind::kHold, {}}));
        QVERIFY(run.applied("h"));
        QCOMPARE(::kill(static_cast<pid_t>(run.rank(0).processId()), SIGPIPE), 0);
        QVERIFY(run.post({"s", CommandKind::kStop, {}}));
        QCOMPARE(run.finish(20000)[0], static_cast<int>(ExitCode::kStopped));
    }

    void stepsOfACheckpointAreInEveryJournalBeforeIt() {
        constexpr int kTrials = 6; // the steps of a journal's last 50 ms are at stake
        constexpr int64_t kStep = 25;
        for (int trial = 0; trial < kTrials; ++trial) {
            RunSpec spec = tinySpec();
            spec.train.steps = 1000000;
            spec.train.logEvery = 1;
            spec.checkpoint.every = kStep;
            TrainerRun run;
            run.start(spec, 2);
            QElapsedTimer waited;
            waited.start();
            while (!fs::exists(run.checkpoint(kStep)) && waited.elapsed() < 60000) {
            }
            for (int rank = 0; rank < 2; ++rank)
                ::kill(static_cast<pid_t>(run.rank(rank).processId()), SIGKILL);
            QCOMPARE(run.finish(20000), (std::vector<int>{-SIGKILL, -SIGKILL}));
            for (int rank = 0; rank < 2; ++rank) {
                const auto losses = run.series(rank, metric::kTrainLoss);
                for (int64_t step = 1; step <= kStep; ++step)
                    QVERIFY2(losses.contains(step),
                             qPrintable(QString("trial %1: rank %2 has no step %3")
                                            .arg(trial)
                                            .arg(rank)
                                            .arg(step)));
            }
        }
    }

    void missingDataEndsAllRanksWithTheReason() {
        RunSpec spec = tinySpec();
        spec.data.train = {"/nowhere/texts"};
        TrainerRun run;
        QCOMPARE(run.run(spec, 2), firstOf(ExitCode::kNotFound));
        QVERIFY2(run.output(0).contains("error: read training data /nowhere/texts"),
                 qPrintable(run.output(0)));
        QVERIFY2(run.output(1).contains("error: another rank failed: rank 0: read training data "
                                        "/nowhere/texts"),
                 qPrintable(run.output(1)));
    }

    void aDamagedCheckpointIsTheFailureOfTheRankThatReadsIt() {
        RunSpec spec = tinySpec();
        spec.train.steps = 4;
        TrainerRun before, after;
        QCOMPARE(before.run(spec, 2), both(ExitCode::kOk));
        const std::string checkpoint = before.checkpoint(4);
        QVERIFY(QFile::resize(QString::fromStdString(checkpoint + "/model.safetensors"), 100));
        spec.train.steps = 6;
        const QStringList from = {"--start-from", QString::fromStdString(checkpoint)};
        QCOMPARE(after.run(spec, 2, from), firstOf(ExitCode::kCorrupt));
        QVERIFY2(!after.output(0).contains("another rank"), qPrintable(after.output(0)));
        QVERIFY2(after.output(1).contains("another rank failed: rank 0: "),
                 qPrintable(after.output(1)));
    }

    void meetingIsNoWarning() {
        RunSpec spec = tinySpec();
        spec.train.steps = 4;
        TrainerRun run;
        run.start(spec, 2);
        QCOMPARE(run.finish(30000), both(ExitCode::kOk));
        for (int rank = 0; rank < 2; ++rank)
            QVERIFY2(!run.output(rank).contains("socket"), qPrintable(run.output(rank)));
    }

    void emptyFolderIsRefused() {
        TrainerRun run;
        RunSpec spec = tinySpec();
        fs::create_directories(run.dir() + "/empty");
        spec.data.train = {run.dir() + "/empty"};
        QCOMPARE(run.run(spec, 1), alone(ExitCode::kUsage));
        QVERIFY2(run.output(0).contains("no files in it"), qPrintable(run.output(0)));
    }

    void tooLittleTextIsRefused() {
        TrainerRun run;
        RunSpec spec = tinySpec();
        const std::string path = run.dir() + "/short.txt";
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("Ten bytes.");
        file.close();
        spec.data.train = {path};
        QCOMPARE(run.run(spec, 1), alone(ExitCode::kUsage));
        QVERIFY2(run.output(0).contains("model.context = 32"), qPrintable(run.output(0)));
    }

    void textThatIsNoUtf8FurtherOnIsAnEvent() {
        const QTemporaryDir folder;
        const QString path = folder.filePath("a.txt");
        QByteArray text = QByteArray("the wood is dark and deep\n").repeated(4000);
        const auto first = "byte " + QByteArray::number(text.size() + 5) + " of " + path.toUtf8();
        text += "citt\xe0\n";
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
        file.close();
        RunSpec spec = tinySpec();
        spec.train.steps = 2;
        spec.schedule.warmupSteps = 0;
        spec.data.train = {path.toStdString()};
        spec.data.tokenizer = "sentencepiece";
        spec.data.vocabSize = 300;
        TrainerRun run;
        const std::vector<int> codes = run.run(spec, 2);
        QVERIFY2(codes == std::vector<int>(2, 0), qPrintable(run.output(0)));
        std::vector<std::string> told;
        for (const int rank : {0, 1})
            for (const Event& event : run.recordsOf<Event>(rank))
                if (event.code == "text-not-utf8")
                    told.push_back(event.message);
        QCOMPARE(told.size(), size_t{1});
        QVERIFY2(told[0].find(first.toStdString()) != std::string::npos, told[0].c_str());
    }

    void wrongSpecEndsWithUsage() {
        TrainerRun run;
        RunSpec spec = tinySpec();
        spec.model.heads = 5;
        QCOMPARE(run.run(spec, 1), alone(ExitCode::kUsage));
        QVERIFY2(run.output(0).contains("model.heads"), qPrintable(run.output(0)));
    }

    void fullMemoryEndsTheRunWithAdvice() {
        TrainerRun run;
        const QString limited = QString::fromStdString(run.dir() + "/limited");
        QFile script(limited);
        QVERIFY(script.open(QIODevice::WriteOnly));
        script.write(
            "#!/bin/sh\nulimit -v 3000000\nexec \"$RINGMASTER_BIN/ringmaster-trainer\" \"$@\"\n");
        script.setPermissions(script.permissions() | QFile::ExeOwner);
        script.close();
        run.useProgram(limited);
        RunSpec spec = tinySpec();
        spec.model.width = 256;
        spec.model.context = 512;
        spec.data.train = {"/usr/share/common-licenses"};
        spec.train.batchSize = 1024;
        QCOMPARE(run.run(spec, 1), alone(ExitCode::kExhausted));
        QVERIFY2(run.output(0).contains("out of memory"), qPrintable(run.output(0)));
        QVERIFY2(run.output(0).contains("train.batch_size"), qPrintable(run.output(0)));
    }

    void cudaWithoutADriverIsSaid() {
        RM_NEEDS("no-gpu", !fs::exists("/proc/driver/nvidia"),
                 QStringLiteral("this machine has an NVIDIA driver"));
        TrainerRun run;
        RunSpec spec = tinySpec();
        spec.launch.device = "cuda";
        QCOMPARE(run.run(spec, 1), alone(ExitCode::kNotFound));
        QVERIFY2(run.output(0).contains("no NVIDIA driver"), qPrintable(run.output(0)));
    }

    void explodingLossEndsAsNonFinite() {
        TrainerRun run;
        RunSpec spec = tinySpec();
        // Decay by lr * weightDecay = 5 turns weights into -4 times themselves each step.
        spec.optimizer.lr = 5.0;
        spec.optimizer.clip = 0;
        spec.optimizer.weightDecay = 1.0;
        spec.schedule.type = "constant";
        spec.schedule.warmupSteps = 0;
        spec.train.steps = 300;
        QCOMPARE(run.run(spec, 2), both(ExitCode::kNonFinite));
        QVERIFY2(run.output(1).contains("not finite"), qPrintable(run.output(1)));
    }

    void fullDiskEndsAScheduledCheckpointAndLeavesNoHalf() {
        TrainerRun run;
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        RunSpec spec = tinySpec();
        spec.model.width = 128;
        spec.checkpoint.directory = disk.path();
        spec.checkpoint.every = 5;
        QCOMPARE(run.run(spec, 2), firstOf(ExitCode::kExhausted));
        QVERIFY2(run.output(0).contains("No space left") || run.output(0).contains("disk full"),
                 qPrintable(run.output(0)));
        QVERIFY(listCheckpoints(disk.path())->empty());
        QCOMPARE(QDir(QString::fromStdString(disk.path()))
                     .entryList(QDir::AllEntries | QDir::NoDotAndDotDot),
                 QStringList{"OWNER.json"});
    }

    void aFullDiskIsWaitedForWithTheLastCheckpoint() {
        TrainerRun run;
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        const RunSpec spec = specOn(disk, 400);
        run.start(spec, 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(0) > 3, 30000);
        disk.fill();
        const auto waits = [&] {
            const auto events = run.recordsOf<Event>(0);
            return std::ranges::any_of(
                events, [](const Event& event) { return event.code == "checkpoint-waits"; });
        };
        QTRY_VERIFY_WITH_TIMEOUT(waits(), 60000);
        disk.empty();
        QCOMPARE(run.finish(60000), both(ExitCode::kOk));
        const auto saved = listCheckpoints(spec.checkpoint.directory);
        QVERIFY(saved && saved->size() == 1);
        QVERIFY(verifyCheckpoint(saved->front().path));
        QCOMPARE(saved->front().manifest.step, int64_t{400});
    }

    void aPauseWithoutRoomIsRefusedWithWhatItWants() {
        TrainerRun run;
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        const RunSpec spec = specOn(disk, 1000000);
        run.start(spec, 2);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(0) > 3, 30000);
        disk.fill();
        QVERIFY(run.post({"full", CommandKind::kPause, {}}));
        const auto answers = [&] { return run.recordsOf<CommandApplied>(0); };
        QTRY_COMPARE_WITH_TIMEOUT(answers().size(), size_t(1), 60000);
        const CommandApplied refused = answers().front();
        QVERIFY(!refused.ok);
        for (const char* words :
             {"/checkpoints", "; it takes ", " are free there: make room", "; it trains on"})
            QVERIFY2(refused.message.find(words) != std::string::npos, refused.message.c_str());
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(0) > refused.step + 3, 30000);
        disk.empty();
        QVERIFY(run.post({"room", CommandKind::kPause, {}}));
        QCOMPARE(run.finish(60000), both(ExitCode::kPaused));
        const auto saved = listCheckpoints(spec.checkpoint.directory);
        QVERIFY(saved && saved->size() == 1);
        QVERIFY(verifyCheckpoint(saved->front().path));
    }

    void aFullStateDiskIsShownAndTrainingGoesOn() {
        TrainerRun run;
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        fs::create_directory_symlink(disk.path(), run.dir() + "/journal");
        RunSpec spec = tinySpec();
        spec.train.logEvery = 1;
        spec.train.steps = 1000000;
        run.start(spec, 1);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(0) > 3, 30000);
        disk.fill();
        const auto status = [&] {
            const auto board = Board::open(run.dir() + "/board/rank-00000");
            return board ? board->status() : Board::Status();
        };
        QTRY_VERIFY_WITH_TIMEOUT(status().journalProblem == ErrorCode::kExhausted, 20000);
        const int64_t step = status().step;
        QTRY_VERIFY_WITH_TIMEOUT(status().step > step + 20, 20000);
        disk.empty();
        QTRY_VERIFY_WITH_TIMEOUT(!status().journalProblem, 20000);
        QVERIFY(run.post({"s", CommandKind::kStop, {}}));
        QCOMPARE(run.finish(20000), alone(ExitCode::kStopped));
        const auto losses = run.series(0, metric::kTrainLoss);
        QCOMPARE(losses.rbegin()->first, static_cast<int64_t>(losses.size())); // without a hole
        const auto events = run.recordsOf<Event>(0);
        QVERIFY(std::ranges::any_of(events,
                                    [](const Event& event) { return event.code == "disk-full"; }));
        QCOMPARE(status().droppedRecords, uint64_t{0});
    }

    void aSelfTestEndsWithWhoeverWantsIt_data() {
        QTest::addColumn<QStringList>("arguments");
        QTest::addColumn<int>("output");
        const QStringList words{"self-test", "--device", "cpu"};
        QTest::newRow("the app") << words + QStringList{"--json"} << STDOUT_FILENO;
        QTest::newRow("the trainer that started it")
            << words + QStringList{"--local-rank", "0", "--go-on"} << STDERR_FILENO;
    }
    void aSelfTestEndsWithWhoeverWantsIt() {
        QFETCH(QStringList, arguments);
        QFETCH(int, output);
        const QTemporaryDir home;
        int ends[2];
        QVERIFY(::pipe2(ends, O_CLOEXEC) == 0);
        ::close(ends[0]); // nobody reads any more
        QProcess trainer;
        auto environment = QProcessEnvironment::systemEnvironment();
        environment.insert("RINGMASTER_HOME", home.path());
        trainer.setProcessEnvironment(environment);
        trainer.setChildProcessModifier([&] { ::dup2(ends[1], output); });
        trainer.start(qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-trainer", arguments);
        QVERIFY(trainer.waitForFinished(60000));
        ::close(ends[1]);
        QCOMPARE(trainer.exitStatus(), QProcess::NormalExit);
        QCOMPARE(trainer.exitCode(), static_cast<int>(ExitCode::kUnavailable));
    }

    void fullDiskRefusesAPauseAndTrainingGoesOn() {
        TrainerRun run;
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        RunSpec spec = tinySpec();
        spec.model.width = 128;
        spec.checkpoint.directory = disk.path();
        spec.train.steps = 1000000;
        run.start(spec, 2);
        QVERIFY(run.post({"p", CommandKind::kPause, {}}));
        const auto refused = run.applied("p");
        QVERIFY(refused && !refused->ok);
        QTRY_VERIFY_WITH_TIMEOUT(run.lastStep(1) > refused->step + 2, 10000);
    }
};

QTEST_GUILESS_MAIN(TestTrainerFailures)
#include "tst_trainer_failures.moc"
