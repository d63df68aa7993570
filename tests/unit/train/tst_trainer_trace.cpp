// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/rank_ends.h"
#include "tests/unit/train/trainer_run.h"

#include <QObject>
#include <QTest>

#include <algorithm>
#include <map>
#include <set>

using namespace rm;
using namespace rm::test;

namespace {

/// Of all parts of a rank's trace that begins at that step.
struct Whole {
    std::vector<TraceSlice> slices;
    bool isLast = false;
    int64_t wallNs = 0, clockNs = 0;
};

Whole traceOf(const TrainerRun& run, int rank, int64_t firstStep) {
    Whole whole;
    for (const TraceRecorded& part : run.recordsOf<TraceRecorded>(rank)) {
        if (part.firstStep != firstStep)
            continue;
        whole.slices.insert(whole.slices.end(), part.slices.begin(), part.slices.end());
        whole.isLast = whole.isLast || part.last;
        whole.wallNs = part.wallNs;
        whole.clockNs = part.clockNs;
    }
    return whole;
}

std::map<int64_t, TraceSlice> stepsIn(const Whole& trace) {
    std::map<int64_t, TraceSlice> steps;
    for (const TraceSlice& slice : trace.slices)
        if (slice.kind == TraceKind::kStep)
            steps[slice.step] = slice;
    return steps;
}

std::map<int64_t, TraceSlice> collectivesIn(const Whole& trace) {
    std::map<int64_t, TraceSlice> all;
    for (const TraceSlice& slice : trace.slices)
        if (isCollective(slice.kind))
            all[slice.number] = slice;
    return all;
}

/// Empty: the phases of every step follow each other from its begin to its end; else what is wrong.
QString flawIn(const Whole& trace) {
    for (const auto& [number, step] : stepsIn(trace)) {
        std::vector<TraceSlice> phases;
        for (const TraceSlice& slice : trace.slices)
            if (slice.step == number && slice.kind != TraceKind::kStep && !isCollective(slice.kind))
                phases.push_back(slice);
        std::ranges::sort(phases, {}, &TraceSlice::beginNs);
        int64_t at = step.beginNs;
        for (const TraceSlice& phase : phases) {
            if (phase.beginNs != at)
                return QString("%1 of step %2 begins %3 ns after what is before it")
                    .arg(traceKindName(phase.kind))
                    .arg(number)
                    .arg(phase.beginNs - at);
            at = phase.endNs();
        }
        if (at != step.endNs())
            return QString("step %1 ends %2 ns after its last phase")
                .arg(number)
                .arg(step.endNs() - at);
    }
    return {};
}

std::set<TraceKind> kindsIn(const Whole& trace) {
    std::set<TraceKind> kinds;
    for (const TraceSlice& slice : trace.slices)
        kinds.insert(slice.kind);
    return kinds;
}

RunSpec tracedSpec() {
    RunSpec spec = tinySpec();
    spec.train.steps = 1000000;
    return spec;
}

Command traceOf(const char* id, int64_t steps) {
    return {id, CommandKind::kTrace, {{"steps", std::to_string(steps)}}};
}

} // namespace

