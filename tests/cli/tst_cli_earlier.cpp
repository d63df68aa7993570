// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/earlier_run.h"
#include "app/core/settings/paths.h"
#include "app/core/store/store_reader.h"
#include "shared/checkpoint/manifest.h"
#include "tests/cli/own_folders.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <algorithm>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 60000;
constexpr int64_t kShortSteps = 40; ///< some seconds
const QString kName = "earlier";

/// Whether a process of this computer works for `run` at this moment.
bool isServed(const QString& run) {
    const QStringList processes = QDir("/proc").entryList(QDir::Dirs);
    return std::ranges::any_of(processes, [&](const QString& pid) {
        QFile file("/proc/" + pid + "/cmdline");
        return file.open(QIODevice::ReadOnly) && file.readAll().contains(run.toLocal8Bit());
    });
}

} // namespace

/// Launches with checkpoint.on_existing = "resume" and without a folder, with real ranks: of the
/// runs that are known here. The functions build on one another, in order.
class TestCliEarlier : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void withNothingToGoOnFromItBeginsFromScratch();
    void theSameSpecGoesOnAsTheNextAttemptOfARunThatHasEnded();
    void otherSettingsGoOnInARunOfTheirOwn();
    void whatARunSavedUnwatchedIsGoneOnFrom_data();
    void whatARunSavedUnwatchedIsGoneOnFrom();
    void aDamagedNewestIsPassedOverByName();
    void cleanupTestCase() { killAll(); }

private:
    QStringList words(const QStringList& more = {}) const {
        return longRunWords(kName, 1000000, "this-computer:1") +
               QStringList{"--set", "checkpoint.on_existing=resume"} + more;
    }
    std::vector<RunSummary> runs() const;
    QStringList shortWords(const QString& name, int64_t steps, const QString& folder) const;
    QString reported(const QString& run, const char* code = kEarlierRunEvent) const;
    std::vector<StoredCheckpoint> checkpoints(const QString& run) const;
    std::unique_ptr<QProcess> train(const QStringList& more, size_t count, int attempt);
    void killAll();

    OwnFolders m_own;
    QString m_run;
    int64_t m_saved = 0; ///< step of its checkpoint
    QString m_unwatched; ///< one that was not followed to its end
};

std::vector<RunSummary> TestCliEarlier::runs() const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    return reader ? (*reader)->runs() : std::vector<RunSummary>();
}

/// Of a run that saves at its end and before it.
QStringList TestCliEarlier::shortWords(const QString& name, int64_t steps,
                                       const QString& folder) const {
    return longRunWords(name, steps, "this-computer:1") +
           QStringList{"--set", "checkpoint.on_existing=resume",
                       "--set", "checkpoint.directory=" + folder,
                       "--set", "checkpoint.every=" + QString::number(kShortSteps - 10)};
}

std::vector<StoredCheckpoint> TestCliEarlier::checkpoints(const QString& run) const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    return (*reader)->checkpoints(run);
}

QString TestCliEarlier::reported(const QString& run, const char* code) const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    for (const StoredEvent& each : (*reader)->events(run)) // newest first
        if (each.event.code == code)
            return QString::fromStdString(each.event.message);
    return {};
}

/// Launches it and follows it until its newest attempt trains.
std::unique_ptr<QProcess> TestCliEarlier::train(const QStringList& more, size_t count,
                                                int attempt) {
    auto app = m_own.start(words(more + QStringList{"--wait", "--json"}));
    const auto trains = [&] {
        const auto known = runs();
        return known.size() == count && known.front().attempt == attempt &&
               known.front().state == RunStateKind::kRunning && known.front().step > m_saved;
    };
    if (!QTest::qWaitFor([&] { return trains() || app->state() != QProcess::Running; },
                         kDeadlineMs) ||
        !trains())
        qWarning("%s", (app->readAllStandardOutput() + app->readAllStandardError()).constData());
    return app;
}

void TestCliEarlier::killAll() {
    for (const RunSummary& run : runs())
        if (!hasEnded(run.state))
            m_own.run({"kill", run.id});
}

void TestCliEarlier::withNothingToGoOnFromItBeginsFromScratch() {
    const auto app = train({}, 1, 1);
    QCOMPARE(runs().size(), size_t(1));
    m_run = runs().front().id;
    QTRY_VERIFY(reported(m_run).endsWith("it begins from scratch"));
    const Answer saved = m_own.run({"checkpoint", m_run, "--json"});
    QVERIFY2(saved.exitCode == 0, saved.whole());
    m_saved = saved.json().object()["step"].toInteger();
    killAll();
    QVERIFY(app->waitForFinished(kDeadlineMs));
}

