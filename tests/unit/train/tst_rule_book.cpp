// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/rule_book.h"

#include <QObject>
#include <QTest>

#include <limits>

using namespace rm;

namespace {

constexpr const char* kLoss = "validation/loss";

/// At which of the values the only rule acts, from 0.
std::vector<int> firings(RuleBook& book, const std::vector<double>& values,
                         const char* metric = kLoss) {
    std::vector<int> at;
    for (size_t i = 0; i < values.size(); ++i)
        if (!book.note(metric, values[i]).empty())
            at.push_back(static_cast<int>(i));
    return at;
}

std::vector<int> firings(const char* rule, const std::vector<double>& values) {
    RuleBook book({rule});
    return firings(book, values);
}

using At = std::vector<int>;

} // namespace

class TestRuleBook : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void risesAreCountedOnEnd() {
        const char* rule = "validation/loss rises 3 times: stop";
        QCOMPARE(firings(rule, {1, 2, 3, 4}), At{3});
        QCOMPARE(firings(rule, {1, 2, 3, 3, 4, 5, 6}), At{6}); // the same is no rise
        QCOMPARE(firings(rule, {1, 2, 3, 4, 5, 6, 7}), (At{3, 6}));
        QCOMPARE(firings(rule, {4, 3, 2, 1}), At{});
    }

    void fallsAreCountedOnEnd() {
        QCOMPARE(firings("validation/loss falls 2 times: stop", {5, 4, 3, 4, 3, 2}), (At{2, 5}));
    }

    void aStallIsMeasuredAgainstTheBest() {
        const char* rule = "validation/loss stalls 3 times: lr / 2";
        QCOMPARE(firings(rule, {3, 2, 2.5, 2.4, 2.3, 1.9, 2, 2, 2}), (At{4, 8}));
        RuleBook higher({"validation/bleu stalls 2 times: stop"});
        QCOMPARE(firings(higher, {10, 20, 15, 19, 21}, "validation/bleu"), At{3});
    }

    void aBoundActsOnceUntilTheMetricCameBack() {
        QCOMPARE(firings("validation/loss above 2: lr / 2", {1, 3, 3, 3, 1, 3}), (At{1, 5}));
        QCOMPARE(firings("validation/loss below 2 2 times: stop", {1, 3, 1, 1, 1, 3, 3, 1, 1}),
                 (At{3, 8}));
    }

    void noiseAroundABoundActsOnce() {
        QCOMPARE(firings("validation/loss above 2 3 times: lr / 2",
                         {3, 3, 3, 1, 3, 3, 3, 1, 1, 3, 3, 3, 1, 1, 1, 3, 3, 3}),
                 (At{2, 17}));
    }

    void aLimitHoldsOverACheckpoint() {
        const std::vector<std::string> rules{"validation/loss rises: lr / 2 at most 2 times"};
        QCOMPARE(firings(rules[0].c_str(), {1, 2, 3, 4, 5}), (At{1, 2}));
        RuleBook book(rules), again(rules);
        QCOMPARE(firings(book, {1, 2}), At{1});
        again.restore(book.states());
        QCOMPARE(firings(again, {3, 4, 5}), At{0});
    }

    void valuesThatAreNotFiniteSayNothing() {
        const double nan = std::numeric_limits<double>::quiet_NaN();
        QCOMPARE(firings("validation/loss rises 2 times: stop", {1, 2, nan, 3}), At{3});
        QCOMPARE(firings("validation/loss above 2: stop",
                         {nan, std::numeric_limits<double>::infinity()}),
                 At{});
    }

    void otherMetricsSayNothing() {
        RuleBook book({"validation/loss rises: stop"});
        QVERIFY(book.note("train/loss", 1).empty());
        QVERIFY(book.note("train/loss", 2).empty());
        QVERIFY(book.note(kLoss, 1).empty());
        const auto fired = book.note(kLoss, 2);
        QCOMPARE(fired.size(), size_t(1));
        QCOMPARE(fired[0].why, std::string("validation/loss rose 1 times, to 2"));
        QCOMPARE(fired[0].rule->text, std::string("validation/loss rises: stop"));
    }

    void stateGoesOnInAnotherBook() {
        const std::vector<std::string> rules{"validation/loss rises 3 times: stop",
                                             "validation/loss above 2: lr / 2"};
        RuleBook book(rules);
        for (const double value : {1.0, 2.0, 3.0})
            book.note(kLoss, value);
        RuleBook again(rules);
        again.restore(book.states());
        const auto fired = again.note(kLoss, 4); // the bound has acted already
        QCOMPARE(fired.size(), size_t(1));
        QCOMPARE(fired[0].rule->text, rules[0]);
        RuleBook other({"validation/loss rises 2 times: stop"});
        other.restore(book.states());
        QVERIFY(other.note(kLoss, 4).empty());
    }
};

QTEST_GUILESS_MAIN(TestRuleBook)
#include "tst_rule_book.moc"
