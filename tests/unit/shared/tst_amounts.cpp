// SPDX-License-Identifier: Apache-2.0
#include "shared/amounts.h"
#include "shared/counted.h"

#include <QTest>

using namespace rm;
using namespace std::string_literals;

class TestAmounts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void disksAndNetworksCountByThousands() {
        QCOMPARE(bytesWords(0), "0 B"s);
        QCOMPARE(bytesWords(999), "999 B"s);
        QCOMPARE(bytesWords(1000), "1.0 kB"s);
        QCOMPARE(bytesWords(64 << 10), "65.5 kB"s);
        QCOMPARE(bytesWords(329'400'000), "329 MB"s);
        QCOMPARE(bytesWords(1'234'000'000), "1.2 GB"s);
        QCOMPARE(bytesWords(INT64_MAX), "9223 PB"s);
    }

    void memoryCountsByPowersOfTwo() {
        QCOMPARE(memoryWords(0), "0 B"s);
        QCOMPARE(memoryWords(1023), "1023 B"s);
        QCOMPARE(memoryWords(1024), "1.0 KiB"s);
        QCOMPARE(memoryWords(64 << 20), "64.0 MiB"s);
        QCOMPARE(memoryWords(150'110'011'392), "139.8 GiB"s);
    }

    void onlyOneOfAThingHasNoPlural() {
        QCOMPARE(counted(0, "rank"), "0 ranks"s);
        QCOMPARE(counted(1, "rank"), "1 rank"s);
        QCOMPARE(counted(2, "rank"), "2 ranks"s);
        QCOMPARE(counted(1, "run is", "runs are"), "1 run is"s);
        QCOMPARE(counted(0, "run is", "runs are"), "0 runs are"s);
    }
};

QTEST_APPLESS_MAIN(TestAmounts)
#include "tst_amounts.moc"
