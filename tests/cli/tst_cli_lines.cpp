// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>

#include <SQLiteCpp/SQLiteCpp.h>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 60000;
/// Many times as long as a restored attempt trains until it is paused, so that it makes fewer steps
/// than the first on any processor.
constexpr int kFarMs = 10000;
constexpr auto kParts = "train.accumulation=64"; // or checkpoints come at each blink
const QString kRun = "lines";

} // namespace

/// An attempt that goes on from an earlier step, from the terminal, with real ranks. The functions
/// build on one another, in order.
class TestCliLines : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void restoreSaysWhatItRetires();
    void restoredCheckpointAndAbandonedOnesStay();
    void rulesAreTriedBeforeTheyRemoveAnything();
    void aFolderThatIsAwayRefusesAResumeAndChangesNothing();
    void resumeTakesTheNewestOfTheLivingLine();
    void abandonedCheckpointIsRestoredByName();
    void onlyAnAbandonedCheckpointIsRemoved();
    void aRankThatItDoesNotHaveIsRefused();
    void aRestoreHasToBeAgreedTo();
    void aDamagedCheckpointIsNotRestored();
    void resumePassesOverADamagedCheckpoint();
    void branchTellsItsStory();
    void anotherIsLaunchedLikeIt();
    void aResumeThatIsTooLargeIsRefusedAndLetThrough();
    void cleanupTestCase();

private:
    int64_t pauseNow();
    QJsonObject checkpoint(const QString& name) const;
    QJsonObject lastAttempt() const;
    int64_t stepNow() const;

    OwnFolders m_own;
    int64_t m_early = 0;  ///< checkpoint that attempt 2 starts from
    int64_t m_first = 0;  ///< step at which attempt 1 paused
    int64_t m_second = 0; ///< likewise attempt 2
};

namespace {

QString nameOf(int64_t step, int attempt = 1) {
    return QString("step-%1").arg(step, 9, 10, QChar('0')) +
           (attempt > 1 ? QString("-attempt-%1").arg(attempt) : QString());
}

void flipByte(const QString& path) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.seek(file.size() / 2));
    char byte = 0;
    QVERIFY(file.getChar(&byte) && file.seek(file.size() / 2));
    QVERIFY(file.putChar(static_cast<char>(byte ^ 1)));
}

} // namespace

int64_t TestCliLines::stepNow() const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    const auto run = reader ? (*reader)->resolve(kRun) : fail(ErrorCode::kNotFound, "no database");
    return run ? run->step : 0;
}

int64_t TestCliLines::pauseNow() {
    const Answer paused = m_own.run({"pause", kRun, "--json"});
    if (paused.exitCode != 0)
        qWarning("%s", paused.whole().constData());
    return paused.json().object()["step"].toInteger(-1);
}

QJsonObject TestCliLines::checkpoint(const QString& name) const {
    for (const QJsonValue& each : m_own.run({"checkpoints", kRun, "--json"}).json().array())
        if (QFileInfo(each["path"].toString()).fileName() == name)
            return each.toObject();
    return {};
}

QJsonObject TestCliLines::lastAttempt() const {
    return m_own.run({"show", kRun, "--json"})
        .json()
        .object()["attempts"]
        .toArray()
        .last()
        .toObject();
}

void TestCliLines::restoreSaysWhatItRetires() {
    const auto watching = m_own.start({"run",    "gpt-tiny",
                                       "--set",  "name=" + kRun,
                                       "--set",  "train.steps=1000000",
                                       "--set",  "validation.every=0",
                                       "--set",  "model.layers=1",
                                       "--set",  "model.width=32",
                                       "--set",  "model.heads=2",
                                       "--set",  "model.context=32",
                                       "--set",  "train.batch_size=1",
                                       "--set",  kParts,
                                       "--set",  "data.tokenizer=bytes",
                                       "--set",  "checkpoint.every=100",
                                       "--set",  "checkpoint.keep_last=2",
                                       "--node", "this-computer:1",
                                       "--wait", "--json"});
    QTRY_VERIFY2_WITH_TIMEOUT(stepNow() > 10, watching->readAllStandardError(), kDeadlineMs);
    const Answer saved = m_own.run({"checkpoint", kRun, "--json"});
    QVERIFY2(saved.exitCode == 0, saved.whole());
    m_early = saved.json().object()["step"].toInteger();
    QElapsedTimer since;
    since.start();
    QTRY_VERIFY_WITH_TIMEOUT(since.hasExpired(kFarMs) && stepNow() > m_early, kDeadlineMs);
    m_first = pauseNow();
    QVERIFY(watching->waitForFinished(kDeadlineMs));
    QVERIFY(m_first > m_early);

    const Answer restored =
        m_own.run({"restore", kRun, QString::number(m_early), "--yes", "--json"});
    QVERIFY2(restored.exitCode == 0, restored.whole());
    const QRegularExpression reported(
        QString("Going on from step %1 sets aside steps %2 to %3 and \\d checkpoints? of lines-")
            .arg(m_early)
            .arg(m_early + 1)
            .arg(m_first));
    QVERIFY2(QString::fromUtf8(restored.err).contains(reported), restored.whole());
    m_second = pauseNow();
    QVERIFY2(m_second > m_early && m_second < m_first, qPrintable(QString::number(m_second)));
}

