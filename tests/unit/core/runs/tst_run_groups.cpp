// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_groups.h"
#include "app/core/runs/run_tags.h"

#include <QTest>

#include <cmath>

namespace rm {

namespace {

RunSummary run(const QString& name, double loss, const QStringList& tags = {}) {
    RunSummary run;
    run.id = name;
    run.name = name;
    run.state = RunStateKind::kFinished;
    run.loss = loss;
    run.step = 100;
    run.ranks = 2;
    run.tags = tags;
    run.nodes = {{0, "box-b", 1, 0}, {1, "box-a", 1, 1}};
    return run;
}

std::vector<const RunSummary*> pointersTo(const std::vector<RunSummary>& runs) {
    std::vector<const RunSummary*> pointers;
    for (const RunSummary& each : runs)
        pointers.push_back(&each);
    return pointers;
}

/// Of settings and metrics: by run and key.
ValueOfRun table(std::map<QString, std::map<std::string, std::string>> values) {
    return [values = std::move(values)](const RunSummary& run,
                                        const std::string& key) -> std::optional<std::string> {
        const auto known = values.find(run.id);
        if (known == values.end() || !known->second.contains(key))
            return std::nullopt;
        return known->second.at(key);
    };
}

std::vector<std::string> valuesOf(const std::vector<RunGroup>& groups) {
    std::vector<std::string> values;
    for (const RunGroup& group : groups)
        values.push_back(group.value);
    return values;
}

} // namespace

class TestRunGroups : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void anAggregateIsOfWhatIsFinite() {
        QVERIFY(!aggregateOf({}) && !aggregateOf({NAN, INFINITY}));
        QCOMPARE(*aggregateOf({3}), (Aggregate{1, 3, 0, 3, 3}));
        const Aggregate all = *aggregateOf({2, NAN, 4, 4, 4, 5, 5, 7, 9});
        QCOMPARE(all.count, int64_t(8));
        QCOMPARE(all.mean, 5.0);
        QCOMPARE(all.spread, std::sqrt(32.0 / 7)); // of a sample
        QCOMPARE(all.least, 2.0);
        QCOMPARE(all.most, 9.0);
    }

    void aLargeOffsetDoesNotHideTheSpread() {
        const Aggregate all = *aggregateOf({1e9 + 1, 1e9 + 2, 1e9 + 3});
        QCOMPARE(all.spread, 1.0);
    }

    void settingsAreGroupedByNumber() {
        const std::vector<RunSummary> runs{run("a", 3), run("b", 2), run("c", 1), run("d", 5)};
        const auto values = table({{"a", {{"optimizer.lr", "0.01"}, {"eval/bleu", "20"}}},
                                   {"b", {{"optimizer.lr", "0.002"}}},
                                   {"c", {{"optimizer.lr", "0.01"}, {"eval/bleu", "30"}}}});
        const auto groups = groupRuns(pointersTo(runs), "optimizer.lr", {"eval/bleu"}, values);
        QCOMPARE(valuesOf(groups), (std::vector<std::string>{"0.002", "0.01", ""}));
        QCOMPARE(groups[1].runs, (std::vector<size_t>{0, 2}));
        QCOMPARE(groups[1].figures.at("loss"), (Aggregate{2, 2, std::sqrt(2.0), 1, 3}));
        QCOMPARE(groups[1].figures.at("eval/bleu").mean, 25.0);
        QVERIFY(!groups[0].figures.contains("eval/bleu") && !groups[0].figures.contains("best"));
        QCOMPARE(groups[2].runs, (std::vector<size_t>{3})); // without such a setting: last
    }

    void aRunIsInOneGroupOfTags() {
        const std::vector<RunSummary> runs{run("a", 1, {"wmt", "base"}),
                                           run("b", 1, {"base", "wmt"}), run("c", 1, {"base"}),
                                           run("d", 1)};
        const auto groups = groupRuns(pointersTo(runs), "tag", {}, table({}));
        QCOMPARE(valuesOf(groups), (std::vector<std::string>{"base", "base, wmt", ""}));
        QCOMPARE(groups[1].runs, (std::vector<size_t>{0, 1}));
    }

    void statesNodesParentsAndModelsAreKeys() {
        RunSummary branch = run("b", 1);
        branch.parentRun = "a";
        branch.parentName = "base";
        branch.state = RunStateKind::kFailed;
        branch.sweep = "lr-7f3a10";
        const std::vector<RunSummary> runs{run("a", 1), branch};
        const auto values = table({{"a", {{"model.type", "gpt"}}}, {"b", {{"model.type", "gpt"}}}});
        const auto by = [&](const char* key) {
            return valuesOf(groupRuns(pointersTo(runs), key, {}, values));
        };
        QCOMPARE(by("state"), (std::vector<std::string>{"failed", "finished"}));
        QCOMPARE(by("node"), (std::vector<std::string>{"box-a, box-b"}));
        QCOMPARE(by("branch"), (std::vector<std::string>{"base", ""}));
        QCOMPARE(by("sweep"), (std::vector<std::string>{"lr-7f3a10", ""}));
        QCOMPARE(by("model"), (std::vector<std::string>{"gpt"}));
        QCOMPARE(keyToRead("model"), std::optional<std::string>("model.type"));
        QVERIFY(!keyToRead("state") && !keyToRead("sweep") && keyToRead("lr"));
    }

    void keysThatNameNothingAreRefused() {
        for (const std::string& key : summaryGroupKeys())
            QVERIFY(checkGroupKey(key));
        QVERIFY(checkGroupKey("lr") && checkGroupKey("best:validation/loss"));
        QCOMPARE(checkGroupKey("learning_rat").error().code, ErrorCode::kNotFound);
        QVERIFY(!checkGroupKey(""));
    }

    void thousandsOfRunsAreGrouped() {
        std::vector<RunSummary> runs;
        for (int at = 0; at < 5000; ++at)
            runs.push_back(run(QString::number(at), at, {QString("t%1").arg(at % 50)}));
        const auto groups = groupRuns(pointersTo(runs), "tag", {}, table({}));
        QCOMPARE(groups.size(), size_t(50));
        for (const RunGroup& group : groups)
            QCOMPARE(group.figures.at("loss").count, int64_t(100));
        QCOMPARE(groups[0].figures.at("loss").mean, 2475.0); // t0: 0, 50, ..., 4950
    }

    void tagsAreTidiedAddedAndTakenAway() {
        QCOMPARE(tagsIn(" wmt, ,base,wmt "), (QStringList{"wmt", "base"}));
        QCOMPARE(withTags({"a", "b"}, {"c", "a"}, {"b", "x"}), (QStringList{"a", "c"}));
        QCOMPARE(withTags({}, {"a"}, {"a"}), QStringList{"a"}); // what is added stays
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestRunGroups)
#include "tst_run_groups.moc"
