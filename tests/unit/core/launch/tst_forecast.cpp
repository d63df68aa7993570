// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/forecast.h"

#include <QRegularExpression>
#include <QTest>

using namespace rm;

namespace {

/// A sum that takes 1 ms and then so many bytes a millisecond in each direction.
SumGroup groupOf(std::vector<int64_t> nodes, int64_t ranks, double bytesPerMs) {
    constexpr int64_t kLarge = 64 << 20;
    const double wire = 2.0 * static_cast<double>(ranks - 1) / static_cast<double>(ranks);
    return {std::move(nodes),
            ranks,
            {{4, 1e-3, 10}, {kLarge, (1 + kLarge * wire / bytesPerMs) / 1e3, 3}}};
}

LinkTest testOf(double bytesPerMs) {
    LinkTest test;
    test.nodes = {{"node-a", "eth0", 1000, 1}, {"node-b", "eth0", 1000, 1}};
    test.report = {"CPU, 1 thread", "", {groupOf({0, 1}, 2, bytesPerMs)}};
    return test;
}

/// 100 ms forward, 200 ms backward, 10 ms update, and twelve buckets of 1 MB that come evenly.
StepProfile profileOf() {
    StepProfile profile;
    profile.device = "CPU, 1 thread";
    profile.samples = 8;
    profile.forwardMs = 100;
    profile.backwardMs = 200;
    profile.updateMs = 10;
    for (int i = 1; i <= 12; ++i)
        profile.buckets.push_back({1'000'000, 200.0 * i / 12, 100.0 * (12 - i) / 12});
    return profile;
}

bool isNear(double value, double wanted, double share = 0.02) {
    return std::abs(value - wanted) <= share * wanted;
}

} // namespace

