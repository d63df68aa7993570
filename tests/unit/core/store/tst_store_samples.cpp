// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/attempts.h"
#include "app/core/store/export.h"
#include "app/core/store/series.h"
#include "app/core/store/stored_checkpoint.h"
#include "tests/unit/core/store/store_fixture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

namespace rm {

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
const SeriesKey kLoss{"train/loss", 0};

bool sameBits(const Point& a, const Point& b) {
    return a.step == b.step && a.wallNs == b.wallNs &&
           std::bit_cast<uint32_t>(a.value) == std::bit_cast<uint32_t>(b.value);
}

bool same(float a, float b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

/// What a bucket must say of the points in it.
bool isFaithful(const Bucket& bucket, std::span<const Point> points) {
    float min = kNaN, max = kNaN, last = kNaN;
    double total = 0, size = 0;
    int64_t count = 0;
    for (const Point& point : points) {
        if (std::isnan(point.value))
            continue;
        min = count ? std::min(min, point.value) : point.value;
        max = count ? std::max(max, point.value) : point.value;
        last = point.value;
        total += point.value;
        size += std::abs(double(point.value));
        ++count;
    }
    const double mean = count ? total / double(count) : kNaN;
    const bool meanIsRight = count == 0 || !std::isfinite(mean)
                                 ? std::isfinite(bucket.mean) == std::isfinite(mean)
                                 : std::abs(bucket.mean - mean) <= 1e-5 * size / double(count);
    return bucket.count == count && same(bucket.min, min) && same(bucket.max, max) &&
           same(bucket.last, last) && meanIsRight && bucket.firstStep == points.front().step &&
           bucket.lastStep == points.back().step && bucket.wallNs == points.back().wallNs;
}

/// Every bucket against the points themselves; every point in exactly one bucket.
bool agree(const std::vector<Bucket>& buckets, std::vector<Point> points, int maxBuckets) {
    if (buckets.size() > size_t(maxBuckets))
        return false;
    std::span<const Point> rest(points);
    for (const Bucket& bucket : buckets) {
        size_t size = 0;
        while (size < rest.size() && rest[size].step <= bucket.lastStep)
            ++size;
        if (size == 0 || !isFaithful(bucket, rest.first(size)))
            return false;
        rest = rest.subspan(size);
    }
    return rest.empty();
}

class Random {
public:
    int64_t below(int64_t end) {
        return std::uniform_int_distribution<int64_t>(0, end - 1)(m_engine);
    }
    float value() {
        const int64_t kind = below(200);
        if (kind == 0)
            return kNaN;
        if (kind == 1)
            return below(2) ? kInf : -kInf;
        return std::normal_distribution<float>(2.f, 0.3f)(m_engine);
    }

private:
    std::mt19937_64 m_engine{42};
};

/// Each goes on from within the one before it: steps 1 to 150, 101 to 120, 51 to 60.
std::vector<Record> threeAttempts() {
    std::vector<Record> records{started(1, 0, 0)};
    for (int64_t step = 1; step <= 150; ++step)
        records.push_back(lossAt(step, 1));
    records.push_back(started(2, 0, 100));
    for (int64_t step = 101; step <= 120; ++step)
        records.push_back(lossAt(step, 2));
    records.push_back(started(3, 0, 50));
    for (int64_t step = 51; step <= 60; ++step)
        records.push_back(lossAt(step, 3));
    return records;
}

} // namespace

class TestStoreSamples : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void laterAttemptHidesWhatItRepeats() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", threeAttempts());

