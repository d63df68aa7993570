// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/run_trace.h"
#include "app/core/runs/sql.h"
#include "app/core/runs/trace_alignment.h"
#include "app/core/runs/trace_file.h"
#include "tests/unit/core/store/store_fixture.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <random>
#include <sstream>

using namespace rm;

namespace {

constexpr int64_t kMs = 1'000'000;

/// Two ranks that do steps of some 100 ms with a few collectives each, as they were.
struct Truth {
    int64_t offsetNs = 0; ///< of the second rank's clock
    double driftPpm = 0;
    double latencyUs = 30;  ///< by which a rank is told late of an end, at least; exponential
    double lateShare = 0.1; ///< of ends that the rank is told of some milliseconds late
    int steps = 20;
    int collectives = 4; ///< a step
};

struct Traced {
    std::vector<RankTrace> ranks;
    int64_t originNs = 0; ///< where the second rank's clock is ahead by `offsetNs`
};

Traced traced(const Truth& truth, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> latency(1 / (truth.latencyUs * 1e3));
    std::uniform_real_distribution<double> share(0, 1);
    Traced all;
    all.originNs = 3'600'000 * kMs; // up for an hour
    const auto second = [&](int64_t ns) {
        const double gained = truth.driftPpm * 1e-6 * static_cast<double>(ns - all.originNs);
        return ns + truth.offsetNs + std::llround(gained);
    };
    const auto late = [&] {
        const double more = share(random) < truth.lateShare ? 5e6 * share(random) : 0;
        return std::llround(latency(random) + more);
    };
    all.ranks = {{0, "node-a", 0, all.originNs, false, true, {}},
                 {1, "node-b", 0, second(all.originNs), false, true, {}}};
    int64_t at = all.originNs;
    int64_t number = 0;
    for (int step = 1; step <= truth.steps; ++step) {
        const int64_t begin = at;
        for (int i = 0; i < truth.collectives; ++i, ++number) {
            const int64_t first = at + std::llround(share(random) * 8e6);
            const int64_t other = at + std::llround(share(random) * 20e6); // mostly the later one
            const int64_t end = std::max(first, other) + std::llround(2e6 + share(random) * 1e6);
            const int64_t mine = end + late(), theirs = end + late();
            all.ranks[0].slices.push_back(
                {TraceKind::kAllReduce, step, first, mine - first, 1000, number});
            all.ranks[1].slices.push_back({TraceKind::kAllReduce, step, second(other),
                                           second(theirs) - second(other), 1000, number});
            at = end + 3 * kMs;
        }
        at += 20 * kMs;
        all.ranks[0].slices.push_back({TraceKind::kStep, step, begin, at - begin, 0, 0});
        all.ranks[1].slices.push_back(
            {TraceKind::kStep, step, second(begin), second(at) - second(begin), 0, 0});
    }
    return all;
}

/// How far moments of the second rank's clock are misplaced at most, over the whole trace.
int64_t mostMisplaced(const Traced& all, const ClockFit& fit, const Truth& truth) {
    int64_t most = 0;
    for (const TraceSlice& slice : all.ranks[1].slices) {
        const auto ahead = static_cast<double>(slice.beginNs - truth.offsetNs - all.originNs);
        const int64_t really = all.originNs + std::llround(ahead / (1 + truth.driftPpm * 1e-6));
        most = std::max(most, std::abs(fit.toReference(slice.beginNs) - really));
    }
    return most;
}

TraceSlice phase(TraceKind kind, int64_t step, int64_t beginMs, int64_t ms) {
    return {kind, step, beginMs * kMs, ms * kMs, 0, 0};
}

/// Rank 1 has its clock a second ahead, and is the last in step 2.
std::vector<TraceRecorded> smallTrace() {
    const int64_t ahead = 1000 * kMs;
    std::vector<TraceRecorded> parts;
    for (int rank = 0; rank < 2; ++rank) {
        const int64_t shift = rank == 1 ? ahead : 0;
        for (int64_t step = 1; step <= 3; ++step) {
            const int64_t work = rank == 1 && step == 2 ? 60 : 40 - rank;
            const int64_t begin = step * 100 * kMs + shift;
            const auto add = [&](TraceKind kind, int64_t from, int64_t to) {
                return TraceSlice{kind, step, begin + from * kMs, (to - from) * kMs, 0, 0};
            };
            TraceRecorded part{rank, 1, 3, 5000 * kMs, 100 * kMs + shift, false, step == 3, {}};
            const int64_t end = step == 2 ? 70 : 50;
            part.slices = {
                add(TraceKind::kStep, 0, 100),       add(TraceKind::kForward, 0, 10),
                add(TraceKind::kBackward, 10, work), add(TraceKind::kAllReduceWait, work, end),
                add(TraceKind::kOptimizer, end, 80), add(TraceKind::kBoundary, 80, 100)};
            part.slices.push_back({TraceKind::kAllReduce, step, begin + (work - 5) * kMs,
                                   (end - work + 5) * kMs, 4096, step});
            parts.push_back(std::move(part));
        }
    }
    return parts;
}

void storeTrace(StoreFixture& store) {
    store.createRun("a", "run", 2, 1);
    for (int rank = 0; rank < 2; ++rank)
        store.ingest("a", {started(1, rank, 0)}, rank);
    for (const TraceRecorded& part : smallTrace()) // each in a transaction of its own
        store.ingest("a", {part}, part.rank);
}

RunSummary someRun() {
    RunSummary run;
    run.id = "run-1";
    run.name = "a \"name\" with \u00e9";
    return run;
}

} // namespace

