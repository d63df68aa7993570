// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/live_spec.h"
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
        const auto lr = [&] { return readLiveSpec(store.reader(), "a")->optimizer.lr; };
        QCOMPARE(lr(), 0.003);
        const auto setTo = [](std::vector<SettingsChanged::Setting> settings) {
            return SettingsChanged{5, 1, std::move(settings)};
        };
        store.ingest("a", {started(1, 0, 0), setTo({}), setTo({{"optimizer.lr", 0.002}}),
                           setTo({{"optimizer.lr", 0.001}})});
        QCOMPARE(lr(), 0.001);
        // Of another release, or made up: no key, out of its bounds, not a number.
        store.ingest("a", {setTo({{"optimizer.lr", -1}, {"no.key", 1}, {"train.steps", 7}})});
        QCOMPARE(lr(), 0.003);
        store.ingest("a", {setTo({{"optimizer.lr", std::nan("")}})});
        QCOMPARE(lr(), 0.003);
        // The next attempt went back to before it was set; what the one before said comes late.
        store.ingest("a", {started(2, 0, 0), setTo({})});
        auto late = StoreFixture::batch("a", {setTo({{"optimizer.lr", 0.001}})});
        late.attempts = {1};
        StoreFixture::mustBeOk(store.writer().ingest(late));
        QCOMPARE(lr(), 0.003);
        // Only rank 0 says it.
        store.ingest("a", {started(2, 2, 0), setTo({{"optimizer.lr", 0.001}})}, 1);
        QCOMPARE(lr(), 0.003);
    }
};

} // namespace rm

QTEST_APPLESS_MAIN(rm::TestLiveSpec)
#include "tst_live_spec.moc"
