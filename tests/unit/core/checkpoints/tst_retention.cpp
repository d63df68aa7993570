// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/retention.h"
#include "shared/metrics/registry.h"
#include "tests/unit/core/store/store_fixture.h"

namespace rm {

namespace {

const QString kRun = "a";

CheckpointSaved savedAt(int64_t step, const std::string& reason = "every 10", bool best = false) {
    CheckpointSaved saved;
    saved.step = step;
    saved.path = "/c/step-" + std::to_string(step);
    saved.reason = reason;
    saved.best = best;
    return saved;
}

RunSpec keeping(int64_t last, int64_t best = 0, int64_t every = 0) {
    RunSpec spec;
    spec.checkpoint.keepLast = last;
    spec.checkpoint.keepBest = best > 0;
    spec.checkpoint.keepBestCount = best;
    spec.checkpoint.keepEvery = every;
    return spec;
}

} // namespace

class TestRetention : public QObject {
    Q_OBJECT

    static std::vector<int64_t> removed(StoreFixture& store, const RunSpec& spec) {
        std::vector<int64_t> steps;
        for (const std::string& path : removedNext(store.reader(), *store.reader().run(kRun), spec))
            steps.push_back(std::stoll(path.substr(path.rfind('-') + 1)));
        std::ranges::sort(steps);
        return steps;
    }

    /// Steps 10 to 50, the best of them 20, then 40; the one of 30 was asked for.
    static void fill(StoreFixture& store) {
        store.createRun(kRun, "run", 1, 1);
        store.ingest(kRun, {AttemptStarted{1, 0, 1, 0, 1, {}}});
        for (const int64_t step : {10, 20, 30, 40, 50}) {
            Samples samples;
            samples.step = step;
            samples.metric = {metric::kValidationLoss};
            samples.value = {step == 20 ? 1.0F : static_cast<float>(100 - step)};
            store.ingest(kRun,
                         {samples, savedAt(step, step == 30 ? "command" : "every 10", step == 20)});
        }
    }

private Q_SLOTS:
    void theNextOneTakesAPlaceAmongTheLast() {
        StoreFixture store;
        fill(store);
        using Steps = std::vector<int64_t>;
        QCOMPARE(removed(store, keeping(3)), (Steps{10, 20}));
        QCOMPARE(removed(store, keeping(6)), Steps{});
        QCOMPARE(removed(store, keeping(1)), (Steps{10, 20, 40, 50})); // 30 is a person's
        QCOMPARE(removed(store, keeping(1, 1)), (Steps{10, 40, 50}));
        QCOMPARE(removed(store, keeping(1, 2)), (Steps{10, 40})); // 50 measured second best
        QCOMPARE(removed(store, keeping(1, 0, 20)), (Steps{10, 50}));
    }

    void aPinnedOneStays() {
        StoreFixture store;
        fill(store);
        StoreFixture::mustBeOk(store.writer().setCheckpointPinned(kRun, "/c/step-10", true));
        QCOMPARE(removed(store, keeping(3)), std::vector<int64_t>{20});
    }

    void anAbandonedLineIsLeftAlone() {
        StoreFixture store;
        fill(store);
        store.ingest(kRun, {AttemptStarted{2, 0, 1, 20, 9, "/c/step-20"}});
        QCOMPARE(removed(store, keeping(2)), std::vector<int64_t>{10});
        QCOMPARE(removed(store, keeping(1)), (std::vector<int64_t>{10, 20}));
        store.ingest(kRun, {savedAt(25), savedAt(26)});
        QCOMPARE(removed(store, keeping(2)), (std::vector<int64_t>{10, 20, 25}));
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestRetention)
#include "tst_retention.moc"