void TestCliLines::restoredCheckpointAndAbandonedOnesStay() {
    QVERIFY(checkpoint(nameOf(m_early))["retired_by"].isNull());
    QVERIFY(checkpoint(nameOf(m_second, 2))["retired_by"].isNull());
    QCOMPARE(checkpoint(nameOf(m_second, 2))["attempt"].toInt(), 2);
    const QJsonObject abandoned = checkpoint(nameOf(m_first));
    QCOMPARE(abandoned["retired_by"].toInt(), 2);
    QCOMPARE(abandoned["attempt"].toInt(), 1);
    QVERIFY(QFileInfo::exists(abandoned["path"].toString() + "/MANIFEST.json"));
    const Answer table = m_own.run({"checkpoints", kRun});
    QVERIFY2(table.out.contains("pause; set aside by attempt 2"), table.whole());
}

void TestCliLines::rulesAreTriedBeforeTheyRemoveAnything() {
    const auto removedNext = [this](const QStringList& words) {
        const Answer list =
            m_own.run(QStringList{"checkpoints", kRun, "--preview", "--json"} + words);
        if (list.exitCode != 0)
            qFatal("%s", list.whole().constData());
        int count = 0;
        for (const QJsonValue& each : list.json().array()) {
            if (!each["removed_next"].isBool())
                qFatal("%s", list.whole().constData());
            count += each["removed_next"].toBool();
        }
        return count;
    };
    const auto there = m_own.run({"checkpoints", kRun, "--json"}).json().array().size();
    // Which ones rules remove, tst_retention shows; here a person's pauses asked for all of them.
    QCOMPARE(removedNext({"--set", "checkpoint.keep_last=1000"}), 0);
    const Answer wrong =
        m_own.run({"checkpoints", kRun, "--preview", "--set", "checkpoint.keep_last=0"});
    QVERIFY2(wrong.exitCode == static_cast<int>(ExitCode::kUsage), wrong.whole());
    QCOMPARE(m_own.run({"checkpoints", kRun, "--json"}).json().array().size(), there);
}

/// As a disk that is not mounted: nothing is there, or the empty folder for it.
void TestCliLines::aFolderThatIsAwayRefusesAResumeAndChangesNothing() {
    const QString folder = QFileInfo(checkpoint(nameOf(m_first))["path"].toString()).path();
    const QString aside = folder + "-aside";
    const auto attempts = [this] {
        return m_own.run({"show", kRun, "--json"}).json().object()["attempts"].toArray().size();
    };
    const auto before = attempts();
    QVERIFY(QDir().rename(folder, aside));
    for (const bool isEmptyThere : {false, true}) {
        QVERIFY(!isEmptyThere || QDir().mkdir(folder));
        const QString newest = nameOf(m_second, 2);
        for (const QStringList& words :
             {QStringList{"resume", kRun, "--preview"}, QStringList{"resume", kRun},
              QStringList{"restore", kRun, newest, "--yes"}}) {
            const Answer refused = m_own.run(words);
            QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kUnavailable), refused.whole());
            for (const QString& told : {folder, QString("this-computer"), QString("mount its disk"),
                                        QString("nothing was changed")})
                QVERIFY2(QString::fromUtf8(refused.err).contains(told), refused.whole());
            QVERIFY2(words.front() != "resume" || !refused.err.contains("Going on"),
                     refused.whole());
        }
        const QJsonObject shown = m_own.run({"show", kRun, "--json"}).json().object();
        QCOMPARE(shown["state"].toString(), QString("paused"));
        QCOMPARE(attempts(), before);
        // What cannot be read is not damaged.
        const Answer verified = m_own.run({"checkpoints", kRun, "--verify"});
        QVERIFY2(verified.exitCode != 0 && verified.whole().contains("is its disk mounted?"),
                 verified.whole());
        QVERIFY2(!verified.whole().contains("damaged"), verified.whole());
    }
    QVERIFY(QDir().rmdir(folder) && QDir().rename(aside, folder));
}

