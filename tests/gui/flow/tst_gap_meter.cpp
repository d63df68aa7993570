// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/flow/gap_meter.h"

#include <QCoreApplication>
#include <QEvent>
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

class Sleeper : public QObject {
    Q_OBJECT
public:
    bool event(QEvent* event) override {
        if (event->type() != QEvent::Polish)
            return QObject::event(event);
        QThread::msleep(kAwayMs);
        return true;
    }
};

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

    void whatTookLongIsNamed() {
        GapMeter meter;
        meter.watch();
        Sleeper sleeper;
        sleeper.setObjectName("sleeper");
        for (int i = 0; i < 2; ++i) {
            QCoreApplication::postEvent(&sleeper, new QEvent(QEvent::Polish));
            QSignalSpy ticked(&meter, &GapMeter::ticked);
            QVERIFY(ticked.wait());
        }
        const QStringList longest = meter.longest();
        QVERIFY(!longest.isEmpty());
        QVERIFY2(!longest.filter("Polish of Sleeper sleeper: ").isEmpty(),
                 qPrintable(longest.join('\n')));
        QVERIFY2(!longest.filter("2 over 50 ms").isEmpty(), qPrintable(longest.join('\n')));
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
