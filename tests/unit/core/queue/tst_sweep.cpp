// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/queue/sweep.h"

#include <QTest>

#include <algorithm>
#include <set>

namespace {

using namespace rm;

RunSpec base() {
    RunSpec spec;
    spec.name = "gpt";
    spec.data.train = {"/data"};
    spec.train.steps = 400;
    return spec;
}

SweepPlan plan(const std::vector<const char*>& axes) {
    SweepPlan plan;
    for (const char* text : axes)
        plan.axes.push_back(parseSweepAxis(text).value());
    return plan;
}

std::vector<RunSpec> runs(const SweepPlan& plan) {
    std::vector<RunSpec> specs;
    const auto made = sweepSpecs(base(), plan);
    if (!made)
        qWarning("%s", made.error().message.c_str());
    for (const CheckedSpec& spec : made.value_or(std::vector<CheckedSpec>()))
        specs.push_back(*spec);
    return specs;
}

std::string errorOf(const SweepPlan& plan) {
    const auto made = sweepSpecs(base(), plan);
    return made ? std::string() : made.error().message;
}

class TestSweep : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aGridHasAllCombinations() {
        const auto specs = runs(plan({"lr=1e-3, 3e-4", "train.batch_size=8,16,32"}));
        QCOMPARE(specs.size(), size_t(6));
        QCOMPARE(specs[0].optimizer.lr, 1e-3);
        QCOMPARE(specs[0].train.batchSize, 8);
        QCOMPARE(specs[5].optimizer.lr, 3e-4);
        QCOMPARE(specs[5].train.batchSize, 32);
        QCOMPARE(specs[2].name, std::string("gpt, lr 1e-3, batch_size 32"));
        std::set<std::string> names;
        for (const RunSpec& spec : specs)
            names.insert(spec.name);
        QCOMPARE(names.size(), size_t(6));
    }

    void textsAndListsAreValues() {
        const auto texts = runs(plan({"schedule.type=cosine,\"constant\""}));
        QCOMPARE(texts.size(), size_t(2));
        QCOMPARE(texts[1].schedule.type, std::string("constant"));
        const auto lists = runs(plan({"train.pause_at=[5,10],[]"}));
        QCOMPARE(lists.size(), size_t(2));
        QCOMPARE(lists[0].train.pauseAt, (std::vector<int64_t>{5, 10}));
    }

    void pathsMayHaveDotsAndEqualValuesCountOnce() {
        QCOMPARE(runs(plan({"data.train=[\"/a/../b\"],[\"/c\"]"})).size(), size_t(2));
        QCOMPARE(runs(plan({"train.batch_size=1..4/10"})).size(), size_t(4));
        QCOMPARE(runs(plan({"lr=1e-3,1e-3"})).size(), size_t(1));
    }

    void aWideRangeIsLogarithmic() {
        const auto lrs = runs(plan({"lr=1e-4..1e-2/3"}));
        QCOMPARE(lrs.size(), size_t(3));
        QCOMPARE(lrs[0].optimizer.lr, 1e-4);
        QCOMPARE(lrs[1].optimizer.lr, 1e-3);
        QCOMPARE(lrs[2].optimizer.lr, 1e-2);
        const auto dropouts = runs(plan({"dropout=0..0.2/3"}));
        QCOMPARE(dropouts.at(1).model.dropout, 0.1);
        const auto sizes = runs(plan({"train.batch_size=8..64/4"}));
        QCOMPARE(sizes.at(1).train.batchSize, 27);
    }

    void randomChoicesAreWithinTheirRangeAndTheSameForASeed() {
        SweepPlan wanted = plan({"lr=1e-4..1e-2", "train.batch_size=8,16"});
        wanted.samples = 40;
        const auto first = runs(wanted);
        QCOMPARE(first.size(), size_t(40));
        int small = 0;
        for (const RunSpec& spec : first) {
            QVERIFY(spec.optimizer.lr >= 1e-4 && spec.optimizer.lr <= 1e-2);
            small += spec.optimizer.lr < 1e-3;
        }
        QVERIFY(small > 8 && small < 32); // half of them by logarithms, a tenth by the values
        QVERIFY(runs(wanted) == first);
        wanted.seed = 2;
        QVERIFY(runs(wanted) != first);
    }

