// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/queue/halving.h"

#include <QTest>

#include <limits>

namespace {

using namespace rm;
using State = RunStateKind;

const std::vector<int64_t> kRungs = {10, 20};

HalvingRun at(const char* run, int64_t step, std::vector<std::optional<double>> values,
              State state = State::kPaused, bool isQueued = false) {
    return {run, state, step, isQueued, std::move(values)};
}

/// "a+ b-": a goes on, b does not.
QString verdicts(const std::vector<HalvingRun>& runs, int eta = 2, bool isLowerBetter = true) {
    QStringList words;
    for (const HalvingVerdict& verdict : halvingVerdicts(runs, kRungs, eta, isLowerBetter))
        words << verdict.run + (verdict.goesOn ? "+" : "-");
    return words.join(' ');
}

class TestHalving : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theBetterHalfGoesOn() {
        const auto runs = {at("a", 10, {3.0}), at("b", 10, {1.0}), at("c", 10, {4.0}),
                           at("d", 10, {2.0})};
        QCOMPARE(verdicts(runs), "b+ d+ a- c-");
        QCOMPARE(verdicts(runs, 2, false), "c+ a+ d- b-");
        QCOMPARE(verdicts(runs, 4), "b+ d- a- c-");
        const auto first = halvingVerdicts(runs, kRungs, 2, true).at(2);
        QCOMPARE(first, (HalvingVerdict{"a", false, 10, 3, 4, 2}));
    }

    void nobodyIsJudgedWhileOneIsOnItsWay() {
        QCOMPARE(verdicts({at("a", 10, {3.0}), at("b", 4, {}, State::kRunning)}), "");
        QCOMPARE(verdicts({at("a", 10, {3.0}), at("b", 0, {}, State::kWaiting, true)}), "");
        QCOMPARE(verdicts({at("a", 10, {3.0}), at("b", 4, {}, State::kPaused, true)}), "");
    }

    void whoEndedBeforeTheRungIsOut() {
        QCOMPARE(verdicts({at("a", 10, {3.0}), at("b", 4, {}, State::kFailed),
                           at("c", 4, {}, State::kPaused), at("d", 10, {2.0})}),
                 "d+ a-");
    }

    void aRunWithoutAValueComesLast() {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(verdicts({at("a", 10, {std::nullopt}), at("b", 10, {nan}), at("c", 10, {9.0})}),
                 "c+ a- b-");
        QCOMPARE(verdicts({at("a", 10, {std::nullopt}), at("c", 10, {9.0})}, 2, false), "c+ a-");
    }

    void verdictsCanBeAskedForAgain() {
        // Of two that go on one was put into the queue before this program ended.
        QCOMPARE(verdicts({at("a", 10, {1.0}, State::kPaused, true), at("b", 10, {2.0}),
                           at("c", 10, {3.0}, State::kStopped), at("d", 10, {4.0})}),
                 "b+ d-");
        // All is decided, and the best are on their way to the next rung.
        QCOMPARE(
            verdicts({at("a", 14, {1.0}, State::kRunning), at("b", 10, {2.0}, State::kPaused, true),
                      at("c", 10, {3.0}, State::kStopped), at("d", 10, {4.0}, State::kStopped)}),
            "");
    }

    void theNextRungJudgesThoseThatWentOn() {
        QCOMPARE(
            verdicts({at("a", 20, {1.0, 5.0}), at("b", 20, {2.0, 4.0}),
                      at("c", 10, {3.0}, State::kStopped), at("d", 10, {4.0}, State::kStopped)}),
            "b+ a-");
        // One that a person resumed all the same is not of them.
        QCOMPARE(verdicts({at("a", 20, {1.0, 5.0}), at("b", 20, {2.0, 4.0}),
                           at("c", 20, {3.0, 0.0}), at("d", 10, {4.0}, State::kStopped)}),
                 "b+ a-");
    }

    void theLastOneIsNotHalved() {
        QCOMPARE(verdicts({at("a", 20, {1.0, 5.0}), at("b", 10, {2.0}, State::kStopped)}), "a+");
        QCOMPARE(verdicts({}), "");
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
