// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/live_changes.h"
#include "tests/unit/core/store/store_fixture.h"

namespace rm {

class TestLiveChanges : public QObject {
    Q_OBJECT

    static void create(StoreFixture& store) {
        StoreFixture::mustBeOk(store.writer().createRun(
            {"a", "a", "[optimizer]\nlr = 0.002\nclip = 1.0\n", {{0, "node-a", 2, 0}}, {}, 0}));
    }

    /// What rank 0 journals of a `set` after that step.
    static std::vector<Record> changed(const std::string& id, int64_t step, const char* names,
                                       std::vector<SettingsChanged::Setting> now) {
        CheckpointSaved saved;
        saved.step = step;
        saved.path = "/c/step-" + std::to_string(step);
        saved.reason = std::string("before set ") + names;
        return {saved, SettingsChanged{step, step, std::move(now)},
                CommandApplied{id, "set", step, step, true, "something"}};
    }

    static void ingest(StoreFixture& store, int attempt, const std::vector<Record>& records) {
        auto batch = StoreFixture::batch("a", records);
        batch.attempts.assign(records.size(), attempt);
        StoreFixture::mustBeOk(store.writer().ingest(batch));
    }

    static std::vector<LiveChange> changesOf(StoreFixture& store) {
        return liveChanges(store.reader(), *store.reader().run("a"));
    }

private Q_SLOTS:
    void aChangeIsInForceUntilTheNextOfItsKey() {
        StoreFixture store;
        create(store);
        store.ingest("a", {started(1, 0, 0), SettingsChanged{0, 0, {}}, lossAt(1, 5)});
        QVERIFY(changesOf(store).empty());
        ingest(store, 1, changed("one", 5, "lr", {{"optimizer.lr", 0.001}}));
        ingest(store, 1,
               changed("two", 9, "clip", {{"optimizer.clip", 0.5}, {"optimizer.lr", 0.001}}));
        auto changes = changesOf(store);
        QCOMPARE(changes.size(), size_t(2));
        QCOMPARE(changeWords(changes[0]), std::string("optimizer.clip 1 -> 0.5"));
        QCOMPARE(changeWords(changes[1]), std::string("optimizer.lr 0.002 -> 0.001"));
        QVERIFY(changes[0].isInForce && changes[1].isInForce);
        QCOMPARE(changes[1].checkpoint->saved.path, std::string("/c/step-5"));
        const std::vector<std::pair<std::string, std::string>> back = {{"optimizer.lr", "0.002"}};
        QCOMPARE(settingsBefore(changes[1]), back);
        // To set it back is a change as any other.
        ingest(store, 1, changed("three", 20, "lr", {{"optimizer.clip", 0.5}}));
        changes = changesOf(store);
        QCOMPARE(changes.size(), size_t(3));
        QVERIFY(changes[0].isInForce && changes[1].isInForce && !changes[2].isInForce);
        QCOMPARE(changes[0].before, 0.001);
        QCOMPARE(changes[0].after, 0.002);
    }

    void aChangeThatTheRunWentBackFromIsNotInForce() {
        StoreFixture store;
        create(store);
        store.ingest("a", {started(1, 0, 0), SettingsChanged{0, 0, {}}, lossAt(1, 5)});
        ingest(store, 1, changed("one", 5, "lr", {{"optimizer.lr", 0.001}}));
        ingest(store, 1, {lossAt(6, 1), lossAt(7, 1)});
        QVERIFY(changesOf(store)[0].isInForce);
        ingest(store, 2, {started(2, 0, 5), SettingsChanged{5, 0, {}}, lossAt(6, 1)});
        const auto changes = changesOf(store);
        QCOMPARE(changes.size(), size_t(1));
        QVERIFY(!changes[0].isInForce);
        QVERIFY(changes[0].checkpoint.has_value());
    }

    void aChangeThatALaterAttemptContinuesIsInForce() {
        StoreFixture store;
        create(store);
        store.ingest("a", {started(1, 0, 0), SettingsChanged{0, 0, {}}, lossAt(1, 5)});
        ingest(store, 1, changed("one", 5, "lr", {{"optimizer.lr", 0.001}}));
        ingest(store, 1, {lossAt(6, 1), lossAt(7, 1), lossAt(8, 1)});
        ingest(store, 2,
               {started(2, 0, 7), SettingsChanged{7, 0, {{"optimizer.lr", 0.001}}}, lossAt(8, 1)});
        QVERIFY(changesOf(store)[0].isInForce);
    }

    void theChangeThatIsMeantIsFound() {
        LiveChange newest{"aaaa-1", "optimizer.clip", 1, 2, 1, 30, 30, false, {}};
        LiveChange middle{"aabb-2", "optimizer.lr", 0.1, 0.2, 1, 20, 20, true, {}};
        LiveChange oldest{"ccdd-3", "optimizer.lr", 0.05, 0.1, 1, 10, 10, false, {}};
        const std::vector<LiveChange> all = {newest, middle, oldest};
        const auto found = [&](const char* which) {
            const auto change = findChange(all, which, "revert a");
            return change ? change->command : change.error().message;
        };
        QCOMPARE(found(""), middle.command);
        QCOMPARE(found("lr"), middle.command);
        QCOMPARE(found("optimizer.lr"), middle.command);
        QCOMPARE(found("clip"), newest.command);
        QCOMPARE(found("cc"), oldest.command);
        QVERIFY(found("aa").find("several") != std::string::npos);
        QVERIFY(found("zz").find("\"zz\"") != std::string::npos);
        QVERIFY(!findChange({}, "", "revert a"));
        QVERIFY(checkSetBack({}, middle));
        QVERIFY(!checkSetBack({}, oldest));
        RunSummary paused;
        paused.state = RunStateKind::kPaused;
        QVERIFY(!checkSetBack(paused, middle));
        QVERIFY(!checkGoBack(middle));
    }

    void aCheckpointOfTheSameStepThatReplacedItIsNotTakenForIt() {
        StoreFixture store;
        create(store);
        store.ingest("a", {started(1, 0, 0), SettingsChanged{0, 0, {}}, lossAt(1, 5)});
        ingest(store, 1, changed("one", 5, "lr", {{"optimizer.lr", 0.001}}));
        CheckpointSaved later; // as by `checkpoint` while it is held there
        later.step = 5;
        later.path = "/c/step-5";
        later.reason = "command";
        ingest(store, 1, {later});
        QVERIFY(!changesOf(store)[0].checkpoint);
    }
};

} // namespace rm

QTEST_APPLESS_MAIN(rm::TestLiveChanges)
#include "tst_live_changes.moc"
