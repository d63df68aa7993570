// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/gap_meter.h"

#include <QSignalSpy>
#include <QTest>
#include <QThread>

#include <ctime>

using rm::test::GapMeter;

namespace {

constexpr int kAwayMs = 200;
constexpr int kMostOfItMs = 150;
constexpr int kTries = 20; // as the machine may be late itself, which is not counted

/// For so long on the processor, however much of it the machine gives.
void compute() {
    const auto computedMs = [] {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
    };
    for (const auto began = computedMs(); computedMs() - began < kAwayMs;)
        ;
}

} // namespace

/// That leaving out what the machine did leaves in what the window did.
class TestGapMeter : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aLoopThatIsAwayIsSeen_data() {
        QTest::addColumn<bool>("computes");
        QTest::newRow("it waits for something") << false;
        QTest::newRow("it computes") << true;
    }

    void aLoopThatIsAwayIsSeen() {
        QFETCH(bool, computes);
        GapMeter meter;
        meter.watch();
        for (int i = 0; i < kTries && meter.largestMs() < kMostOfItMs; ++i) {
            if (computes)
                compute();
            else
                QThread::msleep(kAwayMs);
            QSignalSpy ticked(&meter, &GapMeter::ticked);
            QVERIFY(ticked.wait());
        }
        QVERIFY(meter.largestMs() >= kMostOfItMs);
    }

    void aBlindMeterSeesNothing() {
        GapMeter meter;
        meter.watch();
        {
            const rm::test::Blind blind(meter);
            QThread::msleep(kAwayMs);
        }
        QSignalSpy ticked(&meter, &GapMeter::ticked);
        QVERIFY(ticked.wait());
        QVERIFY(meter.largestMs() < kAwayMs);
    }
};

QTEST_GUILESS_MAIN(TestGapMeter)
#include "tst_gap_meter.moc"
