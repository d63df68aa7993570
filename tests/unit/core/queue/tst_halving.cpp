// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/queue/halving.h"

#include <QTest>

#include <limits>
#include <map>

namespace {

using namespace rm;
using State = RunStateKind;

const std::vector<int64_t> kRungs = {10, 20};

/// `judged`: RunSummary::rung.
RunSummary at(const char* id, int64_t step, State state = State::kPaused, int64_t judged = 0,
              int place = 0) {
    RunSummary run;
    run.id = id;
    run.step = step;
    run.state = state;
    run.rung = judged;
    run.queuePlace = place;
    return run;
}

using Values = std::map<QString, double>;

/// "a+ b-": a goes on, b does not.
QString verdicts(const std::vector<RunSummary>& runs, const Values& values, int eta = 2,
                 bool isLowerBetter = true) {
    const auto valueAt = [&](const RunSummary& run, int64_t) -> std::optional<double> {
        const auto value = values.find(run.id);
        return value == values.end() ? std::nullopt : std::optional(value->second);
    };
    QStringList words;
    for (const HalvingVerdict& verdict :
         halvingVerdicts(runs, {kRungs, eta, isLowerBetter, valueAt}))
        words << verdict.run->id + (verdict.goesOn ? "+" : "-");
    return words.join(' ');
}

class TestHalving : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theBetterHalfGoesOn() {
        const auto runs = {at("a", 10), at("b", 10), at("c", 10), at("d", 10)};
        const Values values = {{"a", 3}, {"b", 1}, {"c", 4}, {"d", 2}};
        QCOMPARE(verdicts(runs, values), "b+ d+ a- c-");
        QCOMPARE(verdicts(runs, values, 2, false), "c+ a+ d- b-");
        QCOMPARE(verdicts(runs, values, 4), "b+ d- a- c-");
        QCOMPARE(undecidedRuns(runs, kRungs), size_t(4));
    }

    void nobodyIsJudgedWhileOneIsOnItsWay() {
        const Values values = {{"a", 3}, {"b", 1}};
        QCOMPARE(verdicts({at("a", 10), at("b", 4, State::kRunning)}, values), "");
        // It has come to the step, and validates there.
        QCOMPARE(verdicts({at("a", 10), at("b", 10, State::kRunning)}, values), "");
        QCOMPARE(verdicts({at("a", 10), at("b", 0, State::kWaiting, 0, 1)}, values), "");
        QCOMPARE(verdicts({at("a", 10), at("b", 4, State::kPaused, 0, 1)}, values), "");
    }

    void whoEndedBeforeTheRungIsOut() {
        const auto runs = {at("a", 10), at("b", 4, State::kFailed), at("c", 4, State::kPaused),
                           at("d", 10)};
        QCOMPARE(verdicts(runs, {{"a", 3}, {"d", 2}}), "d+ a-");
    }

    void aRunWithoutAValueComesLast() {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(verdicts({at("a", 10), at("b", 10), at("c", 10)}, {{"b", nan}, {"c", 9}}),
                 "c+ a- b-");
        QCOMPARE(verdicts({at("a", 10), at("c", 10)}, {{"c", 9}}, 2, false), "c+ a-");
    }

    void aRungIsDecidedOnce() {
        const auto runs = {at("a", 14, State::kRunning, 10), at("b", 10, State::kPaused, 10),
                           at("c", 10, State::kStopped, -10), at("d", 10, State::kStopped, -10)};
        QCOMPARE(verdicts(runs, {}), "");
        QCOMPARE(undecidedRuns(runs, kRungs), size_t(1)); // b was taken out of the queue
        // One that was late, as a person resumed it.
        QCOMPARE(verdicts({at("a", 20, State::kFinished, 10), at("e", 10)}, {{"e", 0}}), "");
    }

    void theNextRungJudgesThoseThatWentOn() {
        const Values values = {{"a", 5}, {"b", 4}, {"c", 0}};
        QCOMPARE(verdicts({at("a", 20, State::kPaused, 10), at("b", 20, State::kPaused, 10),
                           at("c", 10, State::kStopped, -10)},
                          values),
                 "b+ a-");
        // One that a person resumed all the same is not of them.
        QCOMPARE(verdicts({at("a", 20, State::kPaused, 10), at("b", 20, State::kPaused, 10),
                           at("c", 20, State::kPaused, -10)},
                          values),
                 "b+ a-");
        // The others may have been deleted for good.
        QCOMPARE(
            verdicts({at("a", 20, State::kPaused, 10), at("b", 20, State::kPaused, 10)}, values),
            "b+ a-");
    }

    void theLastOneIsNotHalved() {
        QCOMPARE(verdicts({at("a", 20, State::kPaused, 10), at("b", 10, State::kStopped, -10)}, {}),
                 "a+");
        QCOMPARE(verdicts({}, {}), "");
        QCOMPARE(undecidedRuns({at("a", 30, State::kFinished, 20)}, kRungs), size_t(0));
    }

    void whatIsInTheTrashGetsNoVerdict() {
        RunSummary gone = at("a", 10);
        gone.deletedNs = 1;
        QCOMPARE(verdicts({gone, at("b", 10)}, {{"a", 1}, {"b", 2}}), "b-");
    }

    void rungsGrowByEtaUpToTheEnd() {
        QCOMPARE(halvingRungs(100, 2, 1000), (std::vector<int64_t>{100, 200, 400, 800}));
        QCOMPARE(halvingRungs(100, 3, 300), std::vector<int64_t>{100});
        QCOMPARE(halvingRungs(100, 3, 100), std::vector<int64_t>());
        QCOMPARE(halvingRungs(1, 2, std::numeric_limits<int64_t>::max()).size(), size_t(63));
    }
};

} // namespace

QTEST_GUILESS_MAIN(TestHalving)
#include "tst_halving.moc"
