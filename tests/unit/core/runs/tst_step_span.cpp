// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/log_time.h"
#include "app/core/runs/slowdowns.h"
#include "app/core/runs/step_span.h"
#include "tests/unit/core/store/store_fixture.h"

#include <QTest>

#include <cmath>

using namespace rm;

namespace {

constexpr int64_t kStart = 1'000'000'000'000;
constexpr int64_t kSecond = 1'000'000'000;

} // namespace

/// Steps that a person looks at, and what is told of them.
class TestStepSpan : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void itsTimesAreBetweenTheEndsOfSteps() {
        StoreFixture store;
        train(store, {{1, 20, 1000, 0}});
        const auto middle = stepsOfRun(store.reader(), "a", StepSpan{5, 10});
        QVERIFY(middle && middle->steps == (StepSpan{5, 10}));
        QVERIFY(middle->times == (SpanTimes{kStart + 4 * kSecond, kStart + 10 * kSecond}));
        const auto first = stepsOfRun(store.reader(), "a", StepSpan{0, 2});
        QVERIFY(first && first->steps == (StepSpan{1, 2}));
        QVERIFY(first->times == (SpanTimes{0, kStart + 2 * kSecond}));
        const auto open = stepsOfRun(store.reader(), "a", StepSpan{15, 25});
        QVERIFY(open && open->steps == (StepSpan{15, StepSpan::kLast}) && !open->isWholeRun());
        QVERIFY(open->times.holds(kStart + 500 * kSecond));
        const auto whole = stepsOfRun(store.reader(), "a", StepSpan{});
        QVERIFY(whole && whole->isWholeRun());
        for (const StepSpan& none : {StepSpan{21, 30}, StepSpan{0, 0}, StepSpan{9, 8}}) {
            const auto there = stepsOfRun(store.reader(), "a", none);
            QVERIFY(!there && there.error().code == ErrorCode::kNotFound);
        }
    }

    /// Also deep inside of what is read at once.
    void stepsAreThoseThatEndedThen() {
        StoreFixture store;
        train(store, {{1, 5000, 1000, 0}});
        const SpanTimes times{kStart + 2345 * kSecond, kStart + 2349 * kSecond + kSecond / 2};
        const auto there = stepsOfRun(store.reader(), "a", times);
        QVERIFY(there && there->steps == (StepSpan{2346, 2349}));
        QVERIFY(there->times == times);
        QVERIFY(!stepsOfRun(store.reader(), "a",
                            SpanTimes{kStart + 7 * kSecond + 1, kStart + 7 * kSecond + 2}));
    }

    void aBranchHasNoStepsOfItsParent() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 400), started(1, 1, 400)});
        append(store, {401, 450, 100, 0});
        const auto first = stepsOfRun(store.reader(), "a", StepSpan{300, 410});
        QVERIFY(first && first->steps == (StepSpan{401, 410}) && first->times.firstNs == 0);
        QVERIFY(!stepsOfRun(store.reader(), "a", StepSpan{100, 300}));
    }

    void aStepHasATime() {
        StoreFixture store;
        train(store, {{1, 20, 1000, 0}});
        QCOMPARE(timeOfStep(store.reader(), "a", 7).value_or(0), kStart + 7 * kSecond);
        QVERIFY(!timeOfStep(store.reader(), "a", 21));
        QCOMPARE(timeUpTo(store.reader(), "a", 30).value_or(0), kStart + 20 * kSecond);
        QVERIFY(!timeUpTo(store.reader(), "a", 0));
        QCOMPARE(stepAt(store.reader(), "a", kStart + 7 * kSecond + 1).value_or(0), int64_t(7));
        QVERIFY(!stepAt(store.reader(), "a", kStart));
    }

    void anEndOfALogIsTheEndOfItsDay() {
        StoreFixture store;
        train(store, {{1, 20, 1000, 0}});
        const auto timeOf = [&](const char* text, LogEnd end) {
            return logTime(store.reader(), "a", text, kStart, end).value_or(-1);
        };
        constexpr int64_t kDay = 86'400 * kSecond;
        QCOMPARE(timeOf("2026-11-21", LogEnd::kUntil),
                 timeOf("2026-11-21", LogEnd::kSince) + kDay - 1);
        QCOMPARE(timeOf("2026-11-21 14:30", LogEnd::kUntil),
                 timeOf("2026-11-21 14:30", LogEnd::kSince) + 60 * kSecond - 1);
        QCOMPARE(timeOf("14:30:05", LogEnd::kUntil),
                 timeOf("14:30:05", LogEnd::kSince) + kSecond - 1);
        QCOMPARE(timeOf("20", LogEnd::kUntil), kStart + 20 * kSecond);
        QCOMPARE(timeOf("600", LogEnd::kUntil), std::numeric_limits<int64_t>::max());
        QCOMPARE(timeOf("600", LogEnd::kSince), int64_t(-1));
    }

    /// Rank 1 waits for its data in steps 100 to 200 alone.
    void figuresOfASpanAreOfItsSteps() {
        StoreFixture store;
        train(store, {{1, 99, 400, 0}, {100, 200, 600, 200}, {201, 400, 400, 0}});
        const auto figuresOf = [&](const std::optional<StepSpan>& span) {
            return readFigures(store.reader(), *store.reader().run("a"), span);
        };
        const RunFigures then = figuresOf(StepSpan{100, 200});
        QCOMPARE(std::lround(then.stepMs), 600L);
        QCOMPARE(then.steps, int64_t(101));
        QCOMPARE(then.stragglers.size(), size_t(1));
        QCOMPARE(then.stragglers[0].rank, 1);
        QCOMPARE(then.stragglers[0].cause, SlowCause::kData);
        QCOMPARE(std::lround(figuresOf({}).stepMs), 400L);
        QVERIFY(figuresOf({}).stragglers.empty());
        QVERIFY(figuresOf(StepSpan{300, 400}).stragglers.empty());
        QCOMPARE(std::lround(figuresOf(StepSpan{151, 250}).stepMs), 500L);
        const Verdict verdict =
            readVerdict(store.reader(), *store.reader().run("a"), StepSpan{100, 200});
        QVERIFY(!verdict.slowdowns.empty());
        QCOMPARE(verdict.slowdowns.front().rank, 1);
        QCOMPARE(figuresOf(StepSpan{500, 600}).steps, int64_t(0));
        QVERIFY(figuresOf(StepSpan{201, 220}).stragglers.empty()); // it was slow before
        QVERIFY(figuresOf(StepSpan{80, 400}).stragglers.size() == 1);
        QVERIFY(figuresOf(StepSpan{1, 400}).span == (StepSpan{1, 400}));
    }

    /// Steps 1 to 50 are set aside by an attempt that begins at 20 and is quicker.
    void figuresOfASpanAreOfTheLivingLine() {
        StoreFixture store;
        train(store, {{1, 50, 400, 0}});
        store.ingest("a", {started(2, 0, 20), started(2, 1, 20)});
        append(store, {21, 60, 100, 0});
        const RunFigures figures =
            readFigures(store.reader(), *store.reader().run("a"), StepSpan{21, 50});
        QCOMPARE(std::lround(figures.stepMs), 100L);
        QCOMPARE(figures.attemptBegin, int64_t(20));
    }

    /// The one before a restart counts, too.
    void aSlowRankOfAnEarlierAttemptIsNamed() {
        StoreFixture store;
        train(store, {{1, 300, 600, 200}});
        store.ingest("a", {started(2, 0, 300), started(2, 1, 300)});
        append(store, {301, 320, 400, 0});
        const RunFigures figures =
            readFigures(store.reader(), *store.reader().run("a"), StepSpan{100, 320});
        QCOMPARE(figures.stragglers.size(), size_t(1));
        QCOMPARE(figures.stragglers[0].rank, 1);
    }

    void longSpansHaveTheirMeans() {
        StoreFixture store;
        train(store, {{1, 6000, 100, 0}, {6001, 12'000, 300, 150}});
        const RunFigures figures =
            readFigures(store.reader(), *store.reader().run("a"), StepSpan{1, 12'000});
        QVERIFY2(std::abs(figures.stepMs - 200) < 1, qPrintable(QString::number(figures.stepMs)));
        QCOMPARE(figures.steps, int64_t(12'000));
        QCOMPARE(figures.stragglers.size(), size_t(1)); // in one half of it
        QCOMPARE(figures.stragglers[0].rank, 1);
    }

private:
    /// Steps of two ranks, of which rank 1 loads data for `loadMs` longer.
    struct Steps {
        int64_t first, last;
        float stepMs, loadMs;
    };

    static void append(StoreFixture& store, const Steps& steps) {
        std::vector<Record> records;
        for (int64_t step = steps.first; step <= steps.last; ++step)
            for (const int rank : {0, 1})
                records.push_back(
                    Samples{rank,
                            step,
                            kStart + step * kSecond,
                            {metric::kTrainLoss, metric::kTrainStepMs, metric::kPhaseDataMs,
                             metric::kPhaseForwardMs, metric::kPhaseAllreduceMs},
                            {3.0F, steps.stepMs, rank == 1 ? steps.loadMs : 0.0F, steps.stepMs / 4,
                             rank == 1 ? 0.0F : steps.loadMs}});
        store.ingest("a", std::move(records));
    }

    static void train(StoreFixture& store, const std::vector<Steps>& parts) {
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0), started(1, 1, 0)});
        for (const Steps& each : parts)
            append(store, each);
    }
};

QTEST_GUILESS_MAIN(TestStepSpan)
#include "tst_step_span.moc"
