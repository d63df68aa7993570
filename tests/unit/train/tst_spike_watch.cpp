// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/loop/spike_watch.h"

#include <QObject>
#include <QTest>

#include <cmath>
#include <limits>
#include <random>

using namespace rm;

namespace {

constexpr double kThreshold = 10;
constexpr double kLeast = 0.02;

/// A series and how many of its values were spikes when they came.
struct WatchedSeries {
    SpikeWatch watch{100, kThreshold, kLeast};
    int spikes = 0;
    void see(double value) {
        spikes += watch.isSpike(value);
        watch.note(value);
    }
};

} // namespace

class TestSpikeWatch : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void nothingIsASpikeBeforeHalfOfTheWindow() {
        SpikeWatch watch(100, kThreshold, kLeast);
        for (int i = 0; i < 49; ++i)
            watch.note(1);
        QVERIFY(!watch.isSpike(1e9));
        QCOMPARE(watch.limit(), std::numeric_limits<double>::infinity());
        watch.note(1);
        QVERIFY(watch.isSpike(1e9));
    }

    void aSpikeIsFoundAndDoesNotHideTheNext() {
        std::mt19937 random(3);
        std::normal_distribution<double> noise(3.0, 0.1);
        WatchedSeries series;
        for (int i = 0; i < 400; ++i)
            series.see(i == 200 || i == 205 || i == 210 ? 9.0 : noise(random));
        QCOMPARE(series.spikes, 3);
    }

    void noiseIsNone() {
        std::mt19937 random(5);
        std::lognormal_distribution<double> norms(0.0, 0.5); // as gradient norms are
        WatchedSeries series;
        for (int i = 0; i < 20000; ++i)
            series.see(norms(random));
        QVERIFY2(series.spikes < 20, qPrintable(QString::number(series.spikes)));
        std::normal_distribution<double> losses(2.5, 0.3);
        WatchedSeries other;
        for (int i = 0; i < 20000; ++i)
            other.see(losses(random));
        QCOMPARE(other.spikes, 0);
    }

    void aFallingLossIsNone() {
        WatchedSeries series;
        for (int i = 0; i < 2000; ++i)
            series.see(10.0 / std::sqrt(1.0 + i) + 0.01 * std::sin(i));
        QCOMPARE(series.spikes, 0);
    }

    void aSeriesWithoutNoiseHasASpreadAllTheSame() {
        WatchedSeries series;
        for (int i = 0; i < 200; ++i)
            series.see(i == 150 ? 1.1 : 1.0);
        QCOMPARE(series.spikes, 0);
        series.see(1.3);
        QCOMPARE(series.spikes, 1);
        QVERIFY(series.watch.score(1.3) > kThreshold);
    }

    void whatStaysHighIsNoSpikeAfterAWhile() {
        WatchedSeries series;
        for (int i = 0; i < 400; ++i)
            series.see(i < 200 ? 1.0 : 5.0);
        QVERIFY(series.spikes > 0 && series.spikes < 60);
        QVERIFY(!series.watch.isSpike(5.0));
    }

    void fallsAreNone() {
        WatchedSeries series;
        for (int i = 0; i < 200; ++i)
            series.see(i == 150 ? 0.0 : 4.0);
        QCOMPARE(series.spikes, 0);
        QVERIFY(!series.watch.isSpike(std::nan("")));
    }

    void aWindowIsRestored() {
        SpikeWatch watch(10, kThreshold, kLeast);
        for (int i = 0; i < 25; ++i)
            watch.note(i);
        QCOMPARE(watch.values().size(), size_t(10));
        QCOMPARE(watch.values().front(), 15.0);
        SpikeWatch again(10, kThreshold, kLeast);
        again.restore(watch.values());
        QCOMPARE(again.limit(), watch.limit());
        QCOMPARE(again.median(), watch.median());
    }
};

QTEST_GUILESS_MAIN(TestSpikeWatch)
#include "tst_spike_watch.moc"
