// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/peers/copy_plan.h"

#include <QTest>

using namespace rm;

namespace {

constexpr int64_t kSecondNs = CopyPlan::kSecondNs;
constexpr int64_t kBeginNs = 1000 * kSecondNs;

} // namespace

class TestCopyPlan : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void eachIsOfferedOnce() {
        CopyPlan plan;
        QVERIFY(plan.isDue(kBeginNs));
        QVERIFY(!plan.onNewest("", 0, kBeginNs)); // there is none yet
        QVERIFY(!plan.isDue(kBeginNs + kSecondNs));
        int64_t now = kBeginNs + CopyPlan::kLookNs;
        QVERIFY(plan.isDue(now));
        QVERIFY(plan.onNewest("step-10", 0, now));
        QVERIFY(!plan.onAnswer({"step-10", ""}, now + kSecondNs));
        now += CopyPlan::kLookNs;
        QVERIFY(plan.isDue(now));
        QVERIFY(!plan.onNewest("step-10", 0, now));
        QVERIFY(plan.onNewest("step-20", 0, now + CopyPlan::kLookNs));
    }

    void oneAtATime() {
        CopyPlan plan;
        QVERIFY(plan.onNewest("step-10", 0, kBeginNs));
        // It takes an hour, as its bytes move.
        int64_t now = kBeginNs;
        for (; now < kBeginNs + 3600 * kSecondNs; now += kSecondNs) {
            plan.onProgress(now);
            QVERIFY(!plan.isDue(now));
        }
        // Then nothing is heard any more.
        QVERIFY(plan.isDue(now + CopyPlan::kAnswerNs));
        QVERIFY(plan.onNewest("step-20", 0, now + CopyPlan::kAnswerNs));
        QVERIFY(!plan.onAnswer({"step-10", "too late"}, now + CopyPlan::kAnswerNs));
        QVERIFY(!plan.isDue(now + CopyPlan::kAnswerNs + CopyPlan::kLookNs));
    }

    void whatFailsIsToldOnceAndTriedAgainLater() {
        CopyPlan plan;
        int64_t now = kBeginNs;
        QVERIFY(plan.onNewest("step-10", 0, now));
        QVERIFY(plan.onAnswer({"step-10", "no room"}, now));
        int64_t pauseNs = CopyPlan::kRetryNs;
        for (int i = 0; i < 20; ++i) {
            QVERIFY(!plan.onNewest("step-10", 0, now + pauseNs - 1));
            now += pauseNs;
            QVERIFY(plan.onNewest("step-10", 0, now));
            QVERIFY(!plan.onAnswer({"step-10", "no room"}, now));
            pauseNs = std::min(2 * pauseNs, 64 * CopyPlan::kRetryNs);
        }
        now += pauseNs;
        QVERIFY(plan.onNewest("step-10", 0, now));
        QVERIFY(!plan.onAnswer({"step-10", ""}, now));
        QVERIFY(plan.onNewest("step-20", 0, now + CopyPlan::kLookNs));
        QVERIFY(plan.onAnswer({"step-20", "no room"}, now + CopyPlan::kLookNs));
    }

    void aNewerOneDoesNotWaitForOneThatFailed() {
        CopyPlan plan;
        QVERIFY(plan.onNewest("step-10", 0, kBeginNs));
        QVERIFY(plan.onAnswer({"step-10", "it was removed meanwhile"}, kBeginNs));
        const int64_t now = kBeginNs + CopyPlan::kLookNs;
        QVERIFY(plan.isDue(now));
        QVERIFY(!plan.onNewest("step-10", 0, now));
        QVERIFY(plan.isDue(now + CopyPlan::kLookNs));
        QVERIFY(plan.onNewest("step-20", 0, now + CopyPlan::kLookNs));
    }

    void onceTheRunIsOverTheNewestIsOfferedAtOnceAndOnce() {
        CopyPlan plan;
        QVERIFY(plan.onNewest("step-10", 0, kBeginNs));
        QVERIFY(plan.onAnswer({"step-10", "no room"}, kBeginNs));
        const int64_t now = kBeginNs + kSecondNs;
        QVERIFY(!plan.isDue(now) && !plan.isDone(now));
        plan.onOver();
        QVERIFY(plan.isDue(now) && !plan.isDone(now));
        QVERIFY(plan.onNewest("step-10", 0, now)); // though it failed a second ago
        QVERIFY(!plan.isDue(now) && !plan.isDone(now));
        QVERIFY(plan.onAnswer({"step-10", "no room"}, now)); // told again, as it is the last try
        QVERIFY(plan.isDone(now));
        QVERIFY(!plan.isDue(now + 3600 * kSecondNs));
    }

    void onceTheRunIsOverWhatHasItsCopyNeedsNone() {
        for (const char* newest : {"", "step-10"}) {
            CopyPlan plan;
            QVERIFY(plan.onNewest("step-10", 0, kBeginNs));
            QVERIFY(!plan.onAnswer({"step-10", ""}, kBeginNs));
            plan.onOver();
            QVERIFY(!plan.isDone(kBeginNs));
            QVERIFY(!plan.onNewest(newest, 0, kBeginNs));
            QVERIFY(plan.isDone(kBeginNs));
        }
    }

    void onceTheRunIsOverAnOlderOneIsGivenUpForTheNewest() {
        CopyPlan plan;
        QVERIFY(plan.onNewest("step-10", 0, kBeginNs));
        plan.onOver();
        QVERIFY(plan.isDue(kBeginNs));
        QVERIFY(plan.onNewest("step-20", 0, kBeginNs));
        QVERIFY(!plan.onAnswer({"step-10", ""}, kBeginNs));
        QCOMPARE(plan.offered(), std::string("step-20"));
        QVERIFY(!plan.isDone(kBeginNs));
        QVERIFY(!plan.onAnswer({"step-20", ""}, kBeginNs));
        QVERIFY(plan.isDone(kBeginNs));
    }

    void onceTheRunIsOverTheNewestGoesOnWhenItIsOnItsWay() {
        CopyPlan plan;
        QVERIFY(plan.onNewest("step-10", 0, kBeginNs));
        plan.onOver();
        QVERIFY(!plan.onNewest("step-10", 0, kBeginNs));
        QVERIFY(!plan.isDone(kBeginNs));
        QVERIFY(!plan.onAnswer({"step-10", ""}, kBeginNs));
        QVERIFY(plan.isDone(kBeginNs));
    }

    void theTimeOfTheLastGrowsWithItsSize() {
        for (const int64_t seconds : {0, 100}) {
            CopyPlan plan;
            plan.onOver();
            QVERIFY(plan.onNewest("step-10", seconds * CopyPlan::kLeastRate, kBeginNs));
            const int64_t endNs = kBeginNs + CopyPlan::kLastNs + seconds * kSecondNs;
            for (int64_t now = kBeginNs; now < endNs; now += kSecondNs) {
                plan.onProgress(now);
                QVERIFY(!plan.isDone(now));
            }
            QVERIFY(plan.isDone(endNs));
        }
        CopyPlan stalls;
        stalls.onOver();
        QVERIFY(stalls.onNewest("step-10", 3600 * CopyPlan::kLeastRate, kBeginNs));
        QVERIFY(stalls.isDone(kBeginNs + CopyPlan::kAnswerNs));
    }

    void whatNodesShareIsNoCopyAndNoProblem() {
        const FetchOrder order{"/c/step-10", 2, 10};
        const FetchedCopy shared = fetchedCopy(order, R"({"shared":true})", 5);
        QCOMPARE(shared.answer, (FetchAnswer{order.path, ""}));
        QVERIFY(!shared.copied);
        const FetchedCopy copied = fetchedCopy(
            order, R"({"folder":"/b/step-10","dropped":["/b/1"],"bytes":7,"reason":"end"})", 5);
        QCOMPARE(copied.answer, (FetchAnswer{order.path, ""}));
        QVERIFY(copied.copied ==
                (CheckpointCopied{10, 5, order.path, "/b/step-10", {"/b/1"}, 2, 7, "end"}));
        for (const char* text : {"", "3", "{}", R"({"problem":"its agent could not fetch it"})"}) {
            const FetchedCopy failed = fetchedCopy(order, text, 5);
            QCOMPARE(failed.answer, (FetchAnswer{order.path, "its agent could not fetch it"}));
            QVERIFY(!failed.copied);
        }
    }
};

QTEST_APPLESS_MAIN(TestCopyPlan)
#include "tst_copy_plan.moc"