void TestCliLines::resumeTakesTheNewestOfTheLivingLine() {
    const Answer resumed = m_own.run({"resume", kRun});
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    const QByteArray reported = "Going on from step " + QByteArray::number(m_second) + "\n";
    QVERIFY2(resumed.err.contains(reported), resumed.whole());
    QVERIFY(pauseNow() > m_second);
    QCOMPARE(lastAttempt()["start_step"].toInteger(), m_second);
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    QVERIFY(reader);
    const auto points = (*reader)->points((*reader)->resolve(kRun)->id, {"train/loss", 0});
    for (size_t i = 1; i < points.size(); ++i)
        QVERIFY(points[i].step > points[i - 1].step);
}

void TestCliLines::abandonedCheckpointIsRestoredByName() {
    const Answer restored = m_own.run({"restore", kRun, nameOf(m_first), "--yes"});
    QVERIFY2(restored.exitCode == 0, restored.whole());
    pauseNow();
    QCOMPARE(lastAttempt()["start_step"].toInteger(), m_first);
    QVERIFY(checkpoint(nameOf(m_first))["retired_by"].isNull());
    QCOMPARE(checkpoint(nameOf(m_second, 2))["retired_by"].toInt(), 4);
}

void TestCliLines::onlyAnAbandonedCheckpointIsRemoved() {
    const QString path = checkpoint(nameOf(m_second, 2))["path"].toString();
    const Answer refused = m_own.run({"remove-checkpoint", kRun, nameOf(m_first)});
    QVERIFY2(refused.exitCode != 0 && refused.err.contains("were set aside"), refused.whole());
    const Answer pinned = m_own.run({"pin-checkpoint", kRun, nameOf(m_second, 2)});
    QVERIFY2(pinned.exitCode == 0, pinned.whole());
    QVERIFY(checkpoint(nameOf(m_second, 2))["pinned"].toBool());
    const Answer kept = m_own.run({"remove-checkpoint", kRun, nameOf(m_second, 2)});
    QVERIFY2(kept.exitCode != 0 && kept.err.contains("unpin it first"), kept.whole());
    QCOMPARE(m_own.run({"pin-checkpoint", kRun, nameOf(m_second, 2), "--off"}).exitCode, 0);
    const Answer compared =
        m_own.run({"compare-checkpoints", kRun, nameOf(m_first), nameOf(m_second, 2), "--json"});
    QVERIFY2(compared.exitCode == 0, compared.whole());
    QVERIFY(compared.json()["layers"].toArray().size() > 1);
    const QStringList remove = {"remove-checkpoint", kRun, nameOf(m_second, 2)};
    QCOMPARE(m_own.run(remove).exitCode, 0);
    QVERIFY(!QFileInfo::exists(path));
    const Answer back = m_own.run(remove + QStringList{"--undo"});
    QVERIFY2(back.exitCode == 0, back.whole());
    QVERIFY(QFileInfo::exists(path) && !checkpoint(nameOf(m_second, 2)).isEmpty());
    const Answer removed = m_own.run(remove);
    QVERIFY2(removed.exitCode == 0, removed.whole());
    QVERIFY(!QFileInfo::exists(path));
    QVERIFY(checkpoint(nameOf(m_second, 2)).isEmpty());
    const QJsonArray requested = m_own.run({"commands", kRun, "--json"}).json().array();
    for (const int at : {0, 1, 2}) {
        const QJsonObject each = requested.at(at).toObject();
        QCOMPARE(each["command"].toString(),
                 QString(at == 1 ? "bring-back-checkpoint" : "remove-checkpoint"));
        QCOMPARE(each["from"].toString(), QString("terminal"));
        QVERIFY(!each["by"].toString().isEmpty() && each["asked"].toDouble() > 0);
    }
}

