// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/earlier_run.h"
#include "app/core/settings/paths.h"
#include "tests/cli/own_folders.h"

#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

using namespace rm;

namespace {

constexpr int kDeadlineMs = 60000;
const QString kName = "earlier";

} // namespace

/// Launches with checkpoint.on_existing = "resume" and without a folder, with real ranks: of the
/// runs that are known here. The functions build on one another, in order.
class TestCliEarlier : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void withNothingToGoOnFromItBeginsFromScratch();
    void theSameSpecGoesOnAsTheNextAttempt();
    void otherSettingsGoOnInARunOfTheirOwn();
    void cleanupTestCase() { killAll(); }

private:
    QStringList words(const QStringList& more = {}) const {
        return longRunWords(kName, 1000000, "this-computer:1") +
               QStringList{"--set", "checkpoint.on_existing=resume"} + more;
    }
    std::vector<RunSummary> runs() const;
    QString told(const QString& run) const;
    std::unique_ptr<QProcess> train(const QStringList& more, size_t count, int attempt);
    void killAll();

    OwnFolders m_own;
    QString m_run;
    int64_t m_saved = 0; ///< step of its checkpoint
};

std::vector<RunSummary> TestCliEarlier::runs() const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    return reader ? (*reader)->runs() : std::vector<RunSummary>();
}

QString TestCliEarlier::told(const QString& run) const {
    const auto reader = StoreReader::open(Paths::fromEnvironment().database());
    for (const StoredEvent& each : (*reader)->events(run)) // newest first
        if (each.event.code == kEarlierRunEvent)
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
    QTRY_VERIFY(told(m_run).endsWith("it begins from scratch"));
    const Answer saved = m_own.run({"checkpoint", m_run, "--json"});
    QVERIFY2(saved.exitCode == 0, saved.whole());
    m_saved = saved.json().object()["step"].toInteger();
    killAll();
    QVERIFY(app->waitForFinished(kDeadlineMs));
}

void TestCliEarlier::theSameSpecGoesOnAsTheNextAttempt() {
    const auto app = train({}, 1, 2);
    QCOMPARE(runs().front().id, m_run);
    QCOMPARE(runs().front().attempt, 2);
    QTRY_VERIFY2(told(m_run).contains(QString("the run %1 goes on with its next attempt from step "
                                              "%2 on")
                                          .arg(m_run)
                                          .arg(m_saved)),
                 qPrintable(told(m_run)));
    const Answer refused = m_own.run(words());
    QVERIFY2(refused.exitCode != 0 && refused.err.contains("pause or stop it first"),
             refused.whole());
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
    QTRY_VERIFY2(told(run.id).endsWith("as its settings differ in optimizer.clip"),
                 qPrintable(told(run.id)));
    killAll();
    QVERIFY(app->waitForFinished(kDeadlineMs));
}

QTEST_GUILESS_MAIN(TestCliEarlier)
#include "tst_cli_earlier.moc"