class TestForecast : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void oneRankTakesWhatWasMeasured() {
        const StepForecast one = forecastStep(profileOf(), {}, 1);
        QVERIFY(isNear(one.stepMs, 310, 1e-9));
        QCOMPARE(one.waitMs, 0.0);
        QVERIFY(isNear(one.samplesPerSec, 8 / 0.31, 1e-9));
    }

    void aFastLinkIsHiddenBehindTheComputing() {
        // 12 MB at 1 GB/s: nothing but latencies and the last bucket is left to wait for.
        const StepForecast two = forecastStep(profileOf(), {0.1, 1e6}, 2);
        QVERIFY2(two.stepMs < 315, QByteArray::number(two.stepMs));
        QVERIFY(two.stepMs >= 310);
    }

    void withoutASpareCoreSumsSlowTheComputing() {
        // 12 sums of 1 ms of a core, and 12 MB with 4 ns for each byte: 60 ms.
        const LinkCost fast{0.1, 1e6, 1, 4e-6};
        StepProfile full = profileOf();
        full.spareCores = 0;
        const double hidden = forecastStep(profileOf(), fast, 2).stepMs;
        QVERIFY(isNear(forecastStep(full, fast, 2).stepMs, hidden + 60, 0.01));
        full.device = "NVIDIA H200";
        QVERIFY(isNear(forecastStep(full, fast, 2).stepMs, hidden, 0.01));
        full.device = profileOf().device;
        // Beside a slow link there is time for it.
        const LinkCost slow{0.0001, 1e3, 1, 4e-6};
        QVERIFY(isNear(forecastStep(full, slow, 2).stepMs,
                       forecastStep(profileOf(), slow, 2).stepMs, 0.01));
        SumGroup group = groupOf({0, 1}, 2, 1e6);
        const auto cpuOf = [](int64_t bytes) { return 1e-3 + 4e-9 * static_cast<double>(bytes); };
        group.times.back().cpuSeconds = cpuOf(group.times.back().bytes);
        group.times.insert(group.times.begin() + 1, {{1 << 20, 2e-3, 10, cpuOf(1 << 20)}});
        QVERIFY(isNear(costOf(group).cpuMs, 1) && isNear(costOf(group).cpuMsPerByte, 4e-6));
    }

    void aSlowLinkIsAllThereIs() {
        // 12 MB with two ranks: 6 MB there and 6 MB back, at 1 MB/s.
        const StepForecast two = forecastStep(profileOf(), {0.0001, 1e3}, 2);
        // Hidden are at most the first bucket's way to the link and the forward pass before weights
        // that are there.
        QVERIFY2(two.stepMs > 12'000 && two.stepMs < 12'310, QByteArray::number(two.stepMs));
        QVERIFY(isNear(two.waitMs, two.stepMs - 310, 1e-9));
    }

    void accumulationAndCompressionSaveWhatTheyDo() {
        const LinkCost slow{0.0001, 1e3};
        const double plain = forecastStep(profileOf(), slow, 2).waitMs;
        StepProfile half = profileOf();
        half.bytesOnWire = 2;
        QVERIFY(isNear(forecastStep(half, slow, 2).stepMs, 6'100, 0.03));
        StepProfile four = profileOf();
        four.accumulation = 4;
        // As many bytes for four times the computing, of which one pass each hides some.
        QVERIFY(isNear(forecastStep(four, slow, 2).waitMs, plain, 0.03));
    }

    void moreRanksSendMoreOfEachSum() {
        const LinkCost slow{0.0001, 1e3};
        QVERIFY(isNear(forecastStep(profileOf(), slow, 4).waitMs /
                           forecastStep(profileOf(), slow, 2).waitMs,
                       1.5, 0.05)); // 2 (n-1)/n
    }

    void shardedStateTravelsInPartsToo() {
        StepProfile sharded = profileOf();
        sharded.sharded = true;
        const LinkCost slow{0.0001, 1e3};
        QVERIFY(isNear(forecastStep(sharded, slow, 2).stepMs, 12'100, 0.03));
    }

    void aSecondNodeThatHurtsIsSaidPlainly() {
        const auto words = forecastWords(profileOf(), RunSpec(), testOf(1e3));
        QCOMPARE(words.size(), size_t{3});
        QVERIFY2(words[0].starts_with("the second node makes training slower: 0.05 times"),
                 words[0].c_str());
        QVERIFY2(words[1].find("bfloat16") != std::string::npos &&
                     words[1].find("0.10 times") != std::string::npos,
                 words[1].c_str());
        QVERIFY2(words[2].find("train.accumulation = 64") != std::string::npos, words[2].c_str());
    }

    void aSecondNodeThatHelpsNeedsNoAdvice() {
        const auto words = forecastWords(profileOf(), RunSpec(), testOf(1e6));
        QCOMPARE(words.size(), size_t{1});
        QVERIFY2(words[0].starts_with("with the second node training gets through 1.9"),
                 words[0].c_str());
    }

    void ofSeveralNodesTheSlowestPairCounts() {
        LinkTest test = testOf(1e6);
        test.nodes.push_back({"node-c", "eth0", 1000, 1});
        test.report.groups = {groupOf({0, 1}, 2, 1e5), groupOf({0, 2}, 2, 1e3),
                              groupOf({1, 2}, 2, 1e5), groupOf({0, 1, 2}, 3, 1e3)};
        const auto forecasts = forecastNodes(profileOf(), RunSpec(), test);
        QCOMPARE(forecasts.size(), size_t{3});
        QVERIFY(speedUp(forecasts, 1) > 1.5); // without node-c
        QVERIFY(speedUp(forecasts, 2) < 0.1);
    }

    void ofNodesWithUnequalRanksEachCountsItsOwn() {
        LinkTest test = testOf(1e6);
        test.nodes[0].ranks = 4;
        test.report.groups.push_back(groupOf({0, 1}, 5, 1e6));
        const auto forecasts = forecastNodes(profileOf(), RunSpec(), test);
        QCOMPARE(forecasts.size(), size_t{2});
        QCOMPARE(forecasts[0].ranks, int64_t{4});
        QCOMPARE(forecasts[1].ranks, int64_t{5});
        QVERIFY(isNear(forecasts[0].samplesPerSec, 4 * 8 / 0.31));
        // A rank more beside four is all that the second node can add: no advice.
        QVERIFY(isNear(speedUp(forecasts, 1), 1.25));
        const auto words = forecastWords(profileOf(), RunSpec(), test);
        QCOMPARE(words.size(), size_t{1});
        QVERIFY2(words[0].find("1.2") != std::string::npos, words[0].c_str());
    }

    /// As the trainer does, which takes no train.accumulation then.
    void aGlobalBatchIsCutByTheRanks() {
        RunSpec spec;
        spec.train.globalBatch = 64;
        spec.train.batchSize = 8;
        const auto forecasts = forecastNodes(profileOf(), spec, testOf(1e6));
        QCOMPARE(forecasts.size(), size_t{2});
        QCOMPARE(forecasts[0].accumulation, int64_t{8});
        QCOMPARE(forecasts[1].accumulation, int64_t{4});
        QVERIFY(isNear(forecasts[0].stepMs, 8 * 300 + 10));
        QVERIFY(isNear(forecasts[1].stepMs, 4 * 300 + 10));
        QVERIFY(isNear(forecasts[1].samplesPerSec, 64 / 1.21));
        const auto words = forecastWords(profileOf(), spec, testOf(1e3));
        QCOMPARE(words.size(), size_t{3});
        QVERIFY2(words[2].starts_with("with train.global_batch = 4096 it would be ") &&
                     words[2].ends_with("after 64 times as many samples"),
                 words[2].c_str());
    }

    void nodesThatCannotCutTheStepsAreLeftOut() {
        RunSpec spec;
        spec.train.globalBatch = 64;
        spec.train.batchSize = 8;
        LinkTest test = testOf(1e6);
        test.nodes.push_back({"node-c", "eth0", 1000, 1});
        test.report.groups = {groupOf({0, 1}, 2, 1e5), groupOf({0, 2}, 2, 1e5),
                              groupOf({1, 2}, 2, 1e5), groupOf({0, 1, 2}, 3, 1e5)};
        QCOMPARE(forecastNodes(profileOf(), spec, test).size(), size_t{2});
        auto words = forecastWords(profileOf(), spec, test);
        QVERIFY2(words[0].starts_with("with the second node"), words[0].c_str());
        QVERIFY2(words[1].starts_with("no forecast for 3 nodes: cut steps of 64 samples") &&
                     words[1].find("3 ranks take 24 at once") != std::string::npos,
                 words[1].c_str());
        // One node takes 24, which does not divide that, two take 32 and three 64.
        test.nodes[0].ranks = 3;
        test.nodes[2].ranks = 4;
        const auto forecasts = forecastNodes(profileOf(), spec, test);
        QCOMPARE(forecasts.size(), size_t{2});
        QCOMPARE(forecasts[0].nodes, int64_t{2});
        QCOMPARE(forecasts[1].accumulation, int64_t{1});
        words = forecastWords(profileOf(), spec, test);
        QVERIFY2(words[0].find("as many samples a second as on 2 nodes") != std::string::npos,
                 words[0].c_str());
        QVERIFY2(words[1].starts_with("no forecast for 1 node: "), words[1].c_str());
        spec.train.globalBatch = 12;
        QVERIFY(forecastNodes(profileOf(), spec, test).empty());
        words = forecastWords(profileOf(), spec, test);
        QCOMPARE(words.size(), size_t{1});
        QVERIFY2(words[0].starts_with("no forecast for 1, 2, 3 nodes: "), words[0].c_str());
    }

    void ranksAreKeptAndAnOlderTestHasNone() {
        LinkTest test = testOf(1e6);
        test.nodes[0].ranks = 4;
        const std::string json = toJson(test);
        QVERIFY(parseLinkTest(json, "a file") == test);
        QString old = QString::fromStdString(json);
        old.remove(QRegularExpression(",\"ranks\":\\d+(?=\\})")); // of nodes, not of groups
        const auto read = parseLinkTest(old.toStdString(), "a file");
        QVERIFY2(read, read ? "" : read.error().message.c_str());
        QCOMPARE(read->nodes[0].ranks, int64_t{0});
        QVERIFY(forecastNodes(profileOf(), RunSpec(), *read).empty());
        const auto words = forecastWords(profileOf(), RunSpec(), *read);
        QCOMPARE(words.size(), size_t{1});
        QVERIFY2(words[0].find("how many ranks") != std::string::npos, words[0].c_str());
        test.nodes[0].ranks = int64_t{1} << 40;
        QVERIFY(!parseLinkTest(toJson(test), "a file"));
    }

    /// A node says what it likes; no sum is too far from 0 to end, no loop as long as a number.
    void numbersThatMakeNoSenseEndAsWell() {
        RunSpec many;
        many.train.accumulation = int64_t{1} << 50;
        QVERIFY(forecastNodes(profileOf(), many, testOf(1e6)).back().stepMs > 1e15);
        StepProfile far = profileOf();
        far.forwardMs = far.backwardMs = 3e10;
        QVERIFY(forecastNodes(far, RunSpec(), testOf(1e18)).back().stepMs >= 6e10);
    }

    void withoutSumsBetweenNodesThereIsNoForecast() {
        LinkTest test = testOf(1e6);
        test.report.groups.clear();
        test.report.fault = "node-b is gone";
        QCOMPARE(forecastWords(profileOf(), RunSpec(), test),
                 std::vector<std::string>{
                     "no forecast: no sums between nodes were measured: node-b is gone"});
    }

    void latenciesAloneMakeNoRateAndNoForecast() {
        LinkTest test = testOf(1e6);
        test.nodes.push_back({"node-c", "eth0", 1000, 1});
        test.report.groups = {groupOf({0, 1}, 2, 1e5), groupOf({0, 2}, 2, 1e5),
                              groupOf({1, 2}, 2, 1e5), groupOf({0, 1, 2}, 3, 1e5)};
        QCOMPARE(forecastNodes(profileOf(), RunSpec(), test).size(), size_t{3});
        // What became of 64 nodes: 1 KiB takes hardly longer than 4 bytes.
        test.report.groups[1].times = {{4, 2e-3, 1}, {1 << 10, 2.1e-3, 1}};
        const SumGroup& group = test.report.groups[1];
        QVERIFY(!hasRate(group) && isSlow(test, group));
        const std::string reported = rateWords(test, group);
        QVERIFY2(reported.starts_with("no rate") && reported.find("1 KiB") != std::string::npos &&
                     reported.find("2.1 ms") != std::string::npos,
                 reported.c_str());
        QVERIFY(forecastNodes(profileOf(), RunSpec(), test).empty());
        const auto words = forecastWords(profileOf(), RunSpec(), test);
        QCOMPARE(words.size(), size_t{1});
        QVERIFY2(words[0].starts_with("no forecast: between node-a - node-c there is no rate"),
                 words[0].c_str());
    }

    void ratesAreComparedWithTheLinks_data() {
        QTest::addColumn<double>("gbit");
        QTest::addColumn<int64_t>("nominal");
        QTest::addColumn<QString>("words");
        QTest::newRow("good") << 9.4 << int64_t{10000} << "9.4 of 10 Gbit/s";
        QTest::newRow("negotiated less")
            << 0.94 << int64_t{10000}
            << "0.94 of 10 Gbit/s, as a link of 1 Gbit/s: a port, cable or switch on the way may "
               "have negotiated that";
        QTest::newRow("busy") << 3.0 << int64_t{10000} << "3 of 10 Gbit/s: far below";
        QTest::newRow("unknown") << 0.5 << int64_t{-1} << "500 Mbit/s";
    }
    void ratesAreComparedWithTheLinks() {
        QFETCH(double, gbit);
        QFETCH(int64_t, nominal);
        QFETCH(QString, words);
        LinkTest test = testOf(1);
        test.nodes[0].nominalMbit = nominal;
        test.nodes[1].nominalMbit = nominal;
        const int64_t bytes = 1 << 26;
        test.report.groups = {{{0, 1}, 2, {{bytes, bytes * 8 / (gbit * 1e9), 1}}}};
        const QString reported = QString::fromStdString(rateWords(test, test.report.groups[0]));
        QVERIFY2(reported.startsWith(words), qPrintable(reported));
        QCOMPARE(isSlow(test, test.report.groups[0]), words.contains(": "));
    }

    void eachSizeIsToldWithItsTimeAndRate() {
        const SumGroup group{
            {0, 1},
            2,
            {{4, 2e-4, 100}, {16 << 10, 1e-3, 10}, {1 << 20, 2.8, 1}, {64 << 20, 0.05, 3}}};
        const std::vector<SumWords> expected = {{"4 bytes", "0.2 ms", "160 kbit/s"},
                                                {"16 KiB", "1 ms", "131 Mbit/s"},
                                                {"1 MiB", "2800 ms", "3 Mbit/s"},
                                                {"64 MiB", "50 ms", "10.7 Gbit/s"}};
        QVERIFY(sumsBySize(group) == expected);
    }

    void aRateThatChangedIsToldWithTheOneBefore() {
        const auto madeAt = [](int64_t wallNs, double gbit) {
            LinkTest test = testOf(1);
            const int64_t bytes = 1 << 26;
            test.wallNs = wallNs;
            test.nodes[0].nominalMbit = test.nodes[1].nominalMbit = 10'000;
            test.report.groups = {{{0, 1}, 2, {{bytes, bytes * 8 / (gbit * 1e9), 1}}}};
            return test;
        };
        const auto wordsOf = [](const LinkTest& test, const std::vector<LinkTest>& kept) {
            return rateWords(test, test.report.groups.back(), LinkHistory(kept));
        };
        const LinkTest slow = madeAt(1, 3), good = madeAt(2, 9.4), same = madeAt(3, 9.2);
        LinkTest broken = madeAt(4, 9.4);
        broken.report.groups[0].times = {{4, 2e-3, 1}};
        const LinkTest last = madeAt(5, 9.4);
        const std::vector<LinkTest> kept = {slow, good, same, broken, last};
        QCOMPARE(wordsOf(good, kept), std::string("9.4 of 10 Gbit/s, was 3 Gbit/s"));
        QCOMPARE(wordsOf(same, kept), std::string("9.2 of 10 Gbit/s"));
        QVERIFY(wordsOf(broken, kept).starts_with("no rate, was 9.2 Gbit/s: sums were so slow"));
        QCOMPARE(wordsOf(last, kept), std::string("9.4 of 10 Gbit/s")); // as before it broke
        QVERIFY(wordsOf(slow, kept).starts_with("3 of 10 Gbit/s: far below"));
        const std::string slower = wordsOf(madeAt(6, 3), kept);
        QVERIFY2(slower.starts_with("3 of 10 Gbit/s, was 9.4 Gbit/s: far below"), slower.c_str());
        QVERIFY(wordsOf(madeAt(6, 3), {}).starts_with("3 of 10 Gbit/s: "));
        // The same nodes in another order, unknown to their drivers; other nodes; other ranks.
        LinkTest other = madeAt(6, 3);
        std::swap(other.nodes[0].name, other.nodes[1].name);
        other.nodes[0].nominalMbit = -1;
        QCOMPARE(wordsOf(other, kept), std::string("3 Gbit/s, was 9.4 Gbit/s"));
        other.report.groups[0].ranks = 4;
        QVERIFY(wordsOf(other, kept).find("was") == std::string::npos);
        other.report.groups[0].ranks = 2;
        other.nodes[0].name = "node-c";
        QCOMPARE(wordsOf(other, kept), std::string("3 Gbit/s"));
    }

    void testsAreKeptWithoutTheDamagedOnes() {
        const LinkTest test = testOf(1e6);
        std::string lines = withLinkTest("", test);
        lines += "{\"nodes\": [], \"report\": 3}\nno JSON\n";
        lines = withLinkTest(lines, testOf(2e6));
        const auto kept = parseLinkTests(lines);
        QCOMPARE(kept.size(), size_t{2});
        QVERIFY(kept[0] == test);
        for (int i = 0; i < 300; ++i)
            lines = i % 100 ? lines : withLinkTest(lines, test);
        QVERIFY(parseLinkTests(lines).size() <= 200);
    }

    void aTestOfNodesThatItDoesNotNameIsDamaged() {
        LinkTest test = testOf(1e6);
        test.report.groups[0].nodes = {0, 2};
        const auto again = parseLinkTest(toJson(test), "a file");
        QVERIFY(!again);
        QCOMPARE(again.error().code, ErrorCode::kCorrupt);
    }
};

QTEST_GUILESS_MAIN(TestForecast)
#include "tst_forecast.moc"