void TestCliLines::aRankThatItDoesNotHaveIsRefused() {
    const Answer refused = m_own.run({"logs", kRun, "--rank", "7"});
    QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kUsage), refused.whole());
    QVERIFY2(refused.err.contains("it has no rank 7; ") && refused.out.isEmpty(), refused.whole());
    const Answer first = m_own.run({"logs", kRun, "--rank", "0"});
    QVERIFY2(first.exitCode == 0 && !first.out.isEmpty(), first.whole());
}

void TestCliLines::aRestoreHasToBeAgreedTo() {
    const auto before = lastAttempt();
    const Answer refused = m_own.run({"restore", kRun, QString::number(m_early)});
    QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kUsage), refused.whole());
    QVERIFY2(refused.err.contains("sets aside steps") && refused.err.contains("--yes"),
             refused.whole());
    QCOMPARE(lastAttempt(), before);
}

void TestCliLines::aDamagedCheckpointIsNotRestored() {
    QVERIFY(m_own.run({"checkpoint", kRun}).exitCode != 0); // it is paused
    const auto before = m_own.run({"show", kRun, "--json"}).json().object();
    const QString path = checkpoint(nameOf(m_early))["path"].toString() + "/model.safetensors";
    flipByte(path);
    for (const QStringList& how : {QStringList{"--yes"}, QStringList{"--as-new"}}) {
        const Answer refused =
            m_own.run(QStringList{"restore", kRun, QString::number(m_early)} + how);
        QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kCorrupt), refused.whole());
        QVERIFY2(refused.err.contains("the checkpoint is damaged: ") &&
                     refused.err.contains("model.safetensors"),
                 refused.whole());
    }
    const auto after = m_own.run({"show", kRun, "--json"}).json().object();
    for (const char* key : {"state", "message", "attempts"})
        QCOMPARE(after[key], before[key]);
    QCOMPARE(m_own.run({"runs", "--json"}).json().array().size(), 1);
    flipByte(path);
}

void TestCliLines::resumePassesOverADamagedCheckpoint() {
    std::vector<QJsonObject> living; // newest first
    for (const QJsonValue& each : m_own.run({"checkpoints", kRun, "--json"}).json().array())
        if (each["retired_by"].isNull())
            living.push_back(each.toObject());
    QVERIFY(living.size() > 1);
    const QJsonObject newest = living[0];
    const int64_t step = newest["step"].toInteger();
    const int64_t from = living[1]["step"].toInteger();
    QVERIFY(step > from);
    flipByte(newest["path"].toString() + "/model.safetensors");
    const Answer resumed = m_own.run({"resume", kRun});
    QVERIFY2(resumed.exitCode == 0, resumed.whole());
    const QString reported =
        QString("checkpoint step %1 is damaged (model.safetensors: its SHA-256 is "
                "not the one in the manifest); resumed from step %2")
            .arg(step)
            .arg(from);
    QVERIFY2(resumed.err.contains(reported.toUtf8()), resumed.whole());
    m_first = pauseNow();
    QVERIFY(m_first > from);
    QCOMPARE(lastAttempt()["start_step"].toInteger(), from);
    const Answer shown = m_own.run({"show", kRun});
    QVERIFY2(shown.out.contains(reported.toUtf8()), shown.whole());
    for (const QJsonValue& each : m_own.run({"checkpoints", kRun, "--json"}).json().array())
        if (each["path"] == newest["path"])
            QVERIFY(each["damaged"].toBool() && !each["retired_by"].isNull() &&
                    !each["best"].toBool());
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    QVERIFY(reader);
    const auto points = (*reader)->points((*reader)->resolve(kRun)->id, {"train/loss", 0});
    for (size_t i = 1; i < points.size(); ++i)
        QVERIFY(points[i].step > points[i - 1].step);
}

