// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/column_codec.h"
#include "app/core/store/series.h"
#include "app/core/store/stream_rows.h"

#include <QTest>

#include <bit>
#include <random>

namespace rm {

class TestColumnCodec : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyBitPatternComesBack() {
        std::mt19937_64 random(7);
        for (const size_t count : {1, 2, 3, 255, 4096}) {
            std::vector<int64_t> integers{INT64_MIN, INT64_MAX, 0, -1, 1};
            std::vector<float> floats;
            for (const uint32_t bits : {0x7f800001u, 0xffc12345u, 0x80000000u, 0x7f800000u, 1u})
                floats.push_back(std::bit_cast<float>(bits));
            integers.resize(count);
            floats.resize(count);
            for (size_t i = 5; i < count; ++i) {
                integers[i] = static_cast<int64_t>(random());
                floats[i] = std::bit_cast<float>(static_cast<uint32_t>(random()));
            }
            QVERIFY(*decodeIntegers(encodeColumn(std::span<const int64_t>(integers)), count) ==
                    integers);
            const auto back = *decodeFloats(encodeColumn(std::span<const float>(floats)), count);
            for (size_t i = 0; i < count; ++i)
                QCOMPARE(std::bit_cast<uint32_t>(back[i]), std::bit_cast<uint32_t>(floats[i]));
        }
    }

    void regularColumnsAreSmall() {
        std::vector<int64_t> steps;
        std::vector<float> rates;
        for (int i = 0; i < 4096; ++i) {
            steps.push_back(1000 + 10 * i);
            rates.push_back(3e-4f);
        }
        QVERIFY(encodeColumn(std::span<const int64_t>(steps)).size() < 64);
        QVERIFY(encodeColumn(std::span<const float>(rates)).size() < 64);
    }

    void damagedColumnsAreRefused() {
        const std::vector<int64_t> values{5, 9, 2, 7};
        const auto whole = encodeColumn(std::span<const int64_t>(values));
        for (size_t size = 0; size < whole.size(); ++size)
            QVERIFY(!decodeIntegers(std::span(whole).first(size), values.size()));
        QVERIFY(!decodeIntegers(whole, 3));
        QVERIFY(!decodeIntegers(whole, 5));
        QVERIFY(!decodeIntegers(whole, SIZE_MAX / 4));
        auto unknown = whole;
        unknown[0] = std::byte(99);
        QVERIFY(!decodeIntegers(unknown, 4));
    }

    void damagedRowsAreRefused() {
        StreamRows rows;
        for (int i = 0; i < 5; ++i) {
            addRow(rows, i, 10 * i);
            set(rows, 1, float(i));
            if (i % 2)
                set(rows, 2, float(i));
        }
        const auto whole = encodeRows(rows);
        QVERIFY(*decodeRows(whole) == rows);
        std::vector<Point> points;
        for (size_t size = 0; size < whole.size(); ++size) {
            QVERIFY(!decodeRows(std::span(whole).first(size)));
            QVERIFY(!decodePoints(std::span(whole).first(size), 2, points) || points.size() <= 2);
        }
        points.clear();
        QVERIFY(decodePoints(whole, 2, points));
        QVERIFY(points == (std::vector<Point>{{1, 10, 1}, {3, 30, 3}}));
        std::mt19937 random(3);
        for (int i = 0; i < 20000; ++i) {
            auto flipped = whole;
            flipped[random() % flipped.size()] ^= std::byte(1 << random() % 8);
            (void)decodeRows(flipped);
            (void)decodePoints(flipped, 2, points);
        }
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestColumnCodec)
#include "tst_column_codec.moc"
