// SPDX-License-Identifier: Apache-2.0
#include "shared/board/board.h"
#include "tests/unit/train/ranks_on_threads.h"
#include "trainer/train/dist/gradient_buckets.h"

#include <QObject>
#include <QTemporaryDir>
#include <QTest>

#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include <cmath>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kRanks = 3;

void complete(const Transfer& transfer) {
    transfer.work->wait();
    transfer.unpack();
}

/// A tensor of a rank: halves, which every number format has exactly.
at::Tensor valuesOf(int rank, int64_t size) {
    return at::arange(size).to(at::kFloat).mul_(0.5).add_(rank);
}

at::Tensor sumOverRanks(int64_t size) {
    at::Tensor sum = at::zeros({size});
    for (int rank = 0; rank < kRanks; ++rank)
        sum.add_(valuesOf(rank, size));
    return sum;
}

/// Of a rank that has to wait for it.
class Awaited final : public c10d::Work {
public:
    bool wait(std::chrono::milliseconds) override {
        ++waits;
        return true;
    }
    int waits = 0;
};

} // namespace

/// Gradients on their way between ranks, and what a forward pass waits for.
class TestBucketCollectives : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyCollectiveIsOnTheBoardOfItsRank() {
        const QTemporaryDir folder;
        std::vector<Board> boards;
        for (int rank = 0; rank < kRanks; ++rank)
            boards.push_back(
                Board::create(folder.filePath(QString::number(rank)).toStdString(), rank, 1)
                    .value());
        std::vector<uint64_t> begun(kRanks);
        const auto work = [&](const World& world) {
            const auto rank = static_cast<size_t>(world.rank());
            const BucketCollectives collectives(world, std::nullopt);
            const at::Tensor bucket = valuesOf(world.rank(), 9);
            complete(collectives.sum(bucket));
            complete(collectives.sumParts(bucket));
            complete(collectives.gather(bucket));
            world.broadcast(std::vector{bucket});
            at::Tensor aside = at::full({1}, 1, at::kLong);
            world.sumAside(aside)->wait();
            begun[rank] = boards[rank].status().main.begun;
        };
        onRanks(kRanks, work, [&](int rank) { return &boards[static_cast<size_t>(rank)]; });
        QVERIFY(begun[0] >= 4);
        for (size_t rank = 0; rank < kRanks; ++rank) {
            const Board::Status status = boards[rank].status();
            QCOMPARE(begun[rank], begun[0]);
            QCOMPARE(status.main.begun, begun[0] + 1); // the barrier of onRanks()
            QCOMPARE(status.main.ended, status.main.begun);
            QVERIFY(status.main.endsAreKnown);
            QVERIFY(status.main.kind == CollectiveKind::kAllReduce);
            QCOMPARE(status.main.bytes, uint64_t(8));
            QCOMPARE(status.side.begun, uint64_t(1));
            QCOMPARE(status.side.ended, uint64_t(1));
        }
    }

    void partsAndGatheringGiveTheSum_data() {
        QTest::addColumn<int>("size");
        QTest::addColumn<bool>("isNarrow");
        for (const bool isNarrow : {false, true})
            for (const int size : {9, 10, 11, 2, 1}) // also fewer than ranks
                QTest::addRow("%d elements%s", size, isNarrow ? ", bfloat16" : "")
                    << size << isNarrow;
    }

    void partsAndGatheringGiveTheSum() {
        QFETCH(int, size);
        QFETCH(bool, isNarrow);
        std::vector<at::Tensor> parts(kRanks), inParts(kRanks), whole(kRanks);
        onRanks(kRanks, [&](const World& world) {
            const auto rank = static_cast<size_t>(world.rank());
            const BucketCollectives collectives(world, isNarrow ? std::optional(at::kBFloat16)
                                                                : std::nullopt);
            inParts[rank] = valuesOf(world.rank(), size);
            complete(collectives.sumParts(inParts[rank]));
            parts[rank] = collectives.partOf(inParts[rank]).clone();
            complete(collectives.gather(inParts[rank]));
            whole[rank] = valuesOf(world.rank(), size);
            complete(collectives.sum(whole[rank]));
        });
        const at::Tensor expected = sumOverRanks(size);
        QVERIFY(at::equal(at::cat(parts), expected));
        for (size_t rank = 0; rank < kRanks; ++rank) {
            QVERIFY(at::equal(inParts[rank], expected));
            QVERIFY(at::equal(whole[rank], expected));
        }
    }

    void whatIsTooLargeForTheWayShowsInTheParts() {
        std::vector<float> parts(kRanks), gathered(kRanks);
        onRanks(kRanks, [&](const World& world) {
            const auto rank = static_cast<size_t>(world.rank());
            const BucketCollectives collectives(world, at::kHalf);
            const at::Tensor bucket = at::full({kRanks}, 30000.0F); // of 65504 at most
            complete(collectives.sumParts(bucket));
            parts[rank] = collectives.partOf(bucket).item<float>();
            complete(collectives.gather(bucket));
            gathered[rank] = bucket[0].item<float>();
        });
        for (size_t rank = 0; rank < kRanks; ++rank) {
            QVERIFY(std::isinf(parts[rank]));
            QVERIFY(std::isinf(gathered[rank]));
        }
    }

    void normIsThatOfAllGradients() {
        std::vector<at::Tensor> norms(kRanks);
        const std::vector<at::Tensor> values{at::empty({2}), at::empty({7}), at::empty({10})};
        onRanks(kRanks, [&](const World& world) {
            const BucketCollectives collectives(world, std::nullopt);
            GradientBuckets buckets(collectives, values, {{2}, {1}, {0}}, false);
            for (GradientBucket& bucket : buckets.all()) {
                bucket.sum = sumOverRanks(values[bucket.parameters[0]].numel());
                bucket.mine = collectives.partOf(bucket.sum);
            }
            norms[static_cast<size_t>(world.rank())] = buckets.norm(world);
        });
        const at::Tensor expected =
            at::cat({sumOverRanks(10), sumOverRanks(7), sumOverRanks(2)}).norm();
        for (const at::Tensor& norm : norms)
            QVERIFY(at::allclose(norm, expected));
    }

    void whatTheForwardPassNeedsFirstComesWhole() {
        const std::vector<at::Tensor> values{at::empty({5}), at::empty({7}), at::empty({10})};
        const World alone;
        const BucketCollectives collectives(alone, std::nullopt);
        const GradientBuckets buckets(collectives, values, {{2}, {1}, {0}}, false);
        QVERIFY(!buckets.all()[0].comesWhole);
        QVERIFY(!buckets.all()[1].comesWhole);
        QVERIFY(buckets.all()[2].comesWhole);
        const GradientBuckets inParts(collectives, values, {{2}, {1}, {0}}, true);
        QVERIFY(!inParts.all()[2].comesWhole);
    }

    void parametersAwaitTheirOwnBucketOnce() {
        std::vector<MetricId> phases;
        PendingBuckets pending(3, {{2}, {0, 1}}, [&](MetricId phase) { phases.push_back(phase); });
        const auto work = c10::make_intrusive<Awaited>();
        int finished = 0;
        pending.expect(1, work, [&] { ++finished; });
        pending.await(2);
        QCOMPARE(work->waits, 0);
        QVERIFY(phases.empty());
        pending.await(0);
        pending.await(1);
        QCOMPARE(work->waits, 1);
        QCOMPARE(finished, 1);
        const std::vector<MetricId> expected{metric::kPhaseForwardMs, metric::kPhaseAllreduceMs,
                                             metric::kPhaseOptimizerMs};
        QCOMPARE(phases, expected);
    }

    void settlingLeavesNothingToAwait() {
        int phases = 0, finished = 0;
        PendingBuckets pending(2, {{1}, {0}}, [&](MetricId) { ++phases; });
        for (const size_t bucket : {0, 1})
            pending.expect(bucket, c10::make_intrusive<Awaited>(), [&] { ++finished; });
        pending.awaitAll();
        QCOMPARE(finished, 2);
        pending.await(0);
        QCOMPARE(finished, 2);
        QCOMPARE(phases, 0);
    }
};

QTEST_GUILESS_MAIN(TestBucketCollectives)
#include "tst_bucket_collectives.moc"
