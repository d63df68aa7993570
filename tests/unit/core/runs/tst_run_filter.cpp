// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_values.h"
#include "tests/unit/core/store/store_fixture.h"

namespace rm {

namespace {

RunSummary run(const QString& name, double loss) {
    RunSummary run;
    run.id = name + "-1";
    run.name = name;
    run.state = RunStateKind::kFailed;
    run.loss = loss;
    run.step = 120;
    run.ranks = 8;
    run.tags = {"Baseline", "wmt"};
    run.nodes = {{0, "box-a", 8, 0}};
    run.notes = "label smoothing";
    return run;
}

/// Whether the filter holds for the run; a key of no summary has the value.
bool holds(const char* filter, const RunSummary& run,
           const std::optional<std::string>& value = std::nullopt) {
    const auto parsed = parseRunFilter(filter);
    if (!parsed)
        qFatal("%s", parsed.error().message.c_str());
    return matches(*parsed, run, [&](const std::string&) { return value; });
}

} // namespace

class TestRunFilter : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void wordsAreLookedForEverywhere() {
        const RunSummary it = run("gpt wide", 2.5);
        for (const char* filter : {"", "GPT", "wide failed", "base wmt", "box-a", "smoothing",
                                   "\"label smoothing\"", "gpt-tiny:x OR"})
            QCOMPARE(holds(filter, it), std::string_view(filter).find("OR") == std::string::npos);
        QVERIFY(!holds("wide gone", it));
    }

    void textKeysHoldAPartOfTheirOwn() {
        const RunSummary it = run("gpt", 2.5);
        QVERIFY(holds("tag:base", it) && holds("TAG:Base", it) && holds("node:box", it) &&
                holds("state:failed", it) && holds("note:\"label s\"", it));
        QVERIFY(!holds("tag:gpt", it) && !holds("name:wmt", it));
        QVERIFY(holds("State=failed", it) && holds("state != paused", it));
        RunSummary german = it;
        german.name = QString::fromUtf8("Stra\xc3\x9f"
                                        "e");
        QVERIFY(holds("stra\xc3\x9f"
                      "e",
                      german));
        QVERIFY(!holds("name = gp", it)); // equal is not a part
    }

    void archivedRunsAreThereWhereTheyAreAskedFor() {
        RunSummary it = run("gpt", 2.5);
        QVERIFY(holds("", it) && holds("archived:no", it) && !holds("archived:yes", it));
        it.isArchived = true;
        QVERIFY(!holds("", it) && !holds("gpt", it) && !holds("loss < 3", it));
        QVERIFY(!holds("archived:no", it));
        QVERIFY(holds("archived:yes", it) && holds("Archived = Yes gpt", it));
        QVERIFY(!holds("archived:yes paused", it));
        QVERIFY(matches(ofArchive(RunFilter()), it, {}));
        QVERIFY(!matches(ofArchive(*parseRunFilter("archived:no")), it, {}));
        it.state = RunStateKind::kRunning; // it was resumed, and is nothing to overlook
        QVERIFY(holds("", it));
    }

    void runsOfASweepAreFound() {
        RunSummary it = run("gpt", 2.5);
        QVERIFY(!holds("sweep:lr-7f", it) && holds("sweep != lr-7f3a10", it));
        it.sweep = "lr-7f3a10";
        QVERIFY(holds("sweep:lr-7f", it) && holds("Sweep = lr-7f3a10", it) && holds("7f3a", it));
        QVERIFY(!holds("sweep:gpt", it) && !holds("sweep = lr", it));
    }

    void whatWaitsIsQueued() {
        RunSummary it = run("gpt", 2.5);
        QVERIFY(!holds("state:queued", it) && holds("state != queued", it));
        it.state = RunStateKind::kPaused;
        it.isArchived = true;
        QVERIFY(!holds("state:paused", it)); // it is put away
        it.queuePlace = 2;
        QVERIFY(holds("state:queued", it) && holds("state = queued", it) &&
                holds("state:paused", it) && !holds("state != queued", it));
    }

