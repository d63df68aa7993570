// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"
#include "trainer/train/telemetry/backlog.h"
#include "trainer/train/telemetry/telemetry.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <set>
#include <thread>

using namespace rm;

namespace {

std::vector<Record> recordsIn(const std::string& path) {
    const auto bytes = readFile(path, size_t{1} << 30);
    std::vector<Record> found;
    if (!bytes)
        return found;
    JournalScanner scanner(path, 0);
    scanner.feed(std::as_bytes(std::span<const char>(*bytes)));
    for (auto record = scanner.next(); record && *record; record = scanner.next())
        found.push_back(std::move(**record));
    return found;
}

void stepOnce(Telemetry& telemetry, int64_t step) {
    telemetry.push(metric::kTrainLoss, static_cast<float>(step));
    telemetry.endStep(step);
}

} // namespace

class TestTelemetry : public QObject {
    Q_OBJECT
private:
    QTemporaryDir m_dir;
    std::string path(const char* name) const { return m_dir.filePath(name).toStdString(); }

private Q_SLOTS:
    void ringGivesEverythingInOrder() {
        SpscRing<int> ring(8);
        constexpr int kCount = 1000000;
        std::thread pusher([&] {
            for (int i = 0; i < kCount; ++i)
                while (!ring.push(i))
                    std::this_thread::yield();
        });
        int expected = 0;
        for (int got = 0; expected < kCount;) {
            if (!ring.pop(got))
                continue;
            if (got != expected)
                break;
            ++expected;
        }
        pusher.join();
        QCOMPARE(expected, kCount);
    }

    void fullRingRefuses() {
        SpscRing<int> ring(2);
        QVERIFY(ring.push(1) && ring.push(2));
        QVERIFY(!ring.push(3));
        int got = 0;
        QVERIFY(ring.pop(got));
        QVERIFY(ring.push(3));
    }

    void nothingIsLostWhenStepsComeFasterThanTheDisk() {
        constexpr int64_t kSteps = 60000;
        {
            Telemetry telemetry(std::move(*JournalWriter::open(path("fast"))), 3);
            for (int64_t step = 1; step <= kSteps; ++step) {
                telemetry.push(metric::kTrainLoss, static_cast<float>(step));
                telemetry.push(metric::kTrainLr, 0.5f);
                telemetry.endStep(step);
            }
        }
        const auto records = recordsIn(path("fast"));
        QCOMPARE(records.size(), size_t{kSteps});
        int64_t step = 0;
        for (const Record& record : records) {
            const auto& samples = std::get<Samples>(record);
            QCOMPARE(samples.step, ++step);
            QCOMPARE(samples.rank, 3);
            QVERIFY(samples.wallNs > 0);
            QCOMPARE(samples.metric, (std::vector<MetricId>{metric::kTrainLoss, metric::kTrainLr}));
            QCOMPARE(samples.value[0], static_cast<float>(step));
        }
    }

