// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <csignal>

using namespace rm;

namespace {

constexpr int kTrainMs = 180'000; ///< beside other work
constexpr int kTryMs = 120'000;

} // namespace

/// Samples of a real run, and its checkpoints tried.
class TestCliSamples : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void theNewestSampleIsShown();
    void twoStepsStandSideBySide();
    void aStepWithoutSamplesIsNamed();
    void stepsThatHaveSamplesAreListed();
    void aRunThatWritesNoneSaysSoInOneSentence();
    void aTextModelHasNoConfusion();
    void aCheckpointIsTried();
    void theSameSeedGivesTheSameAnswer();
    void whatDoesNotServeIsOneError_data();
    void whatDoesNotServeIsOneError();
    void besideARunThatTrainsItIsTriedInTheBackground();
    void ctrlCCancelsATrial();
    void aCheckpointThatIsGoneIsSaid();

private:
    Answer tryIt(const QStringList& words) const {
        return m_own.run(QStringList{"try"} + words, kTryMs);
    }

    OwnFolders m_own;
};

void TestCliSamples::initTestCase() {
    const QStringList small{"run",    "gpt-tiny",
                            "--set",  "model.layers=1",
                            "--set",  "model.width=32",
                            "--set",  "data.tokenizer=bytes",
                            "--set",  "train.batch_size=1",
                            "--set",  "validation.batches=1",
                            "--set",  "schedule.warmup_steps=0",
                            "--node", "this-computer:1",
                            "--wait"};
    const Answer run =
        m_own.run(small + QStringList{"--name", "written", "--set", "train.steps=6", "--set",
                                      "validation.every=3", "--set", "validation.sample_tokens=12",
                                      "--set", "checkpoint.every=3"},
                  kTrainMs);
    QVERIFY2(run.exitCode == 0, run.whole());
    const Answer silent =
        m_own.run(small + QStringList{"--name", "silent", "--set", "train.steps=2", "--set",
                                      "validation.sample_tokens=0"},
                  kTrainMs);
    QVERIFY2(silent.exitCode == 0, silent.whole());
}

void TestCliSamples::theNewestSampleIsShown() {
    const Answer words = m_own.run({"samples", "written"});
    QVERIFY2(words.exitCode == 0 && words.out.startsWith("step 6, "), words.whole());
    QVERIFY2(words.out.contains("prompt: You may"), words.whole());
    const Answer json = m_own.run({"samples", "written", "--json"});
    const QJsonArray columns = json.json().array();
    QCOMPARE(columns.size(), 1);
    QCOMPARE(columns[0]["step"].toInt(), 6);
    const QJsonArray samples = columns[0]["samples"].toArray();
    QCOMPARE(samples.size(), 1);
    QCOMPARE(samples[0]["kind"].toString(), QString("text"));
    QVERIFY(!samples[0]["text"].toString().isEmpty());
}

void TestCliSamples::twoStepsStandSideBySide() {
    const Answer words = m_own.run({"samples", "written", "--steps", "3,6"});
    QVERIFY2(words.exitCode == 0, words.whole());
    QVERIFY2(words.out.count("prompt: ") == 1, words.whole());
    QVERIFY2(words.out.contains("  step 3: ") && words.out.contains("  step 6: "), words.whole());
    const Answer json = m_own.run({"samples", "written", "--steps", "3,6", "--json"});
    QCOMPARE(json.json().array().size(), 2);
    const Answer both = m_own.run({"samples", "written", "--with", "written"});
    QVERIFY2(both.exitCode == 0 && both.out.contains("step 6 of written"), both.whole());
}

void TestCliSamples::aStepWithoutSamplesIsNamed() {
    const Answer none = m_own.run({"samples", "written", "--steps", "4"});
    QCOMPARE(none.exitCode, static_cast<int>(ExitCode::kNotFound));
    QVERIFY2(none.err.contains("none of step 4") && none.err.contains("6, 3"), none.whole());
}

void TestCliSamples::stepsThatHaveSamplesAreListed() {
    const Answer list = m_own.run({"samples", "written", "--list", "--json"});
    const QJsonArray steps = list.json().array();
    QCOMPARE(steps.size(), 2);
    QCOMPARE(steps[0]["step"].toInt(), 6);
    QCOMPARE(steps[1]["samples"].toInt(), 1);
}

void TestCliSamples::aRunThatWritesNoneSaysSoInOneSentence() {
    const Answer none = m_own.run({"samples", "silent"});
    QVERIFY2(none.exitCode == 0, none.whole());
    QVERIFY2(none.out.contains("has no samples: its spec asks for none."), none.whole());
    QCOMPARE(none.out.trimmed().count('\n'), 0);
    QCOMPARE(m_own.run({"samples", "silent", "--json"}).json().array().size(), 0);
}

void TestCliSamples::aTextModelHasNoConfusion() {
    const Answer none = m_own.run({"samples", "written", "--confusion"});
    QCOMPARE(none.exitCode, static_cast<int>(ExitCode::kNotFound));
    QVERIFY2(none.err.contains("validation.pictures"), none.whole());
}

