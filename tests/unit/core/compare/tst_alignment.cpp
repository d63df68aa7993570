// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/compare/alignment.h"
#include "app/core/compare/step_scale.h"
#include "tests/unit/core/store/store_fixture.h"

#include <cmath>

namespace rm {

/// Where runs stand on an axis: what their steps are made of, and what is shown as 0.
class TestAlignment : public QObject {
    Q_OBJECT

    static void create(StoreFixture& store, const QString& id, const std::string& toml,
                       const QString& parent = {}, int64_t parentStep = 0) {
        StoreFixture::mustBeOk(
            store.writer().createRun({id, id, toml, {{0, "node-a", 2, 0}}, parent, parentStep}));
    }

    static RunSummary run(StoreFixture& store, const QString& id) {
        return store.reader().run(id).value();
    }

private Q_SLOTS:
    void tokensOfAStepFollowFromTheSpec() {
        StoreFixture store;
        create(store, "a", "[model]\ncontext = 128\n[train]\nbatch_size = 4\naccumulation = 3\n");
        const auto work = workScale(store.reader(), run(store, "a"));
        QVERIFY(work && work->unit == WorkUnit::kTokens);
        QCOMPARE(work->scale.at(10), 10.0 * 2 * 4 * 3 * 128); // on two ranks
        QCOMPARE(work->scale.stepAt(work->scale.at(7)), 7.0);
    }

    void aGlobalBatchCountsWhateverTheRanks() {
        StoreFixture store;
        create(store, "a",
               "[model]\ntype = \"resnet50\"\n[train]\nbatch_size = 4\nglobal_batch = 64\n");
        const auto work = workScale(store.reader(), run(store, "a"));
        QVERIFY(work && work->unit == WorkUnit::kPictures);
        QCOMPARE(work->scale.at(3), 3.0 * 64);
    }

    /// The branch has batches of twice the size, after 100 steps of its parent.
    void aBranchCountsWhatItsParentTook() {
        StoreFixture store;
        create(store, "parent", "[model]\ncontext = 10\n[train]\nbatch_size = 1\n");
        create(store, "branch", "[model]\ncontext = 10\n[train]\nbatch_size = 2\n", "parent", 100);
        const auto work = workScale(store.reader(), run(store, "branch"));
        QVERIFY(work);
        QCOMPARE(work->scale.at(100), 100.0 * 20);
        QCOMPARE(work->scale.at(101), 100.0 * 20 + 40);
    }

    void batchesOfTokensAreMeasured() {
        StoreFixture store;
        create(store, "a", "[model]\ntype = \"translation\"\n[train]\nbatch_tokens = 4096\n");
        const auto before = workScale(store.reader(), run(store, "a"));
        QVERIFY(!before && before.error().code == ErrorCode::kNotFound);
        std::vector<Record> records{started(1, 0, 0)};
        for (int64_t step = 1; step <= 20; ++step)
            records.push_back(Samples{0,
                                      step,
                                      step * 1'000'000,
                                      {metric::kTrainTokensPerS, metric::kTrainStepMs},
                                      {5000, 200}});
        store.ingest("a", std::move(records));
        const auto work = workScale(store.reader(), run(store, "a"));
        QVERIFY(work && work->unit == WorkUnit::kTokens);
        QCOMPARE(std::round(work->scale.perStep), 2000.0); // 1000 a rank
    }

    void aModelOfALaterReleaseIsNotKnown() {
        StoreFixture store;
        create(store, "a", "[model]\ntype = \"later\"\n");
        const auto work = workScale(store.reader(), run(store, "a"));
        QVERIFY(!work && work.error().code == ErrorCode::kNotFound);
        QCOMPARE(workUnit(store.reader(), "a"), WorkUnit::kTokens);
    }

    void epochsAreKnownOnceTheDataIsRead() {
        StoreFixture store;
        create(store, "steps", "[train]\nsteps = 100\n");
        const auto none = epochScale(store.reader(), run(store, "steps"));
        QVERIFY(!none && none.error().message.find("train.epochs") != std::string::npos);
        create(store, "epochs", "[train]\nepochs = 4\n");
        const auto unread = epochScale(store.reader(), run(store, "epochs"));
        QVERIFY(!unread && unread.error().code == ErrorCode::kNotFound);
        store.ingest("epochs", {started(1, 0, 0), StepsPlanned{1200}});
        const auto known = epochScale(store.reader(), run(store, "epochs"));
        QVERIFY(known);
        QCOMPARE(known->at(300), 1.0);
    }

    void conditionsAreRead_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("metric"); // empty: it is none
        QTest::newRow("the loss") << "loss < 3"
                                  << "train/loss";
        QTest::newRow("at least") << "validation/bleu >= 20"
                                  << "validation/bleu";
        QTest::newRow("without blanks") << "validation/loss<=1.5"
                                        << "validation/loss";
        QTest::newRow("empty") << ""
                               << "";
        QTest::newRow("no order") << "loss = 3"
                                  << "";
        QTest::newRow("no number") << "loss < soon"
                                   << "";
        QTest::newRow("a setting") << "lr < 3"
                                   << "";
        QTest::newRow("two") << "loss < 3 loss > 1"
                             << "";
        QTest::newRow("words") << "baseline loss < 3"
                               << "";
    }

    void conditionsAreRead() {
        QFETCH(QString, text);
        QFETCH(QString, metric);
        const auto alignment = parseAlignment(text.toStdString());
        QCOMPARE(alignment ? QString::fromStdString(alignment->metric) : QString(), metric);
    }

    void aBranchBeginsWhereItLeftItsParent() {
        StoreFixture store;
        create(store, "parent", "");
        create(store, "late", "", "parent", 400);
        create(store, "early", "", "parent", 200);
        create(store, "other", "");
        const std::vector<RunSummary> all{run(store, "parent"), run(store, "late"),
                                          run(store, "early"), run(store, "other")};
        const auto at = [&](const QString& id) {
            return alignedStep(store.reader(), run(store, id), all, {Alignment::At::kBranch});
        };
        QCOMPARE(at("late").value(), int64_t(400));
        QCOMPARE(at("early").value(), int64_t(200));
        QCOMPARE(at("parent").value(), int64_t(200)); // the first of its branches
        QVERIFY(!at("other") && at("other").error().code == ErrorCode::kNotFound);
    }

    /// More points than are read at once, with one that is under the value, and NaN before it.
    void aValueIsFoundAtItsFirstStep() {
        constexpr int64_t kSteps = 9000, kFirst = 3217;
        StoreFixture store;
        create(store, "a", "");
        std::vector<Record> records{started(1, 0, 0)};
        for (int64_t step = 1; step <= kSteps; ++step)
            records.push_back(lossAt(step, step == kFirst         ? 0.5F
                                           : step == 100          ? std::nanf("")
                                           : step == kFirst + 100 ? 0.25F
                                                                  : 3.0F));
        store.ingest("a", std::move(records));
        const auto step = [&](const char* text) {
            return alignedStep(store.reader(), run(store, "a"), {}, parseAlignment(text).value());
        };
        QCOMPARE(step("loss < 3").value(), kFirst);
        QCOMPARE(step("loss <= 3").value(), int64_t(1));
        QCOMPARE(step("loss < 0.5").value(), kFirst + 100);
        const auto never = step("loss < 0.1");
        QVERIFY(!never && never.error().message.find("train/loss < 0.1") != std::string::npos);
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestAlignment)
#include "tst_alignment.moc"
