// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/event_codes.h"
#include "shared/metrics/straggler_watch.h"
#include "tests/unit/train/trainer_run.h"

#include <QObject>
#include <QTest>

#include <algorithm>

using namespace rm;
using namespace rm::test;

namespace {

/// Small steps, beside which 200 ms are long.
RunSpec spec(int64_t steps) {
    RunSpec spec = tinySpec();
    spec.train.steps = steps;
    return spec;
}

std::vector<Event> slowness(const TrainerRun& run) {
    std::vector<Event> events = run.recordsOf<Event>(0);
    std::erase_if(events, [](const Event& event) {
        return event.code != kRankSlowEvent && event.code != kRankKeepsUpEvent;
    });
    return events;
}

} // namespace

/// Real ranks over Gloo, of which one is slowed down.
class TestTrainerStragglers : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aSlowRankIsJournaledWithItsCause_data() {
        QTest::addColumn<int>("ranks");
        QTest::addColumn<QString>("slow");
        QTest::addColumn<QString>("words");
        QTest::newRow("data") << 2 << "1:data:200:30:90"
                              << "waiting for data takes ";
        QTest::newRow("compute") << 3 << "2:compute:200:30:90"
                                 << "computing takes ";
        QTest::newRow("rank 0") << 2 << "0:data:200:30:90"
                                << "waiting for data takes ";
    }
    void aSlowRankIsJournaledWithItsCause() {
        QFETCH(const int, ranks);
        QFETCH(const QString, slow);
        QFETCH(const QString, words);
        TrainerRun run;
        run.setVariable("RINGMASTER_SLOW", slow);
        run.start(spec(400), ranks);
        QCOMPARE(run.finish(), std::vector<int>(static_cast<size_t>(ranks), 0));
        const std::vector<Event> events = slowness(run);
        QVERIFY2(!events.empty(), qPrintable(run.output(0)));
        const Event& began = events.front();
        QCOMPARE(began.code, std::string(kRankSlowEvent));
        QCOMPARE(began.severity, Severity::kWarning);
        QCOMPARE(began.rank, slow.left(1).toInt());
        QVERIFY2(began.message.starts_with(words.toStdString()), began.message.c_str());
        // While it is slow. That 20 steps are enough is shown by tst_straggler_watch: here other
        // programs may take the processors from even ranks, too.
        QVERIFY2(began.step >= 30 + 12 && began.step <= 90,
                 qPrintable(QString::number(began.step)));
        for (int rank = 1; rank < ranks; ++rank)
            for (const Event& event : run.recordsOf<Event>(rank))
                QVERIFY(event.code != kRankSlowEvent);
    }

    void evenRanksHaveNoStraggler() {
        TrainerRun run;
        QCOMPARE(run.run(spec(400), 2), (std::vector<int>{0, 0}));
        const auto events = slowness(run);
        QVERIFY2(events.empty(), events.empty() ? "" : events.front().message.c_str());
    }

    void oneRankHasNone() {
        TrainerRun run;
        run.setVariable("RINGMASTER_SLOW", "0:data:60");
        QCOMPARE(run.run(spec(40), 1), std::vector<int>{0});
        QVERIFY(slowness(run).empty());
    }
};

QTEST_GUILESS_MAIN(TestTrainerStragglers)
#include "tst_trainer_stragglers.moc"