void TestCliSamples::aCheckpointIsTried() {
    const Answer newest = tryIt({"written", "--prompt", "You may", "--max-tokens", "5", "--json"});
    QVERIFY2(newest.exitCode == 0, newest.whole());
    const QJsonObject answer = newest.json().object();
    QCOMPARE(answer["step"].toInt(), 6);
    QCOMPARE(answer["tokens"].toInt(), 5);
    QCOMPARE(answer["kind"].toString(), QString("text"));
    QCOMPARE(answer["node"].toString(), QString("this-computer"));
    QFile file(m_own.path("prompt.txt"));
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write("You may") > 0);
    file.close();
    const Answer earlier = tryIt({"written@3", "--file", file.fileName(), "--max-tokens", "5"});
    QVERIFY2(earlier.exitCode == 0 && earlier.err.contains("step 3 on this-computer"),
             earlier.whole());
    QVERIFY2(!earlier.out.isEmpty(), earlier.whole());
}

void TestCliSamples::theSameSeedGivesTheSameAnswer() {
    const QStringList words{"written", "--prompt", "You", "--max-tokens", "8", "--seed", "3"};
    const Answer once = tryIt(words), again = tryIt(words);
    QVERIFY2(once.exitCode == 0, once.whole());
    QCOMPARE(again.out, once.out);
}

void TestCliSamples::whatDoesNotServeIsOneError_data() {
    QTest::addColumn<QStringList>("words");
    QTest::addColumn<int>("code");
    QTest::addColumn<QByteArray>("says");
    const auto row = [](const char* name, const QStringList& words, ExitCode code,
                        const char* says) {
        QTest::newRow(name) << words << static_cast<int>(code) << QByteArray(says);
    };
    row("no such run", {"nope", "--prompt", "a"}, ExitCode::kNotFound, "nope");
    row("no such step", {"written@5", "--prompt", "a"}, ExitCode::kNotFound,
        "its checkpoints are at steps");
    row("no such file", {"written", "--file", "/nowhere/x.txt"}, ExitCode::kNotFound,
        "/nowhere/x.txt");
    row("too many tokens", {"written", "--prompt", "a", "--max-tokens", "0"}, ExitCode::kUsage,
        "max-tokens");
    row("prompt and file", {"written", "--prompt", "a", "--file", "b"}, ExitCode::kUsage, "");
}

void TestCliSamples::whatDoesNotServeIsOneError() {
    QFETCH(QStringList, words);
    QFETCH(int, code);
    QFETCH(QByteArray, says);
    const Answer answer = tryIt(words);
    QVERIFY2(answer.exitCode == code && answer.err.contains(says), answer.whole());
}

void TestCliSamples::besideARunThatTrainsItIsTriedInTheBackground() {
    const auto training =
        m_own.start(longRunWords("busy", 1'000'000, "this-computer:1") +
                    QStringList{"--set", "data.tokenizer=bytes", "--set", "model.width=32"});
    const auto saved = [this] {
        return m_own.run({"checkpoint", "busy", "--json"}).exitCode == 0 &&
               !m_own.run({"checkpoints", "busy", "--json"}).json().array().isEmpty();
    };
    QTRY_VERIFY_WITH_TIMEOUT(saved(), kTryMs);
    const Answer tried = tryIt({"busy", "--prompt", "You", "--max-tokens", "3", "--json"});
    QVERIFY2(tried.exitCode == 0, tried.whole());
    const QString note = tried.json().object()["note"].toString();
    QVERIFY2(note.contains("trains on this-computer") && note.contains("on the CPU"),
             tried.whole());
    const Answer stop = m_own.run({"stop", "busy", "--json"});
    QVERIFY2(stop.exitCode == 0, stop.whole());
}

void TestCliSamples::ctrlCCancelsATrial() {
    const auto trying = m_own.start({"try", "written", "--prompt", "a", "--max-tokens", "65536"});
    QByteArray words;
    const auto runs = [&] {
        words += trying->readAllStandardError();
        return words.contains("Check nodes"); // further stages may come too soon to be printed
    };
    QTRY_VERIFY2_WITH_TIMEOUT(runs(), words, kTryMs);
    ::kill(static_cast<pid_t>(trying->processId()), SIGINT);
    QVERIFY(trying->waitForFinished(kTryMs));
    words += trying->readAllStandardError();
    QVERIFY2(trying->exitCode() == 128 + SIGINT && words.contains("try: cancelled"), words);
}

void TestCliSamples::aCheckpointThatIsGoneIsSaid() {
    const Answer list = m_own.run({"checkpoints", "written", "--json"});
    const QString folder = list.json().array().at(0)["path"].toString();
    QVERIFY2(!folder.isEmpty() && QDir(folder).removeRecursively(), list.whole());
    const Answer gone = tryIt({"written@6", "--prompt", "a"});
    QVERIFY2(gone.exitCode == static_cast<int>(ExitCode::kNotFound), gone.whole());
    QVERIFY2(gone.err.contains("try the checkpoint of step 6 of") &&
                 gone.err.contains(folder.toUtf8()),
             gone.whole());
}

QTEST_GUILESS_MAIN(TestCliSamples)
#include "tst_cli_samples.moc"