class TestTrace : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void clocksAreAlignedWithinATenthOfAMillisecond_data() {
        QTest::addColumn<double>("offsetMs");
        QTest::addColumn<double>("driftPpm");
        QTest::addColumn<double>("latencyUs");
        QTest::addColumn<double>("lateShare");
        QTest::newRow("one clock") << 0.0 << 0.0 << 30.0 << 0.1;
        QTest::newRow("a second ahead") << 1000.0 << 0.0 << 30.0 << 0.1;
        QTest::newRow("days behind") << -2.0e8 << 0.0 << 30.0 << 0.1;
        QTest::newRow("drifts") << 1000.0 << 50.0 << 30.0 << 0.1;
        QTest::newRow("drifts the other way") << -7.0 << -100.0 << 30.0 << 0.1;
        QTest::newRow("no noise") << 1000.0 << 20.0 << 0.001 << 0.0;
        QTest::newRow("a third is told late") << 1000.0 << 0.0 << 40.0 << 0.33;
    }

    void clocksAreAlignedWithinATenthOfAMillisecond() {
        QFETCH(double, offsetMs);
        QFETCH(double, driftPpm);
        QFETCH(double, latencyUs);
        QFETCH(double, lateShare);
        const Truth truth{std::llround(offsetMs * 1e6), driftPpm, latencyUs, lateShare};
        constexpr uint64_t kSeeds = 300;
        std::vector<int64_t> errors;
        for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
            const Traced all = traced(truth, seed);
            const auto fit = fitClock(all.ranks[1].slices, all.ranks[0].slices);
            QVERIFY(fit);
            QCOMPARE(fit->collectives, 80);
            errors.push_back(mostMisplaced(all, *fit, truth));
            QVERIFY2(errors.back() < kMs / 10,
                     qPrintable(QString("seed %1: %2 ns").arg(seed).arg(errors.back())));
            QVERIFY(lateShare > 0.2 || fit->errorNs < kMs / 10);
        }
    }

    void theBoundHolds() {
        for (uint64_t seed = 1; seed <= 300; ++seed) {
            Truth truth{7 * kMs, 0, 300, 0.5, 5, 2}; // too few for a drift
            const Traced all = traced(truth, seed);
            const auto fit = fitClock(all.ranks[1].slices, all.ranks[0].slices);
            QVERIFY(fit);
            QCOMPARE(fit->drift, 0.0);
            QVERIFY2(mostMisplaced(all, *fit, truth) <= fit->boundNs + 1,
                     qPrintable(QString::number(seed)));
        }
    }

    void oneCollectiveIsEnough() {
        const Truth truth{-3 * kMs, 0, 20, 0, 1, 1};
        const Traced all = traced(truth, 5);
        const auto fit = fitClock(all.ranks[1].slices, all.ranks[0].slices);
        QVERIFY(fit);
        QCOMPARE(fit->collectives, 1);
        QVERIFY(mostMisplaced(all, *fit, truth) < kMs);
    }

    void withoutCollectivesTheWallClocksCount() {
        std::vector<RankTrace> ranks(2);
        for (int rank = 0; rank < 2; ++rank) {
            ranks[static_cast<size_t>(rank)] = {rank,  "",   5000 * kMs, (1 + rank) * 1000 * kMs,
                                                false, true, {}};
            ranks[static_cast<size_t>(rank)].slices.push_back(
                {TraceKind::kStep, 1, (1 + rank) * 1000 * kMs + rank, 10, 0, 0});
        }
        const AlignedTrace trace = alignTrace({1, 1}, ranks);
        QCOMPARE(trace.ranks[0].slices[0].beginNs, int64_t(0));
        QCOMPARE(trace.ranks[1].slices[0].beginNs, int64_t(1));
        QVERIFY(!trace.clockErrorNs());
        QVERIFY(clockWords(trace).find("clocks of their machines") != std::string::npos);
    }

    void aStoredTraceIsReadBack() {
        StoreFixture store;
        storeTrace(store);
        const auto traces = store.reader().traces("a");
        QCOMPARE(traces.size(), size_t(1));
        QVERIFY((traces[0].id == TraceId{1, 1}));
        QCOMPARE(traces[0].steps, 3);
        QCOMPARE(traces[0].lastStep, int64_t(3));
        QCOMPARE(traces[0].ranks, 2);
        QCOMPARE(traces[0].doneRanks, 2);
        QCOMPARE(traces[0].slices, int64_t(42));
        const auto ranks = store.reader().trace("a", traces[0].id);
        QCOMPARE(ranks.size(), size_t(2));
        QCOMPARE(ranks[1].node, std::string("node-b"));
        std::vector<TraceSlice> wanted;
        for (const TraceRecorded& part : smallTrace())
            if (part.rank == 1)
                wanted.insert(wanted.end(), part.slices.begin(), part.slices.end());
        QVERIFY(ranks[1].slices == wanted);
        QVERIFY(ranks[0].isDone && ranks[1].isDone);
        QVERIFY(store.reader().trace("a", {1, 99}).empty());
    }

    void aRunThatWentBackHasTheNewTraceAlone() {
        StoreFixture store;
        storeTrace(store);
        TraceRecorded again = smallTrace().front();
        again.wallNs += 1;
        store.ingest("a", {again}, 0);
        const auto ranks = store.reader().trace("a", {1, 1});
        QCOMPARE(ranks[0].slices.size(), again.slices.size());
        QVERIFY(!ranks[0].isDone);
    }

    void whatMakesNoSenseIsRefused() {
        StoreFixture store;
        storeTrace(store);
        TraceRecorded part = smallTrace().front();
        part.firstStep = 50;
        for (const int32_t steps : {0, -1, 201, INT32_MAX}) {
            part.steps = steps;
            store.ingest("a", {part}, 0);
        }
        part.steps = 3;
        part.rank = 1; // is on the other node
        store.ingest("a", {part}, 0);
        QCOMPARE(store.reader().traces("a").size(), size_t(1));
        QCOMPARE(store.reader().events("a").front().event.code, std::string("record-refused"));
    }

    void whoWasWaitedForIsNamed() {
        StoreFixture store;
        storeTrace(store);
        const AlignedTrace trace = alignTrace({1, 1}, store.reader().trace("a", {1, 1}));
        QCOMPARE(trace.clockErrorNs().value_or(-1), int64_t(0));
        QCOMPARE(trace.ranks[1].clock.offsetNs, 1000 * kMs);
        QCOMPARE(trace.endNs, 300 * kMs);
        const auto waits = waitsOf(trace);
        QCOMPARE(waits.size(), size_t(3));
        QVERIFY((waits[1] == StepWait{2, 1, 0, 20 * kMs, 160 * kMs}));
        QCOMPARE(waits[0].lastRank, 0);
        QCOMPARE(waits[0].waitNs, kMs);
        const auto waited = waitedFor(waits);
        QVERIFY(waited);
        QCOMPARE(waited->rank, 1);
        QCOMPARE(QString::fromStdString(waitedForWords(*waited)),
                 QString("rank 1 was the last in 1 of 3 steps, by 20.0 ms on average; the longest "
                         "wait was that of rank 0 for rank 1 in step 2, 20.0 ms"));
        const auto phases = phasesOf(trace);
        QCOMPARE(phases[1].steps, 3);
        QCOMPARE(phases[1].stepNs, 100e6);
        QCOMPARE(phases[1].meanNs[1], 10e6);                     // forward
        QCOMPARE(phases[1].meanNs[2], (29 + 50 + 29) * 1e6 / 3); // backward
    }

    void slicesCanBeAskedInSql() {
        StoreFixture store;
        storeTrace(store);
        QStringList rows;
        const auto answered = runSql(
            store.path(),
            "SELECT rank || ' ' || node || ' ' || begin || ' ' || duration || ' ' || bytes FROM "
            "trace_slices WHERE run = 'a' AND kind = 'all-reduce' AND step = 2 ORDER BY rank",
            {[](const auto&) {},
             [&](const SqlRow& row) {
                 rows << QString::fromStdString(std::get<std::string>(row[0]));
                 return true;
             }});
        QVERIFY2(answered, answered ? "" : answered.error().message.c_str());
        QCOMPARE(rows, QStringList({"0 node-a 0.135 0.035 4096", "1 node-b 0.155 0.015 4096"}));
    }

    void theFileIsOfTheTraceEventFormat() {
        StoreFixture store;
        storeTrace(store);
        const AlignedTrace trace = alignTrace({1, 1}, store.reader().trace("a", {1, 1}));
        const QTemporaryDir folder;
        const QString path = folder.filePath("trace.json");
        const auto count = writeTrace(someRun(), trace, path);
        QVERIFY2(count, count ? "" : count.error().message.c_str());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QJsonParseError error;
        const QJsonDocument json = QJsonDocument::fromJson(file.readAll(), &error);
        QVERIFY2(error.error == QJsonParseError::NoError, qPrintable(error.errorString()));
        QCOMPARE(json["otherData"]["name"].toString(), someRun().name);
        QCOMPARE(json["otherData"]["clocks"].toArray().at(1)["offset_ns"].toInteger(), 1000 * kMs);
        const QJsonArray events = json["traceEvents"].toArray();
        QCOMPARE(events.size(), *count);
        std::map<QString, int> kinds;
        std::map<QString, double> open; // by id: when an async slice began
        std::map<int, std::vector<std::pair<double, double>>> stacks; // by thread
        for (const QJsonValue& event : events) {
            const QString kind = event["ph"].toString();
            ++kinds[kind];
            QVERIFY(!event["name"].toString().isEmpty());
            QVERIFY(event["pid"].isDouble() && event["tid"].isDouble());
            const double ts = event["ts"].toDouble(-1);
            QVERIFY(kind == "M" || ts >= 0);
            if (kind == "X") { // within what is open in its thread
                auto& stack = stacks[event["tid"].toInt()];
                const double end = ts + event["dur"].toDouble(-1);
                while (!stack.empty() && stack.back().second <= ts + 1e-6)
                    stack.pop_back();
                QVERIFY(stack.empty() || end <= stack.back().second + 1e-6);
                stack.emplace_back(ts, end);
            } else if (kind == "b") {
                open[event["id"].toString()] = ts;
            } else if (kind == "e") {
                QVERIFY(open.at(event["id"].toString()) <= ts);
                open.erase(event["id"].toString());
            }
        }
        QVERIFY(open.empty());
        QCOMPARE(kinds["M"], 8); // two of each node and rank
        QCOMPARE(kinds["X"], 36);
        QCOMPARE(kinds["b"], 6);
        QCOMPARE(kinds["e"], 6);
        QCOMPARE(kinds["s"], 3);
        QCOMPARE(kinds["f"], 3);
    }

    void aFullDiskIsTold() {
        const AlignedTrace trace =
            alignTrace({1, 1}, {{0, "", 0, 0, false, true, {phase(TraceKind::kStep, 1, 0, 5)}}});
        const auto written = writeTrace(someRun(), trace, QString("/proc/no/trace.json"));
        QVERIFY(!written);
        QVERIFY2(written.error().message.find("write /proc/no/trace.json: ") == 0,
                 written.error().message.c_str());
    }

    void nothingIsATrace() {
        const AlignedTrace trace = alignTrace({1, 1}, {});
        QVERIFY(trace.isEmpty());
        QVERIFY(waitsOf(trace).empty() && phasesOf(trace).empty());
        std::ostringstream out;
        QVERIFY(writeTrace(someRun(), trace, out));
        QVERIFY(QJsonDocument::fromJson(QByteArray::fromStdString(out.str())).isObject());
    }
};

QTEST_GUILESS_MAIN(TestTrace)
#include "tst_trace.moc"