void TestCliLines::branchTellsItsStory() {
    const QString none = "train.steps=" + QString::number(m_first);
    // Without the recipe's warm-up, which may be longer than what was trained.
    const Answer idle = m_own.run({"restore", kRun, QString::number(m_first), "--as-new", "--set",
                                   none, "--set", "schedule.warmup_steps=0", "--set",
                                   "name=" + kRun, "--set", "checkpoint.on_existing=resume"});
    QVERIFY2(idle.exitCode == static_cast<int>(ExitCode::kUsage), idle.whole());
    QVERIFY2(idle.err.contains("nothing is left to train from step"), idle.whole());
    // A branch never goes on as the run of its name.
    QVERIFY2(idle.err.contains("warning: a run is called " + kRun.toUtf8() + " already"),
             idle.whole());
    const Answer branched = m_own.run({"restore", kRun, QString::number(m_first), "--as-new",
                                       "--set", "optimizer.lr=5e-4", "--json"});
    QVERIFY2(branched.exitCode == 0, branched.whole());
    const QString branch = branched.json().object()["id"].toString();
    m_own.run({"stop", branch});
    const QJsonObject shown = m_own.run({"show", branch, "--json"}).json().object();
    QCOMPARE(shown["name"].toString(), kRun + ", lr 5e-4");
    QCOMPARE(shown["parent_step"].toInteger(), m_first);
    const QString event = QString("branched from %1 at %2").arg(kRun).arg(m_first);
    bool isReported = false;
    for (const QJsonValue& each : shown["events"].toArray())
        isReported = isReported || each["message"].toString() == event;
    QVERIFY(isReported);
    const Answer runs = m_own.run({"runs"});
    QVERIFY2(runs.out.contains(QString("%1 at %2").arg(kRun).arg(m_first).toUtf8()), runs.whole());
}

void TestCliLines::anotherIsLaunchedLikeIt() {
    const Answer ended =
        m_own.run({"run", "--like", kRun, "--set", "name=like", "--set", "train.steps=3", "--set",
                   "schedule.warmup_steps=1", "--wait", "--json"});
    QVERIFY2(ended.exitCode == 0, ended.whole());
    const auto shown = [&](const QString& run) {
        return m_own.run({"show", run, "--json"}).json().object();
    };
    QCOMPARE(shown("like")["state"].toString(), QString("finished"));
    QCOMPARE(shown("like")["nodes"], shown(kRun)["nodes"]);
    const Answer both = m_own.run({"run", "gpt-tiny", "--like", kRun});
    QVERIFY2(both.exitCode == static_cast<int>(ExitCode::kUsage), both.whole());
    const Answer neither = m_own.run({"run"});
    QVERIFY2(neither.exitCode == static_cast<int>(ExitCode::kUsage), neither.whole());
    QVERIFY2(neither.err.contains("--like"), neither.whole());
    const Answer unknown = m_own.run({"run", "--like", "nope"});
    QVERIFY2(unknown.exitCode == static_cast<int>(ExitCode::kNotFound), unknown.whole());
}

/// As every launch: of a run whose node has less memory by now, or which goes on elsewhere.
void TestCliLines::aResumeThatIsTooLargeIsRefusedAndLetThrough() {
    m_own.run({"stop", kRun});
    const auto before = m_own.run({"show", kRun, "--json"}).json().object();
    {
        SQLite::Database database(Paths::fromEnvironment().database().toStdString(),
                                  SQLite::OPEN_READWRITE);
        SQLite::Statement update(database, "UPDATE run SET spec = replace(spec, ?, ?)");
        update.bind(1, "width = 32");
        update.bind(2, "width = 131072");
        QVERIFY(update.exec() > 0);
    }
    const Answer refused = m_own.run({"resume", kRun});
    QVERIFY2(refused.exitCode == static_cast<int>(ExitCode::kExhausted), refused.whole());
    QVERIFY2(refused.err.contains("has too little memory for " + kRun.toUtf8()) &&
                 refused.err.contains("--anyway launches it all the same"),
             refused.whole());
    const auto after = m_own.run({"show", kRun, "--json"}).json().object();
    for (const char* key : {"state", "message", "attempts"})
        QCOMPARE(after[key], before[key]);
    const Answer passed = m_own.run({"resume", kRun, "--anyway", "--wait"}, 120000);
    QVERIFY2(passed.exitCode == static_cast<int>(ExitCode::kRunFailed), passed.whole());
    QCOMPARE(m_own.run({"show", kRun, "--json"}).json()["attempts"].toArray().size(),
             before["attempts"].toArray().size() + 1);
}

/// What a failed function left running.
void TestCliLines::cleanupTestCase() {
    m_own.run({"kill", kRun});
}

QTEST_GUILESS_MAIN(TestCliLines)
#include "tst_cli_lines.moc"
