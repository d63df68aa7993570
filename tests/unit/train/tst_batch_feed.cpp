// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/data/batch_feed.h"

#include <QObject>
#include <QTest>

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <stdexcept>

using namespace rm;

namespace {

/// Batches that hold their own positions.
class Positions : public BatchSource {
public:
    int64_t epochSize() const override { return 1000; }
    int64_t targets(int64_t, int64_t count) const override { return count; }

    Result<Batch> read(int64_t first, int64_t count) override {
        if (onRead)
            onRead(first);
        if (first == failsAt)
            return fail(ErrorCode::kCorrupt, "read position " + std::to_string(first));
        std::vector<int64_t> positions;
        for (int64_t i = 0; i < count; ++i)
            positions.push_back(first + i);
        return Batch{{at::tensor(positions)}, count};
    }

    std::function<void(int64_t first)> onRead;
    int64_t failsAt = -1;
};

std::vector<int64_t> positionsOf(const Batch& batch) {
    const auto* positions = batch.tensors[0].const_data_ptr<int64_t>();
    return {positions, positions + batch.tensors[0].numel()};
}

using Order = std::vector<std::vector<int64_t>>;

Order take(BatchFeed& feed, int count) {
    Order order;
    for (int i = 0; i < count; ++i)
        order.push_back(positionsOf(*feed.next()));
    return order;
}

const BatchPartition kPartition({3, 2}, 2);

size_t threadCount() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<size_t>(std::distance(begin(tasks), end(tasks)));
}

/// Lets readers wait for each other.
class Turnstile {
public:
    void open(int64_t turn) {
        const std::scoped_lock lock(m_mutex);
        m_open.insert(turn);
        m_changed.notify_all();
    }
    bool await(int64_t turn) {
        std::unique_lock lock(m_mutex);
        return m_changed.wait_for(lock, std::chrono::seconds(20),
                                  [&] { return m_open.contains(turn); });
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::set<int64_t> m_open;
};

} // namespace

class TestBatchFeed : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void batchesAreChangedOnTheWay_data() {
        QTest::addColumn<int>("readers");
        QTest::newRow("none ahead") << 0;
        QTest::newRow("two ahead") << 2;
    }

    void batchesAreChangedOnTheWay() {
        QFETCH(int, readers);
        Positions source;
        BatchFeed::Settings settings;
        settings.readers = readers;
        settings.change = [](const Batch& batch) {
            return Batch{{batch.tensors[0] + 100}, batch.targets};
        };
        BatchFeed feed(source, BatchPartition({2}, 1), 0, 0, settings);
        QCOMPARE(take(feed, 2), (Order{{100, 101}, {102, 103}}));
    }

    void readersDoNotChangeTheOrder_data() {
        QTest::addColumn<int>("readers");
        for (const int readers : {1, 2, 5})
            QTest::addRow("%d readers", readers) << readers;
    }

    void readersDoNotChangeTheOrder() {
        QFETCH(int, readers);
        Positions source;
        for (const int64_t rank : {0, 1}) {
            BatchFeed plain(source, kPartition, rank, 40);
            BatchFeed ahead(source, kPartition, rank, 40, {.readers = readers});
            QCOMPARE(take(ahead, 60), take(plain, 60));
        }
    }

    void aSlowBatchKeepsItsPlace() {
        Positions source;
        Turnstile turnstile;
        const BatchPartition partition({1}, 1);
        // The first waits for the second, the third for the fourth.
        source.onRead = [&](int64_t first) {
            if (first % 2 == 0)
                QVERIFY(turnstile.await(first + 1));
            else
                turnstile.open(first);
        };
        BatchFeed feed(source, partition, 0, 0, {.readers = 2});
        QCOMPARE(take(feed, 4), (Order{{0}, {1}, {2}, {3}}));
        turnstile.open(5); // for whoever reads ahead when the feed ends
        turnstile.open(7);
    }

    void whatWasReadAheadIsNotUsed() {
        Positions source;
        BatchFeed first(source, kPartition, 1, 0, {.readers = 3});
        take(first, 4); // two steps of two micro-batches
        BatchFeed resumed(source, kPartition, 1, 2 * kPartition.positionsPerStep(), {.readers = 2});
        QCOMPARE(take(resumed, 6), take(first, 6));
    }

    void anErrorComesWithItsBatch_data() { readersDoNotChangeTheOrder_data(); }
    void anErrorComesWithItsBatch() {
        QFETCH(int, readers);
        Positions source;
        source.failsAt = 3;
        const BatchPartition partition({1}, 1);
        BatchFeed feed(source, partition, 0, 0, {.readers = readers});
        QCOMPARE(take(feed, 3), (Order{{0}, {1}, {2}}));
        const auto failed = feed.next();
        QVERIFY(!failed);
        QCOMPARE(failed.error().message, std::string("read position 3"));
        QCOMPARE(positionsOf(*feed.next()), (std::vector<int64_t>{4}));
    }

    void anExceptionComesWithItsBatch() {
        Positions source;
        source.onRead = [](int64_t first) {
            if (first == 2)
                throw std::runtime_error("no memory");
        };
        const BatchPartition partition({1}, 1);
        for (const int64_t readers : {0, 2}) {
            BatchFeed feed(source, partition, 0, 0, {.readers = readers});
            take(feed, 2);
            QVERIFY_EXCEPTION_THROWN(static_cast<void>(feed.next()), std::runtime_error);
        }
    }

    void noThreadIsLeft() {
        const size_t before = threadCount();
        Positions source;
        std::atomic<int64_t> furthest = 0;
        source.onRead = [&](int64_t first) { furthest = std::max<int64_t>(furthest, first); };
        for (const int taken : {0, 1, 7}) {
            BatchFeed feed(source, kPartition, 0, 0, {.readers = 4});
            take(feed, taken);
            QTRY_COMPARE(threadCount(), before + 4);
        }
        QCOMPARE(threadCount(), before);
        QVERIFY(furthest < 100); // they do not run away
    }

    void badSamplesAreJudgedInOrder() {
        struct Bad final : Positions {
            Result<Batch> read(int64_t first, int64_t count) override {
                auto batch = Positions::read(first, count);
                batch->bad.push_back({std::to_string(first), "broken"});
                return batch;
            }
        } source;
        std::vector<std::string> seen;
        BadSamples bad(0.75, 4, [&](const BadSample& one, int64_t) { seen.push_back(one.path); });
        const BatchPartition partition({1}, 1);
        BatchFeed feed(source, partition, 0, 0, {.readers = 3, .bad = bad});
        for (int i = 0; i < 3; ++i)
            QVERIFY(feed.next());
        QVERIFY(!feed.next()); // 4 of 4
        QCOMPARE(seen, (std::vector<std::string>{"0", "1", "2", "3"}));
    }
};

QTEST_GUILESS_MAIN(TestBatchFeed)
#include "tst_batch_feed.moc"