    void aRandomChoiceComesOnce() {
        SweepPlan wanted = plan({"train.batch_size=8,16,32"});
        wanted.samples = 10;
        QCOMPARE(runs(wanted).size(), size_t(3));
    }

    void namesOfManySettingsDiffer() {
        const auto specs = runs(plan({"lr=1e-3,3e-4", "train.batch_size=8,16", "dropout=0,0.1",
                                      "model.layers=2,4", "weight_decay=0,0.1"}));
        std::set<std::string> names;
        for (const RunSpec& spec : specs)
            names.insert(spec.name);
        QCOMPARE(names.size(), size_t(32));
    }

    void halvingPausesTheRunsAtItsRungs() {
        SweepPlan wanted = plan({"lr=1e-3,3e-4"});
        wanted.firstRung = 50;
        QCOMPARE(runs(wanted).at(0).train.pauseAt, (std::vector<int64_t>{50, 100, 200}));
        wanted.firstRung = 400;
        QVERIFY(errorOf(wanted).find("400") != std::string::npos);
        wanted = plan({"train.steps=200,400"});
        wanted.firstRung = 50;
        QVERIFY(errorOf(wanted).find("train.steps cannot differ") != std::string::npos);
        wanted = plan({"train.epochs=2,4"});
        wanted.firstRung = 50;
        QVERIFY(errorOf(wanted).find("train.epochs") != std::string::npos);
    }

    void whatIsNoSweepIsNamed_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("named");
        QTest::newRow("without values") << "lr="
                                        << "KEY=VALUE";
        QTest::newRow("without a key") << "1e-3"
                                       << "KEY=VALUE";
        QTest::newRow("a key that is none") << "learning=1"
                                            << "learning";
        QTest::newRow("a key of several") << "every=1"
                                          << "every";
        QTest::newRow("a metric") << "train/loss=1"
                                  << "train/loss";
        QTest::newRow("the name") << "name=a,b"
                                  << "name";
        QTest::newRow("an empty value") << "lr=1,,2"
                                        << "missing";
        QTest::newRow("a range backwards") << "lr=2..1"
                                           << "range";
        QTest::newRow("a range of one") << "lr=1..2/1"
                                        << "range";
        QTest::newRow("a range without an end") << "lr=1.."
                                                << "range";
    }
    void whatIsNoSweepIsNamed() {
        QFETCH(QString, text);
        QFETCH(QString, named);
        const auto axis = parseSweepAxis(text.toStdString());
        QVERIFY(!axis);
        QVERIFY2(QString::fromStdString(axis.error().message).contains(named),
                 axis.error().message.c_str());
    }

    void aSweepThatCannotBeIsRefused() {
        QVERIFY(errorOf({}).find("lr=1e-3,3e-4") != std::string::npos);
        QVERIFY(errorOf(plan({"lr=1", "optimizer.lr=2"})).find("twice") != std::string::npos);
        QVERIFY(errorOf(plan({"lr=1e-4..1e-2"})).find("FROM..TO/COUNT") != std::string::npos);
        QVERIFY(errorOf(plan({"lr=1e-4..1e-2/400", "dropout=0..0.5/3"})).find("1000") !=
                std::string::npos);
        const std::string bounds = errorOf(plan({"dropout=0,7"}));
        QVERIFY2(bounds.find("gpt, dropout 7") != std::string::npos &&
                     bounds.find("model.dropout") != std::string::npos,
                 bounds.c_str());
        QVERIFY(errorOf(plan({"lr=fast"})).find("lr") != std::string::npos);
    }
};

} // namespace

QTEST_GUILESS_MAIN(TestSweep)
#include "tst_sweep.moc"