        const auto points = store.reader().points("a", kLoss);
        QCOMPARE(points.size(), size_t(60));
        for (size_t i = 0; i < points.size(); ++i) {
            QCOMPARE(points[i].step, int64_t(i) + 1);
            QCOMPARE(points[i].value, i < 50 ? 1.f : 3.f);
        }
        QVERIFY(agree(store.reader().buckets("a", kLoss, 0, INT64_MAX, 7), points, 7));
        QCOMPARE(store.reader().lastPoint("a", kLoss)->step, int64_t(60));
        QCOMPARE(store.reader().run("a")->step, int64_t(60));
        QCOMPARE(*store.reader().run("a")->loss, 3.0);
    }

    void abandonedLineIsReadApart() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", threeAttempts());

        const std::vector<StoredLine> lines = store.reader().lines("a");
        const std::vector<StoredLine> wanted{{1, 1, 50, 0, 0},
                                             {1, 51, 100, 3, 50},
                                             {1, 101, 150, 2, 100},
                                             {2, 101, 120, 3, 50},
                                             {3, 51, 60, 0, 0}};
        QVERIFY(lines == wanted);
        const auto points = store.reader().points("a", lines[2], kLoss);
        QCOMPARE(points.size(), size_t(50));
        QCOMPARE(points.front().step, int64_t(101));
        QVERIFY(std::ranges::all_of(points, [](const Point& each) { return each.value == 1.f; }));
        QVERIFY(agree(store.reader().buckets("a", lines[2], kLoss, 0, INT64_MAX, 7), points, 7));
        QCOMPARE(store.reader().buckets("a", lines[3], kLoss, 110, 115, 100).size(), size_t(6));
    }

    void restoredAbandonedLineLivesAgain() {
        StoreFixture store;
        store.createRun("a");
        const auto saved = [](int64_t step, const std::string& name) {
            return CheckpointSaved{step, step, "/c/" + name, 1, 1, "every 50", NAN, false};
        };
        AttemptStarted second = started(2, 0, 50), third = started(3, 0, 150);
        second.startFrom = "/c/step-000000050";
        third.startFrom = "/c/step-000000150";
        std::vector<Record> records{started(1, 0, 0)};
        for (int64_t step = 1; step <= 160; ++step)
            records.push_back(lossAt(step, 1));
        records.push_back(saved(50, "step-000000050"));
        records.push_back(saved(150, "step-000000150"));
        records.push_back(second);
        for (int64_t step = 51; step <= 100; ++step)
            records.push_back(lossAt(step, 2));
        records.push_back(saved(100, "step-000000100"));
        records.push_back(third);
        records.push_back(lossAt(151, 3));
        store.ingest("a", records);

        const std::vector<StoredLine> wanted{
            {1, 1, 150, 0, 0}, {1, 151, 160, 2, 50}, {2, 51, 100, 3, 150}, {3, 151, 151, 0, 0}};
        QVERIFY(store.reader().lines("a") == wanted);
        const auto points = store.reader().points("a", kLoss);
        QCOMPARE(points.size(), size_t(151));
        for (size_t i = 0; i < points.size(); ++i)
            QCOMPARE(points[i].value, i < 150 ? 1.f : 3.f);
        for (const StoredCheckpoint& each : store.reader().checkpoints("a"))
            QCOMPARE(each.retiredBy, each.saved.step == 100 ? 3 : 0);
    }

    void attemptThatNeverRanHidesNothing() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0), lossAt(1, 1), lossAt(2, 2)});
        StoreFixture::mustBeOk(
            store.writer().beginAttempt("a", {2, 1, "/c", {{0, "node-a", 2, 0}}}));
        QCOMPARE(store.reader().points("a", kLoss).size(), size_t(2));
        QCOMPARE(store.reader().run("a")->step, int64_t(2));
        QCOMPARE(store.reader().attempts("a")[1].startStep, int64_t(1));
        store.ingest("a", {started(2, 0, 1)});
        QCOMPARE(store.reader().points("a", kLoss).size(), size_t(1));
        QCOMPARE(store.reader().run("a")->step, int64_t(1));
    }

    void everyBitComesBack_data() {
        QTest::addColumn<int>("batchSize");
        QTest::newRow("one by one") << 1;
        QTest::newRow("odd batches") << 37;
        QTest::newRow("large batches") << 5000;
        QTest::newRow("all at once") << 20000;
    }

    void everyBitComesBack() {
        QFETCH(int, batchSize);
        StoreFixture store;
        store.createRun("a");
        Random random;
        std::vector<Point> expected, expectedOther;
        std::vector<Record> records{started(1, 0, 0)};
        const int64_t count = batchSize == 1 ? 5000 : 20000;
        for (int64_t step = 1; step <= count; ++step) {
            float value = random.value();
            if (step % 1000 == 7)
                value = std::bit_cast<float>(uint32_t(0x7fa00000 + step)); // a NaN with a payload
            if (step % 1000 == 8)
                value = -0.0f;
            const int64_t wall = step * 50'000'000 + random.below(3'000'000);
            Samples samples{0, step, wall, {metric::kTrainLoss, metric::kTrainLr}, {value, 1e-3f}};
            expected.push_back({step, wall, value});
            if (step % 250 == 0) {
                samples.metric.push_back(metric::kValidationLoss);
                samples.value.push_back(value);
                expectedOther.push_back({step, wall, value});
            }
            records.push_back(std::move(samples));
            if (records.size() >= size_t(batchSize))
                store.ingest("a", std::exchange(records, {}));
        }
        if (!records.empty())
            store.ingest("a", records);
        for (const bool reopened : {false, true}) {
            if (reopened)
                store.reopen();
            const auto points = store.reader().points("a", kLoss);
            QCOMPARE(points.size(), expected.size());
            for (size_t i = 0; i < points.size(); ++i)
                QVERIFY2(sameBits(points[i], expected[i]), qPrintable(QString::number(i)));
            const auto other = store.reader().points("a", {"validation/loss", 0});
            QCOMPARE(other.size(), expectedOther.size());
            for (size_t i = 0; i < other.size(); ++i)
                QVERIFY(sameBits(other[i], expectedOther[i]));
        }
        // The end of the attempt folds what is left.
        store.ingest("a", {AttemptEnded{1, Outcome::kFinished, -1, 0, 5, {}}});
        const auto points = store.reader().points("a", kLoss);
        QVERIFY(
            std::equal(points.begin(), points.end(), expected.begin(), expected.end(), sameBits));
    }

    void bucketsEqualBruteForce() {
        StoreFixture store;
        store.createRun("a");
        Random random;
        std::vector<Record> records{started(1, 0, 0)};
        int64_t step = 0;
        const auto fill = [&](int64_t count) {
            for (int64_t i = 0; i < count; ++i) {
                step += 1 + (random.below(10) == 0) * random.below(5);
                records.push_back(lossAt(step, random.value()));
            }
            store.ingest("a", std::exchange(records, {}));
        };
        fill(300'000);
        const int64_t resumed = step - 20'000;
        records.push_back(started(2, 0, resumed));
        step = resumed;
        fill(100'000);
        fill(777);
        const auto all = store.reader().points("a", kLoss);
        for (int window = 0; window < 400; ++window) {
            const int64_t size = int64_t(1) << random.below(20);
            const int64_t first = random.below(step);
            const int64_t last = std::min(step, first + size);
            const int maxBuckets = int(1 + random.below(window % 4 == 0 ? 2000 : 60));
            std::vector<Point> inside;
            for (const Point& point : all)
                if (point.step >= first && point.step <= last)
                    inside.push_back(point);
            const auto buckets = store.reader().buckets("a", kLoss, first, last, maxBuckets);
            QVERIFY2(agree(buckets, inside, maxBuckets),
                     qPrintable(QString("%1 to %2 in %3").arg(first).arg(last).arg(maxBuckets)));
        }
    }

    void clockSamplesMayShareOrRepeatSteps() {
        StoreFixture store;
        store.createRun("a");
        std::vector<Record> records{RankStarted{1, 0, 77, 1}};
        Random random;
        std::vector<Point> expected;
        for (int i = 0; i < 9000; ++i) {
            // Now and then the board still shows an older step.
            const int64_t step = i / 3 - (random.below(3000) == 0) * random.below(2000);
            const Samples samples{0, std::max<int64_t>(0, step), i, {metric::kNodeCpu}, {float(i)}};
            records.push_back(samples);
            expected.push_back({samples.step, samples.wallNs, samples.value[0]});
            if (i % 100 == 0)
                store.ingest("a", std::exchange(records, {}));
        }
        store.ingest("a", records);
        std::stable_sort(expected.begin(), expected.end(),
                         [](const Point& a, const Point& b) { return a.step < b.step; });
        QCOMPARE(store.reader().points("a", {"node/cpu", 0}).size(), expected.size());
        QVERIFY(store.reader().points("a", {"node/cpu", 0}) == expected);
        QCOMPARE(*store.reader().lastPoint("a", {"node/cpu", 0}), expected.back());
    }

    void lateSampleIsSummedUpWhereItBelongs() {
        StoreFixture store;
        store.createRun("a");
        std::vector<Record> records{RankStarted{1, 0, 77, 1}};
        const auto cpuAt = [](int64_t step) {
            return Samples{0, step, step, {metric::kNodeCpu}, {float(step)}};
        };
        for (int64_t step = 2; step <= 400'000; step += 2)
            records.push_back(cpuAt(step));
        store.ingest("a", std::exchange(records, {}));
        for (const int64_t late : {399'001, 150'001, 1})
            store.ingest("a", {cpuAt(late)});
        for (int64_t step = 400'002; step <= 500'000; step += 2)
            records.push_back(cpuAt(step));
        store.ingest("a", records);
        const auto points = store.reader().points("a", {"node/cpu", 0});
        QCOMPARE(points.size(), size_t(250'003));
        for (const int maxBuckets : {1, 2, 5, 50, 700, 20'000})
            QVERIFY(agree(store.reader().buckets("a", {"node/cpu", 0}, 0, INT64_MAX, maxBuckets),
                          points, maxBuckets));
    }

    void exportHasEveryVisiblePointOnce() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0), started(1, 1, 0), lossAt(1, 0.1f), lossAt(2, 9),
                           lossAt(1, kNaN, 1),
                           Samples{0, 1, 1'700'000'000'123'456'789, {metric::kTrainLr}, {kInf}},
                           started(2, 0, 1), lossAt(2, -2.5f)});
        std::ostringstream out;
        const auto rows = exportCsv(store.reader(), {"a"}, out);
        QVERIFY(rows);
        QCOMPARE(*rows, int64_t(4));
        QCOMPARE(out.str(), std::string("metric,rank,step,wall_time,value\n"
                                        "train/loss,0,1,0.001000,0.1\n"
                                        "train/loss,0,2,0.002000,-2.5\n"
                                        "train/loss,1,1,0.001000,nan\n"
                                        "train/lr,0,1,1700000000.123456,inf\n"));
        std::ostringstream none;
        QCOMPARE(exportCsv(store.reader(), {"b"}, none).error().code, ErrorCode::kNotFound);
    }

    void exportHasWhatWasChosenAlone() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0), lossAt(1, 0.1f), lossAt(2, 9), lossAt(3, 8),
                           lossAt(2, 7, 1), Samples{0, 1, 5, {metric::kTrainLr}, {1}}});
        std::ostringstream out;
        QCOMPARE(exportCsv(store.reader(), {"a"}, out,
                           {.metrics = {"train/loss"}, .ranks = {0}, .first = 2, .last = 2}),
                 int64_t(1));
        QVERIFY2(out.str().ends_with("value\ntrain/loss,0,2,0.002000,9\n"), out.str().c_str());
        std::ostringstream none;
        const auto refused = exportCsv(store.reader(), {"a"}, none, {.metrics = {"train/lossy"}});
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::kNotFound);
        QVERIFY(refused.error().message.find("train/lossy") != std::string::npos);
        QCOMPARE(none.str(), std::string());
    }

    void exportOfSeveralRunsNamesThem() {
        StoreFixture store;
        for (const char* run : {"a", "b"})
            store.createRun(run);
        store.ingest(
            "a", {started(1, 0, 0), lossAt(1, 0.5f), Samples{0, 1, 5, {metric::kTrainLr}, {1}}});
        store.ingest("b", {started(1, 0, 0), lossAt(1, 0.25f)});
        std::ostringstream out;
        QCOMPARE(exportCsv(store.reader(), {"b", "a"}, out,
                           {.metrics = {"train/loss"}, .namesRuns = true}),
                 int64_t(2));
        QCOMPARE(out.str(), std::string("run,metric,rank,step,wall_time,value\n"
                                        "b,train/loss,0,1,0.001000,0.25\n"
                                        "a,train/loss,0,1,0.001000,0.5\n"));
        QCOMPARE(exportCsv(store.reader(), {"a", "b"}, out, {.metrics = {"train/lr"}}), int64_t(1));
        const auto none = exportCsv(store.reader(), {"a", "b"}, out, {.metrics = {"train/lossy"}});
        QVERIFY(!none && none.error().code == ErrorCode::kNotFound);
        QCOMPARE(exportCsv(store.reader(), {"a", "c"}, out).error().code, ErrorCode::kNotFound);
    }

    void exportToAFullDiskIsAnError() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0), lossAt(1, 0.1f)});
        std::ostringstream out;
        out.setstate(std::ios::badbit);
        QVERIFY(!exportCsv(store.reader(), {"a"}, out));
    }

    void hostileSamplesAreRefusedAlone() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a",
                     {started(1, 0, 0), lossAt(1, 1), lossAt(1, 1, -5), lossAt(1, 1, 1 << 30),
                      lossAt(-4, 1), lossAt(INT64_MAX, 1),
                      Samples{0, 2, 2, {metric::kTrainLoss}, {}}, lossAt(2, 2), started(-1, 0, 0),
                      started(1 << 30, 0, 0), RankExited{0, 0, 0, 0, 0, {}, {}},
                      MetricRegistered{{2000, "; DROP TABLE run; --", "", {}, {}, {}}},
                      MetricRegistered{{2001, "train/loss", "", {}, {}, {}}},
                      MetricRegistered{{1, "my/own", "", {}, {}, {}}},
                      Samples{0, 3, 3, {2000, 2000, 2001}, {1, 2, 3}}});
        QCOMPARE(store.reader().points("a", kLoss).size(), size_t(2));
        QCOMPARE(store.reader().points("a", {"user/metric_2000", 0}).size(), size_t(1));
        QCOMPARE(store.reader().points("a", {"user/metric_2001", 0}).size(), size_t(1));
        const auto events = store.reader().events("a");
        QCOMPARE(events.size(), size_t(1));
        QCOMPARE(events[0].event.code, std::string("record-refused"));
        QVERIFY(events[0].event.message.find("11 records") == 0);
        QVERIFY(events[0].event.message.find("rank -5") != std::string::npos);
    }

    void runsOwnMetricsKeepNameAndUnit() {
        StoreFixture store;
        store.createRun("a");
        const MetricDef def{.id = 1000,
                            .name = "my/metric",
                            .unit = "ms",
                            .kind = MetricKind::kCounter,
                            .scope = MetricScope::kRun,
                            .description = "Mine.",
                            .direction = MetricDirection::kLower,
                            .format = MetricFormat::kPercent,
                            .ranks = MetricRanks::kMean,
                            .smooth = true,
                            .panel = "mine",
                            .place = 3,
                            .label = "mine in words",
                            .brief = "m"};
        store.ingest("a", {started(1, 0, 0), MetricRegistered{def}, Samples{0, 1, 1, {1000}, {5}}});
        QVERIFY(store.reader().metrics("a") == std::vector<MetricDef>{def});
        // A resumed run may use the number for something else.
        MetricDef other = def;
        other.name = "other/metric";
        store.ingest("a",
                     {started(2, 0, 1), MetricRegistered{other}, Samples{0, 2, 2, {1000}, {6}}});
        QCOMPARE(store.reader().points("a", {"my/metric", 0}).size(), size_t(1));
        QCOMPARE(store.reader().points("a", {"other/metric", 0}).size(), size_t(1));
        const std::vector<SeriesKey> keys{{"my/metric", 0}, {"other/metric", 0}};
        QVERIFY(store.reader().series("a") == keys);
    }

    void ringmastersOwnMetricsAreAsThisReleaseKnowsThem() {
        StoreFixture store;
        store.createRun("a");
        store.ingest("a", {started(1, 0, 0), lossAt(1, 1), Samples{0, 1, 1, {29}, {5}}});
        const std::vector<MetricDef> metrics = store.reader().metrics("a");
        QCOMPARE(metrics.size(), size_t(2));
        QVERIFY(metrics[0] == builtinMetric(metric::kTrainLoss));
        QCOMPARE(metrics[1].name, std::string("user/metric_29"));
        QVERIFY(store.reader().metrics("no such run").empty());
    }

    void ownMetricsOfTheClockAreKeptApartFromSteps() {
        StoreFixture store;
        store.createRun("a");
        const MetricDef watts{.id = 1000, .name = "wall/watts", .clock = MetricClock::kWall};
        store.ingest("a", {started(1, 0, 0), MetricRegistered{watts}, lossAt(7, 7),
                           Samples{0, 7, 8, {1000, metric::kTrainLr}, {400, 0.5F}},
                           Samples{0, 7, 9, {1000}, {410}}});
        QCOMPARE(store.reader().points("a", {"wall/watts", 0}).size(), size_t(2));
        QCOMPARE(store.reader().points("a", {"train/lr", 0}).size(), size_t(1));
        QCOMPARE(store.reader().run("a")->step, int64_t(7));
    }

    void absentThingsAreEmpty() {
        StoreFixture store;
        store.createRun("a");
        QVERIFY(store.reader().points("a", kLoss).empty());
        QVERIFY(store.reader().points("no-such-run", kLoss).empty());
        QVERIFY(store.reader().buckets("a", kLoss, 0, 100, 10).empty());
        QVERIFY(!store.reader().lastPoint("a", kLoss));
        store.ingest("a", {started(1, 0, 0), lossAt(5, 1)});
        QVERIFY(store.reader().points("a", kLoss, 6, 4).empty());
        QVERIFY(store.reader().buckets("a", kLoss, 0, 100, 0).empty());
        QVERIFY(store.reader().buckets("a", kLoss, 6, 100, 10).empty());
        QCOMPARE(store.reader().points("a", kLoss, INT64_MIN, INT64_MAX).size(), size_t(1));
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestStoreSamples)
#include "tst_store_samples.moc"
