// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/lineage.h"
#include "tests/unit/core/store/store_fixture.h"

namespace rm {

class TestLineage : public QObject {
    Q_OBJECT

    static void create(StoreFixture& store, const QString& id, const std::string& toml,
                       const QString& parent = {}, int64_t parentStep = 0) {
        StoreFixture::mustBeOk(
            store.writer().createRun({id, id, toml, {{0, "node-a", 2, 0}}, parent, parentStep}));
    }

    static QStringList idsOf(const std::vector<LineageRun>& runs) {
        QStringList ids;
        for (const LineageRun& run : runs)
            ids << run.run.id;
        return ids;
    }

private Q_SLOTS:
    /// Of a grandchild: its ancestors, and all that come from these.
    void allThatHangTogetherAreThere() {
        StoreFixture store;
        create(store, "root", "");
        create(store, "late", "", "root", 400);
        create(store, "early", "", "root", 200);
        create(store, "deep", "", "early", 300);
        create(store, "stranger", "");
        const auto lineage = readLineage(store.reader(), {"deep"});
        QCOMPARE(idsOf(lineage), QStringList({"root", "early", "deep", "late"}));
        QCOMPARE(lineage[2].depth, 2);
        QCOMPARE(lineage[2].parent, std::optional<size_t>(1));
        QVERIFY(!lineage[0].parent);
        QCOMPARE(idsOf(readLineage(store.reader(), {"stranger", "late"})),
                 QStringList({"stranger", "root", "early", "deep", "late"}));
    }

    void aBranchSaysWhatItChanged() {
        StoreFixture store;
        create(store, "root", "[optimizer]\nlr = 0.002\n");
        create(store, "branch", "name = \"other\"\n[optimizer]\nlr = 0.001\n", "root", 40);
        const auto lineage = readLineage(store.reader(), {"root"});
        QCOMPARE(lineage[1].changes.size(), size_t(1)); // the name is none
        QCOMPARE(changeWords(lineage[1].changes[0]), std::string("optimizer.lr 0.002 → 0.001"));
    }

    void anAttemptSaysWhatItMadeAndWhatWasSet() {
        StoreFixture store;
        create(store, "a", "[optimizer]\nlr = 0.002\n");
        store.ingest("a", {started(1, 0, 0), lossAt(1, 5), lossAt(2, 4), lossAt(3, 3)});
        store.ingest("a", {started(2, 0, 2), SettingsChanged{2, 0, {{"optimizer.lr", 0.002}}},
                           lossAt(3, 3), SettingsChanged{3, 0, {{"optimizer.lr", 0.0005}}},
                           lossAt(4, 2)});
        const auto lineage = readLineage(store.reader(), {"a"});
        QCOMPARE(lineage[0].attempts.size(), size_t(2));
        const LineageAttempt& second = lineage[0].attempts[1];
        QCOMPARE(second.changes.size(), size_t(1));
        QCOMPARE(changeWords(second.changes[0]),
                 std::string("optimizer.lr 0.002 → 0.0005 after step 3"));
        QCOMPARE(second.changes[0].afterStep, int64_t(3));
        QVERIFY(lineage[0].attempts[0].changes.empty());
    }

    void aParentThatIsNotStoredLeavesItsBranch() {
        StoreFixture store;
        create(store, "branch", "", "gone", 40);
        const auto lineage = readLineage(store.reader(), {"branch"});
        QCOMPARE(idsOf(lineage), QStringList({"branch"}));
        QVERIFY(!lineage[0].parent);
        QVERIFY(readLineage(store.reader(), {"nothing"}).empty());
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestLineage)
#include "tst_lineage.moc"
