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
    void aRunThatTrainsIsNotGoneOnFrom();
    void otherSettingsGoOnInARunOfTheirOwn();

private:
    QStringList words(const QStringList& more = {}) const {
        return longRunWords(kName, 1000000, "this-computer:1") +
               QStringList{"--set", "checkpoint.on_existing=resume"} + more;
    }
    std::vector<RunSummary> runs() const;
    QString told(const QString& run) const;
    void trainAndKill(const QString& run);

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

void TestCliEarlier::withNothingToGoOnFromItBeginsFromScratch() {
    const Answer begun = m_own.run(words());
    QVERIFY2(begun.exitCode == 0, begun.whole());
    QCOMPARE(runs().size(), size_t(1));
    m_run = runs().front().id;
    QTRY_VERIFY_WITH_TIMEOUT(runs().front().step > 5, kDeadlineMs);
    QVERIFY2(begun.out.contains(m_run.toUtf8()), begun.whole());
    QTRY_VERIFY(told(m_run).endsWith("it begins from scratch"));
    const Answer saved = m_own.run({"checkpoint", m_run, "--json"});
    QVERIFY2(saved.exitCode == 0, saved.whole());
    m_saved = saved.json().object()["step"].toInteger();
    const Answer killed = m_own.run({"kill", m_run});
    QVERIFY2(killed.exitCode == 0, killed.whole());
}

void TestCliEarlier::theSameSpecGoesOnAsTheNextAttempt() {
    const Answer again = m_own.run(words());
    QVERIFY2(again.exitCode == 0, again.whole());
    QVERIFY2(again.out.contains(m_run.toUtf8()), again.whole());
    QCOMPARE(runs().size(), size_t(1));
    QTRY_COMPARE_WITH_TIMEOUT(runs().front().attempt, 2, kDeadlineMs);
    QTRY_VERIFY2(told(m_run).contains(QString("the run %1 goes on with its next attempt from step "
                                              "%2 on")
                                          .arg(m_run)
                                          .arg(m_saved)),
                 qPrintable(told(m_run)));
}

void TestCliEarlier::aRunThatTrainsIsNotGoneOnFrom() {
    const Answer refused = m_own.run(words());
    QVERIFY2(refused.exitCode != 0 && refused.err.contains("pause or stop it first"),
             refused.whole());
    QCOMPARE(runs().size(), size_t(1));
    const Answer killed = m_own.run({"kill", m_run});
    QVERIFY2(killed.exitCode == 0, killed.whole());
}

void TestCliEarlier::otherSettingsGoOnInARunOfTheirOwn() {
    const Answer other = m_own.run(words({"--set", "optimizer.lr=1e-5"}));
    QVERIFY2(other.exitCode == 0, other.whole());
    QCOMPARE(runs().size(), size_t(2));
    const RunSummary run = runs().front();
    QCOMPARE(run.parentRun, m_run);
    QCOMPARE(run.parentStep, m_saved);
    QTRY_VERIFY2(told(run.id).endsWith("as its settings differ in optimizer.lr"),
                 qPrintable(told(run.id)));
    const Answer killed = m_own.run({"kill", run.id});
    QVERIFY2(killed.exitCode == 0, killed.whole());
}

QTEST_GUILESS_MAIN(TestCliEarlier)
#include "tst_cli_earlier.moc"