void TestCliEarlier::theSameSpecGoesOnAsTheNextAttemptOfARunThatHasEnded() {
    const auto app = train({}, 1, 2);
    QCOMPARE(runs().front().id, m_run);
    QCOMPARE(runs().front().attempt, 2);
    QTRY_VERIFY2(
        reported(m_run).contains(QString("the run %1 goes on with its next attempt from step "
                                         "%2 on")
                                     .arg(m_run)
                                     .arg(m_saved)),
        qPrintable(reported(m_run)));
    const QByteArray alive =
        QString("%1 is still running on this-computer; follow it (ringmaster attach %1), or pause "
                "or stop it first")
            .arg(m_run)
            .toUtf8();
    for (const QStringList& more : {QStringList(), QStringList{"--set", "optimizer.clip=0.5"}}) {
        const Answer refused = m_own.run(words(more));
        QVERIFY2(refused.exitCode != 0 && refused.err.contains(alive), refused.whole());
    }
    QCOMPARE(runs().size(), size_t(1));
    killAll();
    QVERIFY(app->waitForFinished(kDeadlineMs));
}

void TestCliEarlier::otherSettingsGoOnInARunOfTheirOwn() {
    const auto app = train({"--set", "optimizer.clip=0.5"}, 2, 1);
    QCOMPARE(runs().size(), size_t(2));
    const RunSummary run = runs().front();
    QCOMPARE(run.parentRun, m_run);
    QCOMPARE(run.parentStep, m_saved);
    QTRY_VERIFY2(reported(run.id).endsWith("as its settings differ in optimizer.clip"),
                 qPrintable(reported(run.id)));
    killAll();
    QVERIFY(app->waitForFinished(kDeadlineMs));
}

void TestCliEarlier::whatARunSavedUnwatchedIsGoneOnFrom_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("folder");
    QTest::newRow("in a folder that the spec names") << "shared" << m_own.path("saved");
    QTest::newRow("in its own folder") << "unwatched"
                                       << "";
}

/// Its terminal is killed before it saves, so that nobody here knows of its checkpoints or its end.
void TestCliEarlier::whatARunSavedUnwatchedIsGoneOnFrom() {
    QFETCH(QString, name);
    QFETCH(QString, folder);
    const size_t before = runs().size();
    const auto app = m_own.start(shortWords(name, kShortSteps, folder) + QStringList{"--wait"});
    const auto trains = [&] {
        return runs().size() == before + 1 && runs().front().state == RunStateKind::kRunning;
    };
    QVERIFY(QTest::qWaitFor(trains, kDeadlineMs));
    app->kill();
    QVERIFY(app->waitForFinished(kDeadlineMs));
    m_unwatched = runs().front().id;
    QTRY_VERIFY_WITH_TIMEOUT(!isServed(m_unwatched), kDeadlineMs);
    QCOMPARE(runs().front().state, RunStateKind::kRunning);
    QVERIFY(checkpoints(m_unwatched).empty());

    const Answer done =
        m_own.run(shortWords(name, kShortSteps + 4, folder) + QStringList{"--wait"});
    QVERIFY2(done.exitCode == 0, done.whole());
    QCOMPARE(runs().size(), before + 2);
    const RunSummary run = runs().front();
    QCOMPARE(run.parentRun, m_unwatched);
    QCOMPARE(run.parentStep, kShortSteps);
    QVERIFY2(reported(run.id).endsWith("as its settings differ in train.steps"),
             qPrintable(reported(run.id)));
}

/// Of a run with two checkpoints.
void TestCliEarlier::aDamagedNewestIsPassedOverByName() {
    const Answer deleted = m_own.run({"delete", runs().front().id}); // that went on from it
    QVERIFY2(deleted.exitCode == 0, deleted.whole());
    const auto there = checkpoints(m_unwatched); // newest first
    QCOMPARE(there.size(), size_t(2));
    QFile weights(QString::fromStdString(there.front().saved.path) + "/model.safetensors");
    QVERIFY(weights.open(QIODevice::ReadWrite) && weights.seek(weights.size() - 1));
    char last = 0;
    QVERIFY(weights.peek(&last, 1) == 1);
    last = static_cast<char>(last ^ 1);
    QVERIFY(weights.write(&last, 1) == 1);
    weights.close();

    const Answer done =
        m_own.run(shortWords("unwatched", kShortSteps + 5, {}) + QStringList{"--wait"});
    QVERIFY2(done.exitCode == 0, done.whole());
    const RunSummary run = runs().front();
    QCOMPARE(run.parentRun, m_unwatched);
    QCOMPARE(run.parentStep, there.back().saved.step);
    const QString words = reported(run.id, kCheckpointDamagedEvent);
    const QString passedOver =
        QString("checkpoint step %1 of %2 is damaged").arg(kShortSteps).arg(m_unwatched);
    QVERIFY2(words.startsWith(passedOver) &&
                 words.endsWith(QString("goes on from step %1").arg(run.parentStep)),
             qPrintable(words));
}

QTEST_GUILESS_MAIN(TestCliEarlier)
#include "tst_cli_earlier.moc"