class TestTrainerTrace : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyRankRecordsTheSameStepsWithoutGaps_data() {
        QTest::addColumn<bool>("sharded");
        QTest::newRow("whole optimizer") << false;
        QTest::newRow("sharded optimizer") << true;
    }

    void everyRankRecordsTheSameStepsWithoutGaps() {
        QFETCH(bool, sharded);
        constexpr int kSteps = 6;
        RunSpec spec = tracedSpec();
        spec.optimizer.sharded = sharded;
        spec.validation.every = 4; // one of the steps
        spec.train.logEvery = 5;   // a trace has those that are not logged, too
        TrainerRun run;
        run.setVariable("RINGMASTER_TRACE_SKEW", "1:1000");
        run.start(spec, 2);
        QVERIFY(run.post(traceOf("t", kSteps)));
        const auto begun = run.applied("t");
        QVERIFY(begun && begun->ok);
        const int64_t first = begun->step + 1;
        QCOMPARE(QString::fromStdString(begun->message),
                 QString("steps %1 to %2 are recorded").arg(first).arg(first + kSteps - 1));
        for (const int rank : {0, 1})
            QTRY_VERIFY_WITH_TIMEOUT(traceOf(run, rank, first).isLast, 60000);
        const Whole traces[] = {traceOf(run, 0, first), traceOf(run, 1, first)};
        for (const Whole& trace : traces) {
            const auto steps = stepsIn(trace);
            QCOMPARE(steps.size(), size_t(kSteps));
            QCOMPARE(steps.begin()->first, first);
            QCOMPARE(steps.rbegin()->first, first + kSteps - 1);
            QCOMPARE(flawIn(trace), QString());
            const auto kinds = kindsIn(trace);
            for (const TraceKind kind :
                 {TraceKind::kData, TraceKind::kForward, TraceKind::kBackward,
                  TraceKind::kAllReduceWait, TraceKind::kOptimizer, TraceKind::kValidation})
                QVERIFY2(kinds.contains(kind), traceKindName(kind));
        }
        const auto mine = collectivesIn(traces[0]), others = collectivesIn(traces[1]);
        QVERIFY(mine.size() >= size_t(kSteps));
        QCOMPARE(others.size(), mine.size());
        for (const auto& [number, slice] : mine) {
            const TraceSlice& other = others.at(number);
            QCOMPARE(other.kind, slice.kind);
            QCOMPARE(other.step, slice.step);
            QCOMPARE(other.bytes, slice.bytes);
            QVERIFY(slice.bytes > 0 && slice.durationNs >= 0);
        }
        // Both ranks have the clock of this machine, but that of rank 1 was shifted.
        const int64_t apart = (traces[1].clockNs - traces[1].wallNs) -
                              (traces[0].clockNs - traces[0].wallNs) - 1'000'000'000;
        QVERIFY2(std::abs(apart) < 100'000'000, qPrintable(QString::number(apart)));
        QVERIFY(run.post({"s", CommandKind::kStop, {}}));
        QCOMPARE(run.finish(), both(ExitCode::kStopped));
    }

    void trainingIsTheSameWithATrace() {
        RunSpec spec = tinySpec();
        spec.train.steps = 40;
        TrainerRun plain, traced;
        QCOMPARE(plain.run(spec, 2), both(ExitCode::kOk));
        traced.setVariable("RINGMASTER_STEP_MS", "200");
        traced.start(spec, 2);
        QVERIFY(traced.post(traceOf("t", 20)));
        const auto begun = traced.applied("t");
        QVERIFY(begun && begun->ok);
        QCOMPARE(traced.finish(), both(ExitCode::kOk));
        QVERIFY(traceOf(traced, 1, begun->step + 1).isLast);
        for (const int rank : {0, 1})
            for (const MetricId metric : {metric::kTrainLoss, metric::kTrainGradNorm}) {
                const auto before = plain.series(rank, metric);
                QCOMPARE(before.size(), size_t(40));
                QVERIFY(traced.series(rank, metric) == before); // to the last bit
            }
    }

    void aSecondTraceWaitsForTheFirst() {
        TrainerRun run;
        run.start(tracedSpec(), 1);
        QVERIFY(run.post({"h", CommandKind::kHold, {}})); // no step ends meanwhile
        QVERIFY(run.applied("h"));
        QVERIFY(run.post(traceOf("one", 3)));
        QVERIFY(run.applied("one") && run.applied("one")->ok);
        QVERIFY(run.post(traceOf("two", 3)));
        const auto refused = run.applied("two");
        QVERIFY(refused && !refused->ok);
        QVERIFY2(refused->message.find("is being recorded; ask again when it is done") !=
                     std::string::npos,
                 refused->message.c_str());
        QVERIFY(run.post({"c", CommandKind::kContinue, {}}));
        const int64_t first = run.applied("one")->step + 1;
        QTRY_VERIFY_WITH_TIMEOUT(traceOf(run, 0, first).isLast, 30000);
        QCOMPARE(stepsIn(traceOf(run, 0, first)).size(), size_t(3));
        QCOMPARE(flawIn(traceOf(run, 0, first)), QString());
        QVERIFY(collectivesIn(traceOf(run, 0, first)).empty()); // there is one rank
        QVERIFY(run.post({"s", CommandKind::kStop, {}}));
        QCOMPARE(run.finish(), std::vector<int>{static_cast<int>(ExitCode::kStopped)});
    }

    void whatWasRecordedStaysWhenTheRunIsPaused() {
        TrainerRun run;
        run.setVariable("RINGMASTER_STEP_MS", "20");
        run.start(tracedSpec(), 2);
        QVERIFY(run.post(traceOf("t", 200)));
        const auto begun = run.applied("t");
        QVERIFY(begun && begun->ok);
        const int64_t first = begun->step + 1;
        QTRY_VERIFY_WITH_TIMEOUT(stepsIn(traceOf(run, 1, first)).size() >= 3, 30000);
        QVERIFY(run.post({"p", CommandKind::kPause, {}}));
        QCOMPARE(run.finish(), both(ExitCode::kPaused));
        for (const int rank : {0, 1}) {
            const Whole trace = traceOf(run, rank, first);
            QVERIFY(trace.isLast);
            QCOMPARE(stepsIn(trace).rbegin()->first, run.applied("p")->step);
            QCOMPARE(flawIn(trace), QString());
            QVERIFY(kindsIn(trace).contains(TraceKind::kCheckpoint));
        }
    }

    void tooManyStepsAreRefused() {
        TrainerRun run;
        run.start(tracedSpec(), 1);
        QVERIFY(run.post(traceOf("t", kMostTraceSteps + 1)));
        const auto refused = run.applied("t");
        QVERIFY(refused && !refused->ok);
        QCOMPARE(refused->message, "trace with steps = \"201\": it takes steps = 1 to 200");
        QVERIFY(run.post({"s", CommandKind::kStop, {}}));
        QCOMPARE(run.finish(), std::vector<int>{static_cast<int>(ExitCode::kStopped)});
    }
};

QTEST_GUILESS_MAIN(TestTrainerTrace)
#include "tst_trainer_trace.moc"