    void aDiskThatIsFullForAWhileLosesNothing() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        const std::string file = disk.path() + "/journal";
        auto board = Board::create(path("board"), 1, 1);
        QVERIFY(board);
        {
            Telemetry telemetry(std::move(*JournalWriter::open(file)), 1, &*board);
            stepOnce(telemetry, 1);
            QVERIFY(telemetry.flush());
            disk.fill();
            for (int64_t step = 2; step <= 200; ++step)
                stepOnce(telemetry, step);
            QVERIFY(!telemetry.flush());
            QVERIFY(board->status().journalProblem == ErrorCode::kExhausted);
            disk.empty();
            QVERIFY(telemetry.flushAtLast());
            QVERIFY(!board->status().journalProblem);
            QCOMPARE(board->status().droppedRecords, uint64_t{0});
        }
        int64_t step = 0;
        std::vector<Event> events;
        for (const Record& record : recordsIn(file))
            if (const auto* event = std::get_if<Event>(&record))
                events.push_back(*event);
            else
                QCOMPARE(std::get<Samples>(record).step, ++step);
        QCOMPARE(step, 200);
        QCOMPARE(events.size(), size_t{1});
        QCOMPARE(events[0].code, std::string("disk-full"));
        QVERIFY2(events[0].message.find("No space left") != std::string::npos,
                 events[0].message.c_str());
    }

    void whatIsAboveTheLimitIsDroppedAndCounted() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        const std::string file = disk.path() + "/journal";
        constexpr int64_t kSteps = 5000;
        constexpr size_t kMostPending = 64 << 10;
        auto board = Board::create(path("board"), 1, 1);
        QVERIFY(board);
        {
            Telemetry telemetry(std::move(*JournalWriter::open(file)), 1, &*board, kMostPending);
            disk.fill();
            for (int64_t step = 1; step <= kSteps; ++step) {
                stepOnce(telemetry, step);
                if (step % 100 == 0) // or a batch of many is taken before the disk is found full
                    QVERIFY(!telemetry.flush());
            }
            CheckpointSaved saved;
            saved.step = kSteps;
            telemetry.append(saved);
            disk.empty();
        }
        int64_t sampled = 0, last = 0, missing = 0, checkpoints = 0;
        for (const Record& record : recordsIn(file)) {
            if (const auto* samples = std::get_if<Samples>(&record)) {
                QVERIFY(samples->step > last);
                last = samples->step;
                ++sampled;
            } else if (const auto* event = std::get_if<Event>(&record)) {
                if (event->code == "journal-gap")
                    missing += QString::fromStdString(event->message).section(' ', 0, 0).toInt();
            } else {
                ++checkpoints;
            }
        }
        QCOMPARE(checkpoints, 1);
        QVERIFY(missing > 0 && sampled > 0);
        QCOMPARE(sampled + missing, kSteps);
        QCOMPARE(board->status().droppedRecords, static_cast<uint64_t>(missing));
    }

    void aGapSaysHowManyRecordsItLacks() {
        const auto gapOf = [](std::vector<int64_t> steps) {
            Backlog backlog(3, 0);
            for (const int64_t step : steps) {
                Samples samples;
                samples.step = step;
                backlog.add({samples});
            }
            backlog.close();
            const std::vector<Record> records = backlog.take(1);
            const auto* event = records.size() == 1 ? std::get_if<Event>(&records[0]) : nullptr;
            return event ? event->message : std::string();
        };
        QCOMPARE(gapOf({}), std::string());
        QCOMPARE(gapOf({7}), std::string("1 record was dropped, of step 7: the journal of rank 3 "
                                         "could not be written for too long; training went on "
                                         "without it"));
        QCOMPARE(gapOf({7, 8}), std::string("2 records were dropped, of steps 7 to 8: the journal "
                                            "of rank 3 could not be written for too long; training "
                                            "went on without them"));
    }

    void aDiskThatStaysFullEndsNoLaterThanItsPatience() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        Telemetry telemetry(std::move(*JournalWriter::open(disk.path() + "/journal")), 1);
        disk.fill();
        stepOnce(telemetry, 1);
        QVERIFY(!telemetry.flush());
        QVERIFY(!telemetry.flushAtLast());
    }

    void recordFollowsTheStepBeforeIt() {
        {
            Telemetry telemetry(std::move(*JournalWriter::open(path("order"))), 0);
            for (int64_t step = 1; step <= 200; ++step) {
                telemetry.push(metric::kTrainLoss, 1.0f);
                telemetry.endStep(step);
                telemetry.append(CommandApplied{"id", "hold", step, 1, true, ""});
            }
        }
        int64_t lastSampled = 0;
        int64_t applied = 0;
        for (const Record& record : recordsIn(path("order"))) {
            if (const auto* samples = std::get_if<Samples>(&record))
                lastSampled = samples->step;
            if (const auto* command = std::get_if<CommandApplied>(&record)) {
                QVERIFY(lastSampled >= command->step);
                QCOMPARE(command->step, ++applied);
            }
        }
        QCOMPARE(applied, 200);
    }

    void aMetricOfOnesOwnIsRegisteredBeforeItsFirstValue() {
        const MetricDef entropy{.name = "router/entropy", .unit = "nats", .smooth = true};
        const MetricDef share{.name = "router/share", .panel = "routing", .place = 1};
        {
            Telemetry telemetry(std::move(*JournalWriter::open(path("own"))), 0);
            for (int64_t step = 1; step <= 2000; ++step) {
                telemetry.push(metric::kTrainLoss, 1.0f);
                telemetry.log(entropy, static_cast<double>(step));
                if (step >= 1000)
                    telemetry.log(share, 0.5);
                telemetry.endStep(step);
            }
        }
        std::map<MetricId, MetricDef> known;
        std::map<std::string, int> values;
        for (const Record& record : recordsIn(path("own"))) {
            if (const auto* registered = std::get_if<MetricRegistered>(&record))
                QVERIFY(known.emplace(registered->def.id, registered->def).second);
            if (const auto* samples = std::get_if<Samples>(&record))
                for (const MetricId id : samples->metric)
                    if (id != metric::kTrainLoss) {
                        QVERIFY(known.contains(id));
                        ++values[known.at(id).name];
                    }
        }
        QCOMPARE(values, (std::map<std::string, int>{{entropy.name, 2000}, {share.name, 1001}}));
        QCOMPARE(known.size(), size_t{2});
        for (const auto& [id, def] : known) {
            MetricDef expected = def.name == entropy.name ? entropy : share;
            expected.id = id;
            QVERIFY(id >= metric::kFirstUser && def == expected);
        }
    }

    void allRanksNumberAMetricAlike() {
        std::set<MetricId> ids;
        for (const int rank : {0, 1}) {
            const std::string file = path(rank == 0 ? "alike-0" : "alike-1");
            {
                Telemetry telemetry(std::move(*JournalWriter::open(file)), rank);
                telemetry.log({.name = "a/of_run", .scope = MetricScope::kRun}, 1);
                if (rank == 1)
                    telemetry.log({.name = "c/of_rank_one"}, 1);
                telemetry.log({.name = "b/entropy"}, 1);
                telemetry.endStep(1);
            }
            for (const Record& record : recordsIn(file))
                if (const auto* registered = std::get_if<MetricRegistered>(&record))
                    if (registered->def.name == "b/entropy")
                        ids.insert(registered->def.id);
        }
        QCOMPARE(ids.size(), size_t{1});
    }

    void ofWhatIsLoggedBetweenTwoRecordsTheNewestCounts() {
        {
            Telemetry telemetry(std::move(*JournalWriter::open(path("newest"))), 0);
            for (int64_t step = 1; step <= 10; ++step)
                telemetry.log({.name = "a/b"}, static_cast<double>(step));
            telemetry.push(metric::kPhaseDataMs, 1);
            telemetry.endStep(9, false); // of an earlier step
            telemetry.push(metric::kTrainLoss, 1);
            telemetry.endStep(10);
        }
        const auto records = recordsIn(path("newest"));
        QCOMPARE(records.size(), size_t{3}); // the registration is the first
        QCOMPARE(std::get<Samples>(records[1]).metric.size(), size_t{1});
        QCOMPARE(std::get<Samples>(records[2]).value, (std::vector<float>{1, 10}));
    }

    void whatIsTheRunsIsKeptOfRankZeroAlone() {
        for (const int rank : {0, 1}) {
            {
                Telemetry telemetry(std::move(*JournalWriter::open(path("scope"))), rank);
                telemetry.log({.name = "a/of_run", .scope = MetricScope::kRun}, 1);
                telemetry.endStep(1);
            }
            const auto records = recordsIn(path("scope"));
            QCOMPARE(std::get<Samples>(records.back()).metric.size(), size_t(rank == 0 ? 1 : 0));
        }
    }

    void valuesReachTheFileSoon() {
        Telemetry telemetry(std::move(*JournalWriter::open(path("soon"))), 0);
        telemetry.push(metric::kTrainLoss, 1.0f);
        telemetry.endStep(1);
        QElapsedTimer timer;
        timer.start();
        QTRY_COMPARE_WITH_TIMEOUT(recordsIn(path("soon")).size(), size_t{1}, 5000);
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
    }

    void flushWaitsForTheFile() {
        Telemetry telemetry(std::move(*JournalWriter::open(path("flush"))), 0);
        telemetry.push(metric::kTrainLoss, 1.0f);
        telemetry.endStep(1);
        telemetry.flush();
        QCOMPARE(recordsIn(path("flush")).size(), size_t{1});
    }
};

QTEST_GUILESS_MAIN(TestTelemetry)
#include "tst_telemetry.moc"
