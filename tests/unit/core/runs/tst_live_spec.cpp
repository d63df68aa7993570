// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/live_spec.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/stored_checkpoint.h"
#include "tests/unit/core/store/store_fixture.h"

#include <cmath>

namespace rm {

class TestLiveSpec : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void whatTheRanksSaidLastCounts() {
        StoreFixture store;
        NewRun run;
        run.id = "a";
        RunSpec spec;
        spec.optimizer.lr = 0.003;
        run.specToml = toToml(spec);
        run.nodes = {{0, "node-a", 2, 0}, {1, "node-b", 2, 2}};
        StoreFixture::mustBeOk(store.writer().createRun(run));
        const auto now = [&] {
            return liveSpec(*parseRunSpec(store.reader().specToml("a"), "a"),
                            settingsNow(store.reader().settings("a")))
                .optimizer.lr;
        };
        QCOMPARE(now(), 0.003);
        const auto setTo = [](int64_t step, std::vector<SettingsChanged::Setting> settings) {
            return SettingsChanged{step, 1, std::move(settings)};
        };
        const auto ingest = [&](int attempt, const Record& record, int node = 0) {
            auto batch = StoreFixture::batch("a", {record}, node);
            batch.attempts = {attempt};
            StoreFixture::mustBeOk(store.writer().ingest(batch));
        };
        store.ingest("a", {started(1, 0, 0), setTo(0, {}), setTo(5, {{"optimizer.lr", 0.002}}),
                           setTo(9, {{"optimizer.lr", 0.001}})});
        QCOMPARE(now(), 0.001);
        // A branch begins as the checkpoint was trained, not as the run is now.
        const auto at = [&](int attempt, int64_t step, const std::string& reason = {}) {
            StoredCheckpoint checkpoint;
            checkpoint.attempt = attempt;
            checkpoint.saved.step = step;
            checkpoint.saved.reason = reason;
            return specOfBranch(store.reader(), "a", checkpoint)->optimizer.lr;
        };
        QCOMPARE(at(1, 4), 0.003);
        QCOMPARE(at(1, 5), 0.002);
        QCOMPARE(at(1, 9, "before set"), 0.002);
        QCOMPARE(at(1, 9, "before set lr"), 0.002);
        QCOMPARE(at(1, 20), 0.001);
        // Of another release, or made up: no key, out of its bounds, not a number.
        store.ingest("a", {setTo(10, {{"optimizer.lr", -1}, {"no.key", 1}, {"train.steps", 7}})});
        QCOMPARE(now(), 0.003);
        store.ingest("a", {setTo(11, {{"optimizer.lr", std::nan("")}, {"a = 1\nb", 1}})});
        QVERIFY(settingsNow(store.reader().settings("a")).empty());
        // The next attempt went back to before it was set; what the one before said comes late.
        ingest(2, started(2, 0, 4));
        ingest(2, setTo(4, {}));
        ingest(1, setTo(12, {{"optimizer.lr", 0.001}}));
        QCOMPARE(now(), 0.003);
        QCOMPARE(at(2, 20), 0.003);
        // Only rank 0 says it, of attempts that have begun.
        ingest(2, setTo(30, {{"optimizer.lr", 0.001}}), 1);
        ingest(900, setTo(30, {{"optimizer.lr", 0.001}}));
        QCOMPARE(now(), 0.003);
    }
};

} // namespace rm

QTEST_APPLESS_MAIN(rm::TestLiveSpec)
#include "tst_live_spec.moc"
