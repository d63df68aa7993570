// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/run_table.h"
#include "tests/unit/core/store/store_fixture.h"

#include <cmath>

namespace rm {

/// What scatter plot and parallel coordinates show of runs.
class TestRunTable : public QObject {
    Q_OBJECT

    static void create(StoreFixture& store, const QString& id, const std::string& toml,
                       float loss) {
        StoreFixture::mustBeOk(
            store.writer().createRun({id, id, toml, {{0, "node-a", 1, 0}}, {}, 0}));
        if (loss > 0)
            store.ingest(
                id, {started(1, 0, 0, 1), Samples{0, 10, 1000, {metric::kValidationLoss}, {loss}}});
    }

    static void createThree(StoreFixture& store) {
        create(store, "a", "[optimizer]\nlr = 0.001\n", 2.5F);
        create(store, "b", "[optimizer]\nlr = 0.01\ntype = \"sgd\"\n", 2.0F);
        create(store, "c", "[optimizer]\nlr = 0.1\n", 0);
    }

    static RunTable read(StoreFixture& store, std::vector<std::string> keys) {
        RunValues values;
        auto runs = store.reader().runs();
        std::ranges::sort(runs, {}, &RunSummary::id);
        return readRunTable(store.reader(), values, std::move(runs), std::move(keys)).value();
    }

private Q_SLOTS:
    void runsHaveTheirValues() {
        StoreFixture store;
        createThree(store);
        const RunTable table = read(store, {"lr", "best:validation/loss"});
        QCOMPARE(table.values.size(), size_t(3));
        QCOMPARE(table.values[0], (std::vector<std::string>{"0.001", "2.5"}));
        QCOMPARE(table.values[2], (std::vector<std::string>{"0.1", ""}));
    }

    void aKeyThatNamesNothingIsRefused() {
        StoreFixture store;
        createThree(store);
        RunValues values;
        const auto table = readRunTable(store.reader(), values, store.reader().runs(), {"lrr"});
        QVERIFY(!table && table.error().message.find("lrr") != std::string::npos);
    }

    void numbersAreAScale() {
        StoreFixture store;
        createThree(store);
        const ValueScale lr = scaleOf(read(store, {"lr", "best:validation/loss"}), 0);
        QVERIFY(lr.isNumeric() && lr.canBeLog());
        QCOMPARE(lr.values, (std::vector<double>{0.001, 0.01, 0.1}));
        QCOMPARE(lr.least, 0.001);
        QCOMPARE(lr.most, 0.1);
        const ValueScale loss = scaleOf(read(store, {"best:validation/loss"}), 0);
        QVERIFY(std::isnan(loss.values[2]));
        QCOMPARE(loss.least, 2.0);
    }

    void textsAreCategories() {
        StoreFixture store;
        createThree(store);
        const ValueScale type = scaleOf(read(store, {"optimizer.type"}), 0);
        QVERIFY(!type.isNumeric() && !type.canBeLog());
        QCOMPARE(type.categories, (std::vector<std::string>{"adamw", "sgd"}));
        QCOMPARE(type.values, (std::vector<double>{0, 1, 0}));
    }

    void whatTellsRunsApartIsShownFirst() {
        StoreFixture store;
        createThree(store);
        RunValues values;
        const auto keys = tellingKeys(store.reader(), values, store.reader().runs(), 6);
        QVERIFY(std::ranges::find(keys, "optimizer.lr") != keys.end());
        QVERIFY(std::ranges::find(keys, "optimizer.type") != keys.end());
        QCOMPARE(keys.back(), std::string("best:validation/loss"));
        const auto two = tellingKeys(store.reader(), values, store.reader().runs(), 2);
        QCOMPARE(two.size(), size_t(2));
        QCOMPARE(two.back(), std::string("best:validation/loss"));
        QVERIFY(tellingKeys(store.reader(), values, {}, 6).empty());
    }

    void theSeedComesLastOfTheSettings() {
        StoreFixture store;
        create(store, "a", "seed = 1\n[optimizer]\nlr = 0.001\n", 2.5F);
        create(store, "b", "seed = 2\n[optimizer]\nlr = 0.01\n", 2.0F);
        RunValues values;
        QCOMPARE(tellingKeys(store.reader(), values, store.reader().runs(), 6),
                 (std::vector<std::string>{"optimizer.lr", "seed", "best:validation/loss"}));
        QVERIFY(scaleOf(read(store, {"seed"}), 0).isWhole());
        QVERIFY(!scaleOf(read(store, {"lr"}), 0).isWhole());
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestRunTable)
#include "tst_run_table.moc"
