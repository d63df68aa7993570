// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "tests/unit/core/store/store_fixture.h"

#include <atomic>
#include <thread>

namespace rm {

namespace {

constexpr int kRanks = 3;
constexpr int64_t kSteps = 6000; ///< beyond a chunk, so that folding is seen, too

void writeAll(StoreWriter& writer, std::atomic<bool>& done) {
    for (int64_t step = 1; step <= kSteps; ++step) {
        std::vector<Record> records;
        for (int rank = 0; rank < kRanks; ++rank) {
            if (step == 1)
                records.push_back(started(1, rank, 0, kRanks));
            records.push_back(lossAt(step, float(step), rank));
        }
        IngestBatch batch = StoreFixture::batch("a", std::move(records));
        batch.cursors = {{"journal", uint64_t(step)}};
        StoreFixture::mustBeOk(writer.ingest(batch));
        if (step % 500 == 0)
            writer.checkpointWal();
    }
    done = true;
}

} // namespace

class TestStoreThreads : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void readerSeesWholeTransactionsOnly() {
        StoreFixture store;
        store.createRun("a", "run", 1, kRanks);
        std::atomic<bool> done = false;
        std::jthread writing([&] { writeAll(store.writer(), done); });
        StoreReader& reader = store.reader();
        int64_t lastSeen = 0;
        int looks = 0;
        while (lastSeen < kSteps) {
            const bool wasDone = done;
            const auto snapshot = reader.snapshot();
            const auto cursors = reader.cursors("a", 0);
            const int64_t steps = cursors.empty() ? 0 : int64_t(cursors[0].second);
            QVERIFY(steps >= lastSeen);
            for (int rank = 0; rank < kRanks; ++rank) {
                const auto points = reader.points("a", {"train/loss", rank});
                QCOMPARE(points.size(), size_t(steps));
                if (steps > 0)
                    QCOMPARE(points.back().step, steps);
            }
            int64_t counted = 0;
            for (const Bucket& bucket : reader.buckets("a", {"train/loss", 0}, 0, INT64_MAX, 20))
                counted += bucket.count;
            QCOMPARE(counted, steps);
            lastSeen = steps;
            ++looks;
            QVERIFY(!wasDone || steps == kSteps);
        }
        QVERIFY(looks > 1);
        QCOMPARE(*reader.run("a")->loss, double(kSteps));
    }

    void anInterruptedReaderGivesNothing() {
        StoreFixture store;
        QVERIFY(store.writer().createRun({"a", "a", "name = \"a\"\n", {}, {}, 0}));
        StoreReader& reader = store.reader();
        QCOMPARE(reader.runs().size(), size_t(1));
        const std::jthread other([&] { reader.interrupt(); });
        QTRY_VERIFY(reader.runs().empty());
        QVERIFY(!reader.run("a"));
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestStoreThreads)
#include "tst_store_threads.moc"
