// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/pair_folder.h"
#include "trainer/train/workloads/translation/pairs/pair_batches.h"
#include "trainer/train/workloads/translation/pairs/pair_tokenizer.h"

#include <QObject>
#include <QTest>

#include <ATen/ops/equal.h>

#include <map>

using namespace rm;
using namespace rm::test;

namespace {

constexpr int kPairs = 700;
constexpr int kLongest = 40;
constexpr int64_t kTokens = 256;

/// Rows of a batch's source without padding, as keys.
std::vector<std::vector<int64_t>> rowsOf(const at::Tensor& ids) {
    std::vector<std::vector<int64_t>> rows;
    const auto* begin = ids.const_data_ptr<int64_t>();
    for (int64_t row = 0; row < ids.size(0); ++row) {
        rows.emplace_back(begin + row * ids.size(1), begin + (row + 1) * ids.size(1));
        std::erase(rows.back(), int64_t{kPadId});
    }
    return rows;
}

} // namespace

class TestPairBatches : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() {
        const auto ids = PairFile::open(writeIds(m_folder, "x", somePairs(kPairs, kLongest)));
        QVERIFY(ids);
        m_ids = *ids;
    }

    void everyEpochHasEveryPairOnce() {
        PairBatches batches(m_ids, kTokens, 1);
        for (int64_t epoch = 0; epoch < 3; ++epoch) {
            std::map<std::vector<int64_t>, int> seen;
            int64_t pairs = 0;
            for (int64_t i = 0; i < batches.epochSize(); ++i) {
                const auto batch = batches.read(epoch * batches.epochSize() + i, 1);
                QVERIFY(batch);
                for (const auto& row : rowsOf(batch->tensors[0]))
                    ++seen[row];
                pairs += batch->tensors[0].size(0);
            }
            QCOMPARE(pairs, int64_t{kPairs});
            for (int64_t i = 0; i < m_ids.count(); ++i) {
                std::vector<int64_t> source(static_cast<size_t>(m_ids.length(2 * i)));
                QVERIFY(m_ids.ids(2 * i, source.data()));
                QVERIFY(seen.contains(source));
            }
        }
    }

    void batchesHoldTheirTokensAndLittlePadding() {
        PairBatches batches(m_ids, kTokens, 1);
        int64_t real = 0;
        int64_t all = 0;
        for (int64_t i = 0; i < batches.epochSize(); ++i) {
            const Batch batch = *batches.read(i, 1);
            const auto longer = std::max(batch.tensors[0].size(1), batch.tensors[2].size(1));
            QVERIFY(batch.tensors[0].size(0) * longer <= kTokens);
            for (const int which : {0, 2}) {
                all += batch.tensors[which].numel();
                real += batch.tensors[which].ne(int64_t{kPadId}).sum().item<int64_t>();
            }
        }
        QVERIFY2(double(real) / double(all) > 0.7, QByteArray::number(double(real) / double(all)));
    }

    void targetsAreKnownBeforeReading() {
        PairBatches batches(m_ids, kTokens, 1);
        const PairBatches other(m_ids, kTokens, 1);
        for (int64_t i = 0; i < 2 * batches.epochSize(); ++i)
            QCOMPARE(other.targets(i, 1), batches.read(i, 1)->targets);
        QCOMPARE(other.targets(3, 2), other.targets(3, 1) + other.targets(4, 1));
        QCOMPARE(batches.read(3, 2)->targets, other.targets(3, 2));
    }

    void orderFollowsFromSeedAndEpochAlone() {
        PairBatches first(m_ids, kTokens, 7);
        PairBatches second(m_ids, kTokens, 7);
        PairBatches third(m_ids, kTokens, 8);
        const int64_t size = first.epochSize();
        bool differs = false;
        // From the middle of a later epoch, and backwards.
        for (int64_t i = 2 * size + 5; i > size - 5; --i) {
            const Batch batch = *first.read(i, 1);
            QVERIFY(at::equal(batch.tensors[0], second.read(i, 1)->tensors[0]));
            const Batch other = *third.read(i, 1);
            differs = differs || batch.tensors[0].sizes() != other.tensors[0].sizes();
        }
        QVERIFY(differs);
        QCOMPARE(third.epochSize(), size);
    }

    void pairLongerThanABatchGetsOneOfItsOwn() {
        PairBatches batches(m_ids, 16, 1);
        for (int64_t i = 0; i < batches.epochSize(); ++i) {
            const Batch batch = *batches.read(i, 1);
            const auto longer = std::max(batch.tensors[0].size(1), batch.tensors[2].size(1));
            QVERIFY(batch.tensors[0].size(0) == 1 || batch.tensors[0].size(0) * longer <= 16);
        }
    }

    void pairsAtRandomComeOnceAnEpoch() {
        RandomPairs pairs(m_ids, 7);
        const RandomPairs other(m_ids, 7);
        QCOMPARE(pairs.epochSize(), int64_t{kPairs});
        for (const int64_t epoch : {0, 1}) {
            std::map<std::vector<int64_t>, int> seen;
            for (int64_t at = epoch * kPairs; at < (epoch + 1) * kPairs; at += 4) {
                const int64_t count = std::min<int64_t>(4, (epoch + 1) * kPairs - at);
                const Batch batch = *pairs.read(at, count);
                QCOMPARE(batch.tensors[0].size(0), count);
                QCOMPARE(batch.targets, other.targets(at, count));
                for (const auto& row : rowsOf(batch.tensors[0]))
                    ++seen[std::vector<int64_t>(row.begin(), std::ranges::find(row, kPadId))];
            }
            int64_t rows = 0;
            for (const auto& [row, times] : seen)
                rows += times;
            QCOMPARE(rows, int64_t{kPairs});
            for (int64_t i = 0; i < m_ids.count(); ++i) {
                std::vector<int64_t> source(static_cast<size_t>(m_ids.length(2 * i)));
                QVERIFY(m_ids.ids(2 * i, source.data()));
                QVERIFY(seen.contains(source));
            }
        }
        QVERIFY(!at::equal(pairs.read(0, 8)->tensors[0], pairs.read(kPairs, 8)->tensors[0]));
    }

    void batchSaysWhatIsReal() {
        const Batch batch = makePairBatch({{{5, 6, 0}, {7, 0}}, {{8, 0}, {9, 10, 0}}});
        QCOMPARE(batch.targets, int64_t{5});
        using Rows = std::vector<std::vector<int64_t>>;
        QCOMPARE(rowsOf(batch.tensors[0]), (Rows{{5, 6, 0}, {8, 0}}));
        QCOMPARE(batch.tensors[1].to(at::kLong).sum().item<int64_t>(), int64_t{5});
        QCOMPARE(batch.tensors[1].sizes().vec(), (std::vector<int64_t>{2, 1, 1, 3}));
        QCOMPARE(batch.tensors[2][1][0].item<int64_t>(), int64_t{kPadId});
        QCOMPARE(batch.tensors[2][1][2].item<int64_t>(), int64_t{10});
        const std::vector<int64_t> labels{7, 0, 9, 10, 0};
        const std::vector<int64_t> places{0, 1, 3, 4, 5};
        for (int64_t i = 0; i < 5; ++i) {
            QCOMPARE(batch.tensors[3][i].item<int64_t>(), labels[size_t(i)]);
            QCOMPARE(batch.tensors[4][i].item<int64_t>(), places[size_t(i)]);
        }
    }

    void batchWithoutPaddingSaysSo() {
        const Batch batch = makePairBatch({{{5, 0}, {7, 0}}, {{8, 0}, {9, 0}}});
        QCOMPARE(batch.tensors[1].numel(), int64_t{0});
        QCOMPARE(batch.tensors[4].numel(), int64_t{0});
        QCOMPARE(batch.tensors[3].numel(), int64_t{4});
    }

private:
    PairFolder m_folder;
    PairFile m_ids;
};

QTEST_GUILESS_MAIN(TestPairBatches)
#include "tst_pair_batches.moc"
