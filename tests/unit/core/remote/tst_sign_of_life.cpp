// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/sign_of_life.h"

#include <QTest>

using namespace rm;
using namespace std::chrono_literals;

using Verdict = SignOfLife::Verdict;

class SignOfLifeTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void silenceIsAskedAboutAndThenTaken();
    void anAnswerEndsTheQuestion();
    void aLinkThatNobodyLookedAtIsAskedFirst();
    void whatWasSentHasTimeToArrive();
};

void SignOfLifeTest::silenceIsAskedAboutAndThenTaken() {
    const auto now = SignOfLife::Clock::now();
    SignOfLife sign;
    QVERIFY(sign.look(now, 100, 50) == Verdict::kFine);
    QVERIFY(sign.look(now + 4s, 100, 50) == Verdict::kFine);
    QVERIFY(sign.nextLook() == now + SignOfLife::kQuiet);
    QVERIFY(sign.look(now + 5s, 100, 50) == Verdict::kAsk);
    QVERIFY(sign.look(now + 14s, 100, 50) == Verdict::kFine);
    QVERIFY(sign.look(now + 15s, 100, 50) == Verdict::kGone);
}

void SignOfLifeTest::anAnswerEndsTheQuestion() {
    const auto now = SignOfLife::Clock::now();
    SignOfLife sign;
    QVERIFY(sign.look(now, 100, 50) == Verdict::kFine);
    // A node that computes for an hour, whose server answers.
    uint64_t in = 100;
    for (int second = 5; second < 3600; second += 5) {
        QVERIFY(sign.look(now + std::chrono::seconds(second), in, 50) == Verdict::kAsk);
        QVERIFY(sign.look(now + std::chrono::seconds(second), in += 28, 50) == Verdict::kFine);
    }
}

void SignOfLifeTest::aLinkThatNobodyLookedAtIsAskedFirst() {
    const auto now = SignOfLife::Clock::now();
    SignOfLife sign;
    QVERIFY(sign.look(now, 100, 50) == Verdict::kFine);
    QVERIFY(sign.look(now + 1h, 100, 50) == Verdict::kAsk);
    QVERIFY(sign.look(now + 1h + 9s, 100, 50) == Verdict::kFine);
    QVERIFY(sign.look(now + 1h + 10s, 100, 50) == Verdict::kGone);
}

void SignOfLifeTest::whatWasSentHasTimeToArrive() {
    const auto now = SignOfLife::Clock::now();
    SignOfLife sign;
    QVERIFY(sign.look(now, 100, 50) == Verdict::kFine);
    const uint64_t out = 50 + 160'000; // 20 s at 64 kbit/s
    QVERIFY(sign.look(now + 5s, 100, out) == Verdict::kAsk);
    QVERIFY(sign.look(now + 34s, 100, out) == Verdict::kFine);
    QVERIFY(sign.look(now + 35s, 100, out) == Verdict::kGone);
}

QTEST_GUILESS_MAIN(SignOfLifeTest)
#include "tst_sign_of_life.moc"
