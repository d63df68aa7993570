// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/comparison.h"
#include "tests/unit/core/store/store_fixture.h"

#include <algorithm>
#include <cmath>

namespace rm {

namespace {

const ComparedValue* find(const std::vector<ComparedValue>& values, const std::string& key) {
    const auto found = std::ranges::find(values, key, &ComparedValue::key);
    return found == values.end() ? nullptr : &*found;
}

const ComparedMetric* find(const Comparison& comparison, const std::string& name) {
    const auto found = std::ranges::find(comparison.metrics, name,
                                         [](const ComparedMetric& each) { return each.def.name; });
    return found == comparison.metrics.end() ? nullptr : &*found;
}

Samples sample(int64_t step, MetricId metric, float value) {
    return {0, step, step * 1'000'000, {metric}, {value}};
}

} // namespace

class TestComparison : public QObject {
    Q_OBJECT

    static void create(StoreFixture& store, const QString& id, const std::string& toml,
                       const QString& parent = {}, int64_t parentStep = 0) {
        StoreFixture::mustBeOk(
            store.writer().createRun({id, id, toml, {{0, "node-a", 2, 0}}, parent, parentStep}));
    }

private Q_SLOTS:
    void settingsThatDifferAreTold() {
        StoreFixture store;
        create(store, "a", "[train]\nsteps = 100\n[optimizer]\nlr = 0.002\n");
        create(store, "b", "[train]\nsteps = 100\n[optimizer]\nlr = 5e-4\n");
        const auto comparison = compareRuns(store.reader(), {"a", "b"});
        QVERIFY2(comparison, comparison ? "" : comparison.error().message.c_str());
        const ComparedValue* lr = find(comparison->settings, "optimizer.lr");
        QVERIFY(lr && lr->differs());
        QVERIFY((lr->values == std::vector<std::string>{"0.002", "0.0005"}));
        QCOMPARE(lr->label, std::string("Learning rate"));
        const ComparedValue* steps = find(comparison->settings, "train.steps");
        QVERIFY(steps && !steps->differs());
        QCOMPARE(std::ranges::count(comparison->settings, true, &ComparedValue::differs), 1);
    }

    void whatAModelDoesNotUseIsEmpty() {
        StoreFixture store;
        create(store, "text", "[model]\ntype = \"gpt\"\n");
        create(store, "pictures", "[model]\ntype = \"resnet\"\n");
        const auto comparison = compareRuns(store.reader(), {"text", "pictures"});
        QVERIFY2(comparison, comparison ? "" : comparison.error().message.c_str());
        const ComparedValue* tokens = find(comparison->settings, "validation.sample_tokens");
        QVERIFY(tokens && !tokens->values[0].empty() && tokens->values[1].empty());
    }

    void aBranchSaysWhereItLeftItsParent() {
        StoreFixture store;
        create(store, "parent", "");
        create(store, "branch", "", "parent", 40);
        const auto comparison = compareRuns(store.reader(), {"parent", "branch"});
        QVERIFY(comparison);
        const ComparedValue* parent = find(comparison->facts, "parent");
        QVERIFY(parent && parent->values[0].empty());
        QCOMPARE(parent->values[1], std::string("parent at 40"));
    }

    /// More points than are read at once, so that the step has to be looked for.
    void theBestValueIsExactAndHasItsStep() {
        constexpr int64_t kSteps = 5000, kBestStep = 3217;
        StoreFixture store;
        for (const char* run : {"a", "b"}) {
            create(store, run, "[train]\nsteps = 5000\n");
            std::vector<Record> records{started(1, 0, 0)};
            for (int64_t step = 1; step <= kSteps; ++step)
                records.push_back(lossAt(step, step == kBestStep ? (run[0] == 'a' ? 0.25f : 0.5f)
                                                                 : 2 + std::sin(float(step))));
            store.ingest(run, std::move(records));
        }
        const auto comparison = compareRuns(store.reader(), {"a", "b"});
        QVERIFY(comparison);
        const ComparedMetric* loss = find(*comparison, "train/loss");
        QVERIFY(loss && loss->extents[0] && loss->extents[1]);
        QCOMPARE(bestOf(loss->def, *loss->extents[0]), std::optional(0.25));
        QCOMPARE(bestStepOf(loss->def, *loss->extents[0]), kBestStep);
        QCOMPARE(loss->extents[0]->lastStep, kSteps);
        QCOMPARE(static_cast<float>(loss->extents[0]->last), 2 + std::sin(float(kSteps)));
        QCOMPARE(loss->best, std::optional<size_t>(0));
        QVERIFY(!loss->bestLast); // the last ones are alike
    }

    void whatIsSetAsideDoesNotCount() {
        StoreFixture store;
        create(store, "a", "");
        store.ingest("a", {started(1, 0, 0), lossAt(1, 5), lossAt(2, 4), lossAt(3, 0.5f)});
        store.ingest("a", {started(2, 0, 2), lossAt(3, 3)});
        create(store, "b", "");
        const auto comparison = compareRuns(store.reader(), {"a", "b"});
        QVERIFY(comparison);
        const ComparedMetric* loss = find(*comparison, "train/loss");
        QVERIFY(loss && loss->extents[0] && !loss->extents[1]);
        QCOMPARE(loss->extents[0]->least, 3.0);
        QVERIFY(!loss->best); // of one alone
    }

    void moreIsBetterWhereItIs() {
        StoreFixture store;
        for (const char* run : {"a", "b"}) {
            create(store, run, "");
            store.ingest(run, {started(1, 0, 0),
                               sample(10, metric::kValidationBleu, run[0] == 'a' ? 20.f : 31.f),
                               sample(20, metric::kValidationBleu, run[0] == 'a' ? 25.f : 24.f)});
        }
        const auto comparison = compareRuns(store.reader(), {"a", "b"});
        QVERIFY(comparison);
        const ComparedMetric* bleu = find(*comparison, "validation/bleu");
        QVERIFY(bleu);
        QCOMPARE(bleu->best, std::optional<size_t>(1));
        QCOMPARE(bleu->bestLast, std::optional<size_t>(0));
        QCOMPARE(bestStepOf(bleu->def, *bleu->extents[1]), int64_t(10));
    }

    void nanCountsForNothing() {
        StoreFixture store;
        for (const char* run : {"a", "b"}) {
            create(store, run, "");
            store.ingest(run, {started(1, 0, 0), lossAt(1, run[0] == 'a' ? 2.f : 3.f),
                               lossAt(2, std::nanf(""))});
        }
        const auto comparison = compareRuns(store.reader(), {"a", "b"});
        QVERIFY(comparison);
        const ComparedMetric* loss = find(*comparison, "train/loss");
        QVERIFY(loss);
        QCOMPARE(loss->best, std::optional<size_t>(0));
        QCOMPARE(loss->extents[0]->last, 2.0);
        QCOMPARE(loss->extents[0]->lastStep, int64_t(1));
    }

    void aRunThatIsNotStoredIsNamed() {
        StoreFixture store;
        create(store, "a", "");
        const auto comparison = compareRuns(store.reader(), {"a", "gone"});
        QVERIFY(!comparison);
        QCOMPARE(comparison.error().code, ErrorCode::kNotFound);
        QVERIFY(comparison.error().message.find("gone is not stored") != std::string::npos);
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestComparison)
#include "tst_comparison.moc"