    void starsAreAskedFor() {
        RunSummary it = run("gpt", 2.5);
        QVERIFY(!holds("starred:yes", it) && holds("starred:no", it) &&
                holds("starred != yes", it));
        it.isStarred = true;
        QVERIFY(holds("starred:yes", it) && holds("starred = yes", it) && !holds("starred:no", it));
        QVERIFY(!holds("yes", it)); // a mark is no word of the run
    }

    void conditionsCompareNumbers() {
        const RunSummary it = run("gpt", 2.5);
        for (const char* filter : {"loss < 3", "loss<3", "loss <= 2.5", "loss>=2.5", "loss = 2.50",
                                   "loss != 3", "step > 100 ranks==8"})
            QVERIFY2(holds(filter, it), filter);
        for (const char* filter : {"loss < 2.5", "loss > 1e3", "loss = 2", "best < 9"})
            QVERIFY2(!holds(filter, it), filter);
        QVERIFY(holds("optimizer.lr >= 1e-3", it, "0.002"));
        QVERIFY(!holds("optimizer.lr >= 1e-3", it, "0.0005"));
        QVERIFY(holds("schedule.type = Cosine", it, "cosine"));
    }

    void whatARunDoesNotHaveIsNeitherMoreNorLess() {
        RunSummary it = run("gpt", 2.5);
        it.loss.reset();
        QVERIFY(!holds("loss < 3", it) && !holds("loss >= 3", it) && !holds("loss != 3", it));
        QVERIFY(!holds("validation/bleu > 0", it));
    }

    void mistakesAreNamed_data() {
        QTest::addColumn<QByteArray>("filter");
        QTest::addColumn<QByteArray>("says");
        const auto row = [](const char* filter, const char* says) {
            QTest::newRow(filter) << QByteArray(filter) << QByteArray(says);
        };
        row("loss <", "loss lacks what to compare it with");
        row("< 3", "lacks what to compare it with");
        row("tag:", "tag: lacks");
        row("\"open", "a quote has no end");
        row("loss < low", "low, which is no number");
        row("starred:maybe", "starred is yes or no, not maybe");
        row("archived > 1", "archived is yes or no, not 1");
        row("learning_rat < 3", "no setting or metric is called learning_rat");
        row("every > 3", "several settings end in every");
    }
    void mistakesAreNamed() {
        QFETCH(QByteArray, filter);
        QFETCH(QByteArray, says);
        const auto parsed = parseRunFilter(filter.toStdString());
        const auto known = parsed ? checkKeys(*parsed) : tl::unexpected(parsed.error());
        QVERIFY(!known);
        QVERIFY2(known.error().message.find(says.toStdString()) != std::string::npos,
                 known.error().message.c_str());
    }

    void settingsAndMetricsOfStoredRunsAreRead() {
        StoreFixture store;
        for (const auto& [id, lr] : {std::pair("slow", "0.0001"), {"fast", "0.01"}}) {
            StoreFixture::mustBeOk(
                store.writer().createRun({id,
                                          id,
                                          std::string("[optimizer]\nlr = ") + lr + "\n",
                                          {{0, "node-a", 1, 0}},
                                          {},
                                          0}));
            store.ingest(id, {started(1, 0, 0), lossAt(1, 3), lossAt(2, id[0] == 's' ? 0.5f : 2.f),
                              lossAt(3, 2.5f)});
        }
        RunValues values;
        const auto names = [&](const char* filter) {
            QStringList found;
            const auto parsed = parseRunFilter(filter);
            for (const RunSummary& each :
                 filtered(*parsed, store.reader().runs(), store.reader(), values))
                found << each.name;
            found.sort();
            return found;
        };
        QCOMPARE(names("lr < 1e-3"), QStringList{"slow"});
        QCOMPARE(names("optimizer.lr=0.01"), QStringList{"fast"});
        QCOMPARE(names("min:train/loss < 1"), QStringList{"slow"});
        QCOMPARE(names("best:train/loss < 1"), QStringList{"slow"});
        QCOMPARE(names("train/loss = 2.5"), (QStringList{"fast", "slow"}));
        QCOMPARE(names("validation/loss < 100"), QStringList());
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestRunFilter)
#include "tst_run_filter.moc"
