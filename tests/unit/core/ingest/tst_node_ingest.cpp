// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/ingest/node_ingest.h"
#include "app/core/store/attempts.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/series.h"
#include "shared/io/file.h"
#include "shared/journal/journal.h"
#include "tests/unit/core/store/store_fixture.h"

#include <random>

namespace rm {

namespace {

const std::string kRank0 = "journal/rank-00000.rmj";
const std::string kNode = "journal/node-00000.rmj";
const std::string kLog1 = "log/rank-00001.log";
const SeriesKey kLoss{"train/loss", 0};
const std::vector<RankRange> kRanks{{0, 2}};

std::vector<std::byte> bytesOf(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    return {bytes.begin(), bytes.end()};
}

/// The bytes of a journal with these records.
std::vector<std::byte> journalOf(const std::vector<Record>& records) {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("j.rmj").toStdString();
    auto writer = JournalWriter::open(path);
    if (!writer)
        qFatal("%s", writer.error().message.c_str());
    for (const Record& record : records)
        writer->append(record);
    StoreFixture::mustBeOk(writer->flush());
    return bytesOf(*readFile(path));
}

std::vector<std::byte> part(const std::vector<std::byte>& bytes, size_t begin, size_t size) {
    const auto all = std::span(bytes).subspan(begin);
    const auto some = all.first(std::min(size, all.size()));
    return {some.begin(), some.end()};
}

std::vector<Record> lossesOfRank0(int64_t last) {
    std::vector<Record> records{started(1, 0, 0)};
    for (int64_t step = 1; step <= last; ++step)
        records.push_back(lossAt(step, float(step)));
    return records;
}

} // namespace

class TestNodeIngest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void recordsAndLinesBecomeABatch() {
        NodeIngest ingest("a", 0, kRanks, {});
        QVERIFY(!ingest.take());
        const auto journal = journalOf(lossesOfRank0(3));
        StoreFixture::mustBeOk(ingest.onSlice({kRank0, 0, journal}));
        StoreFixture::mustBeOk(ingest.onSlice({kLog1, 0, bytesOf("hello\nwor")}));
        const auto batch = *ingest.take();
        QVERIFY(batch.records == lossesOfRank0(3));
        QCOMPARE(batch.logLines.size(), size_t(1));
        QCOMPARE(batch.logLines[0].rank, 1);
        QCOMPARE(batch.logLines[0].text, std::string("hello"));
        const std::vector<std::pair<std::string, uint64_t>> cursors{{kRank0, journal.size()},
                                                                    {kLog1, 6}};
        QVERIFY(batch.cursors == cursors);
        QVERIFY(!ingest.take());
    }

    void eachLineHasTheTimeOfItsStamp() {
        NodeIngest ingest("a", 0, kRanks, {});
        StoreFixture::mustBeOk(
            ingest.onSlice({kLog1, 0, bytesOf("one\ntwo\nth"), {{4, 10}, {10, 20}}}));
        StoreFixture::mustBeOk(ingest.onSlice({kLog1, 10, bytesOf("ree\n"), {{14, 30}}}));
        StoreFixture::mustBeOk(ingest.onSlice({kLog1, 14, bytesOf("of an old agent\n")}));
        const auto batch = *ingest.take();
        QCOMPARE(batch.logLines.size(), size_t(4));
        QCOMPARE(batch.logLines[0].wallNs, int64_t(10));
        QCOMPARE(batch.logLines[1].wallNs, int64_t(20));
        QCOMPARE(batch.logLines[2].wallNs, int64_t(30));
        QCOMPARE(batch.logLines[3].wallNs, int64_t(0));
    }

    void cutAnywhereGoesOnFromTheCursor() {
        const auto journal = journalOf(lossesOfRank0(200));
        const auto log = bytesOf("one\ntwo\nthree\nfour\n");
        std::mt19937 random(9);
        for (int round = 0; round < 12; ++round) {
            StoreFixture store;
            store.createRun("a");
            for (bool done = false; !done;) {
                const auto stored = store.reader().cursors("a", 0);
                NodeIngest ingest("a", 0, kRanks, stored);
                std::map<std::string, uint64_t> at(stored.begin(), stored.end());
                // A connection that lives for some slices, then is lost with what was not taken.
                for (int slice = int(random() % 6); slice >= 0; --slice) {
                    const std::string& file = random() % 2 ? kRank0 : kLog1;
                    const auto& bytes = file == kRank0 ? journal : log;
                    const auto some = part(bytes, at[file], 1 + random() % (bytes.size() / 4));
                    StoreFixture::mustBeOk(ingest.onSlice({file, at[file], some}));
                    at[file] += some.size();
                    if (random() % 2)
                        if (const auto batch = ingest.take())
                            StoreFixture::mustBeOk(store.writer().ingest(*batch));
                }
                const auto now = store.reader().cursors("a", 0);
                done = now.size() == 2 && now[0].second == journal.size() &&
                       now[1].second == log.size();
            }
            const auto points = store.reader().points("a", kLoss);
            QCOMPARE(points.size(), size_t(200));
            for (size_t i = 0; i < points.size(); ++i)
                QCOMPARE(points[i].step, int64_t(i) + 1);
            QCOMPARE(store.reader().log("a", 1, 0, 100).size(), size_t(4));
        }
    }

    void gapOrOverlapIsNamed() {
        NodeIngest ingest("a", 0, kRanks, {{kRank0, 16}});
        for (const uint64_t offset : {0, 15, 17}) {
            const auto result = ingest.onSlice({kRank0, offset, bytesOf("x")});
            QVERIFY(!result);
            QCOMPARE(result.error().code, ErrorCode::kCorrupt);
            QVERIFY(result.error().message.find(kRank0) != std::string::npos);
            QVERIFY(result.error().message.find("from " + std::to_string(offset)) !=
                    std::string::npos);
            QVERIFY(result.error().message.find("from 16") != std::string::npos);
        }
        QVERIFY(!ingest.take());
    }

    void aGapInALogIsALineOfIt() {
        NodeIngest ingest("a", 0, kRanks, {}, "node-a");
        StoreFixture::mustBeOk(ingest.onSlice({kLog1, 0, bytesOf("one\n")}));
        StoreFixture::mustBeOk(ingest.onSlice({kLog1, 5'000'004, bytesOf("two\n")}));
        const auto batch = ingest.take();
        QVERIFY(batch);
        QCOMPARE(batch->logLines.size(), size_t{3});
        const std::string& gap = batch->logLines[1].text;
        QVERIFY2(gap.starts_with("--- 5.0 MB before this line were left out") &&
                     gap.find("node-a still has them in " + kLog1) != std::string::npos,
                 gap.c_str());
        QCOMPARE(batch->cursors.front().second, uint64_t{5'000'008});
    }

    void foreignFilesAreRefused() {
        NodeIngest ingest("a", 0, kRanks, {});
        for (const char* name :
             {"../../etc/passwd", "journal/../x.rmj", "log/node-00000.log", "log/rank-.log",
              "log/rank-99999999999999.log", "", "journal/x.rmj",
              // Not this node's:
              "journal/node-00001.rmj", "log/rank-00002.log",
              "journal/rank-00002-a00001-s0001-00000000.rmj"})
            QVERIFY2(!ingest.onSlice({name, 0, bytesOf("x\n")}), name);
        QVERIFY(!ingest.take());
    }

    // It had been declared lost, went on by itself, and takes part again later.
    void attemptsThatWereAskedForWithoutTheNodeAreLeftOut() {
        StoreFixture store;
        store.createRun("a", "run", 2);
        const auto begin = [&](int attempt, const std::vector<RunNode>& nodes, int skipped) {
            StoreFixture::mustBeOk(
                store.writer().beginAttempt("a", {attempt, 3, "", nodes, skipped}));
        };
        begin(3, {{0, "node-b", 2, 0}}, 1); // it may have begun one of the number 2 as well
        begin(4, {{0, "node-a", 2, 0}, {1, "node-b", 2, 2}}, 0);
        const auto ranks = store.reader().rankRanges("a", 0);
        const std::vector<RankRange> expected{{0, 2, 1, 1}, {0, 2, 4, INT_MAX}};
        QVERIFY(ranks == expected);
        NodeIngest ingest("a", 0, ranks, {});
        const auto journal = [](int attempt, int64_t first) {
            return journalOf({started(attempt, 0, first), lossAt(first + 1, 1)});
        };
        const auto name = [](const std::string& source, int attempt) {
            return Segment{source, attempt, 1, 7}.path();
        };
        for (const auto& [attempt, first] : std::map<int, int64_t>{{1, 0}, {2, 3}, {3, 6}, {4, 3}})
            StoreFixture::mustBeOk(
                ingest.onSlice({name("rank-00000", attempt), 0, journal(attempt, first)}));
        StoreFixture::mustBeOk(ingest.onSlice(
            {name("node-00000", 1), 0, journalOf({AttemptPlanned{2, 1, "", {{0, 0, 2}}}})}));
        StoreFixture::mustBeOk(
            ingest.onSlice({name("node-00000", 3), 0,
                            journalOf({AttemptEnded{3, Outcome::kFailed, -1, 0, 1, "alone"}})}));
        StoreFixture::mustBeOk(store.writer().ingest(*ingest.take()));
        const auto points = store.reader().points("a", kLoss);
        QCOMPARE(points.size(), size_t(2));
        QCOMPARE(points[1].step, int64_t(4));
        QCOMPARE(store.reader().attempts("a").size(), size_t(3)); // as asked for
        QCOMPARE(store.reader().newestAttempt("a"), 4);
        int reported = 0;
        for (const StoredEvent& event : store.reader().events("a"))
            reported += event.event.code == "attempt-left-out" ? 1 : 0;
        QCOMPARE(reported, 2);
        // Its bytes do not come again.
        const auto cursors = store.reader().cursors("a", 0);
        QCOMPARE(std::map(cursors.begin(), cursors.end()).at(name("rank-00000", 2)),
                 journal(2, 3).size());
    }

    void damageCostsWhatItHitAndIsToldOnce() {
        auto damaged = journalOf(lossesOfRank0(50));
        damaged[damaged.size() / 2] ^= std::byte(0x40);
        StoreFixture store;
        store.createRun("a");
        NodeIngest ingest("a", 0, kRanks, {});
        for (size_t at = 0; at < damaged.size(); at += 100)
            StoreFixture::mustBeOk(ingest.onSlice({kRank0, at, part(damaged, at, 100)}));
        StoreFixture::mustBeOk(
            ingest.onSlice({kNode, 0,
                            journalOf({RankStarted{1, 0, 77, 1},
                                       Event{-1, -1, 1, Severity::kInfo, "fine", ""}})}));
        StoreFixture::mustBeOk(store.writer().ingest(*ingest.take()));
        QCOMPARE(store.reader().points("a", kLoss).size(), size_t(49));
        const auto events = store.reader().events("a");
        QCOMPARE(events.size(), size_t(2));
        const auto& report = events[0].event.code == "fine" ? events[1] : events[0];
        QCOMPARE(report.event.code, std::string("journal-damaged"));
        QCOMPARE(report.event.severity, Severity::kError);
        QCOMPARE(report.event.rank, 0);
        QVERIFY(report.event.message.find("are lost") != std::string::npos);
    }

    void endlessDamageIsToldAFewTimes() {
        auto journal = journalOf({});
        for (int i = 0; i < 1000; ++i)
            appendFrame(journal, bytesOf("no record"));
        NodeIngest ingest("a", 0, kRanks, {});
        StoreFixture::mustBeOk(ingest.onSlice({kRank0, 0, journal}));
        QCOMPARE(ingest.take()->records.size(), size_t(16));
    }

    void aTornEndIsToldOnlyIfItHidRecords() {
        const std::string first = "journal/rank-00000-a00001-s0001-00000001.rmj";
        const std::string second = "journal/rank-00000-a00002-s0001-00000002.rmj";
        const auto journal = journalOf(lossesOfRank0(10));
        NodeIngest ingest("a", 0, kRanks, {});
        StoreFixture::mustBeOk(ingest.onSlice({first, 0, part(journal, 0, journal.size() - 3)}));
        StoreFixture::mustBeOk(ingest.onSlice({second, 0, journalOf({lossAt(11, 1)})}));
        QCOMPARE(ingest.take()->records.size(), size_t(11));
        auto hidden = journal;
        hidden[kJournalHeader + 2] ^= std::byte{8}; // a length beyond the end
        NodeIngest other("a", 0, kRanks, {});
        StoreFixture::mustBeOk(other.onSlice({first, 0, hidden}));
        QVERIFY(other.take()->records.empty());
        StoreFixture::mustBeOk(other.onSlice({second, 0, journalOf({lossAt(11, 1)})}));
        const auto records = other.take()->records;
        QCOMPARE(records.size(), size_t(12)); // 10 losses, the damage, the first of the next
    }

    void ofEachAttemptTheNewestSegmentIsNamed() {
        const auto cursors = cursorsToSend({{"journal/node-00000-a00001-s0001-00000001.rmj", 5},
                                            {"journal/rank-00000-a00001-s0001-00000001.rmj", 10},
                                            {"journal/rank-00000-a00002-s0001-00000002.rmj", 20},
                                            {"journal/rank-00000.rmj", 30},
                                            {"log/rank-00000.log", 40}});
        const std::vector<FileCursor> expected{{"log/rank-00000.log", 40},
                                               {"journal/rank-00000-a00002-s0001-00000002.rmj", 20},
                                               {"journal/node-00000-a00001-s0001-00000001.rmj", 5},
                                               {"journal/rank-00000-a00001-s0001-00000001.rmj", 10},
                                               {"journal/node-00000.rmj", 0}, // no attempt is older
                                               {"journal/rank-00000.rmj", 30}};
        QVERIFY(cursors == expected);
    }

    void theOldestAttemptsAreLeftOutIfTheyAreTooMany() {
        std::vector<std::pair<std::string, uint64_t>> stored;
        for (int attempt = 1; attempt <= 5000; ++attempt)
            stored.emplace_back(Segment{rankName(0), attempt, 1, 7}.path(), 10);
        const auto cursors = cursorsToSend(stored);
        QCOMPARE(cursors.size(), size_t(4096));
        QCOMPARE(cursors.front().file, stored.back().first);
        QCOMPARE(parseSegmentPath(cursors.back().file)->attempt, 5000 - 4095);
    }

    void theRestOfAnEarlierAttemptIsStoredAsItsOwn() {
        const std::string first = "journal/rank-00000-a00001-s0001-00000001.rmj";
        const std::string second = "journal/rank-00000-a00002-s0001-00000002.rmj";
        const auto journal = journalOf(lossesOfRank0(10));
        StoreFixture store;
        store.createRun("a");
        NodeIngest before("a", 0, kRanks, {});
        StoreFixture::mustBeOk(before.onSlice({first, 0, part(journal, 0, journal.size() / 2)}));
        StoreFixture::mustBeOk(store.writer().ingest(*before.take()));
        // Its node could not be reached any more, and the run went on at another from step 3.
        NodeIngest elsewhere("a", 0, kRanks, store.reader().cursors("a", 0));
        StoreFixture::mustBeOk(
            elsewhere.onSlice({second, 0, journalOf({started(2, 0, 3), lossAt(4, 40)})}));
        StoreFixture::mustBeOk(store.writer().ingest(*elsewhere.take()));
        // It has the place of that node again.
        const auto cursors = store.reader().cursors("a", 0);
        const auto known =
            std::ranges::find(cursors, first, [](const auto& each) { return each.first; });
        NodeIngest back("a", 0, kRanks, cursors);
        StoreFixture::mustBeOk(
            back.onSlice({first, known->second, part(journal, known->second, journal.size())}));
        StoreFixture::mustBeOk(store.writer().ingest(*back.take()));
        const auto points = store.reader().points("a", kLoss);
        QCOMPARE(points.size(), size_t(4));
        QCOMPARE(points.back().value, 40.f);
        const auto lines = store.reader().lines("a");
        const auto retired = std::ranges::find(lines, 2, &StoredLine::retiredBy);
        QVERIFY(retired != lines.end());
        QCOMPARE(retired->lastStep, int64_t(10));
        QCOMPARE(store.reader().points("a", *retired, kLoss).size(), size_t(7));
        QCOMPARE(store.reader().run("a")->step, int64_t(4));
    }

    void aSegmentThatCameLateDoesNotEndTheNewestOne() {
        const std::string first = "journal/rank-00000-a00001-s0001-00000001.rmj";
        const std::string second = "journal/rank-00000-a00002-s0001-00000002.rmj";
        const auto journal = journalOf({started(2, 0, 3), lossAt(4, 1), lossAt(5, 1)});
        NodeIngest ingest("a", 0, kRanks, {});
        StoreFixture::mustBeOk(ingest.onSlice({second, 0, part(journal, 0, journal.size() - 5)}));
        StoreFixture::mustBeOk(ingest.onSlice({first, 0, journalOf(lossesOfRank0(2))}));
        StoreFixture::mustBeOk(
            ingest.onSlice({second, journal.size() - 5, part(journal, journal.size() - 5, 5)}));
        const auto batch = *ingest.take();
        QCOMPARE(batch.records.size(), size_t(6));
        QCOMPARE(batch.attempts, (std::vector<int32_t>{2, 2, 1, 1, 1, 2}));
    }

    void segmentsThatDifferInEpochAloneAreBothNamed() {
        const std::string lost = "journal/node-00000-a00001-s0002-ffffffff.rmj";
        const std::string made = "journal/node-00000-a00001-s0002-00000001.rmj";
        const auto cursors = cursorsToSend(
            {{"journal/node-00000-a00001-s0001-00000003.rmj", 5}, {made, 7}, {lost, 9}});
        QVERIFY(cursors ==
                (std::vector<FileCursor>{{made, 7}, {lost, 9}, {"journal/node-00000.rmj", 0}}));
    }

    void damageInTheLastSegmentIsToldAtTheEnd() {
        auto journal = journalOf(lossesOfRank0(10));
        journal[kJournalHeader + 2] ^= std::byte{8}; // a length beyond the end
        StoreFixture store;
        store.createRun("a");
        NodeIngest ingest("a", 0, kRanks, {});
        StoreFixture::mustBeOk(ingest.onSlice({kRank0, 0, journal}));
        RunState end;
        end.attempt = 1;
        end.ended = true;
        end.outcome = static_cast<uint8_t>(Outcome::kFinished);
        ingest.finish(end);
        StoreFixture::mustBeOk(store.writer().ingest(*ingest.take()));
        QCOMPARE(store.reader().points("a", kLoss).size(), size_t(10));
        QCOMPARE(store.reader().events("a").front().event.code, std::string("journal-damaged"));
        QCOMPARE(store.reader().run("a")->state, RunStateKind::kFinished);
    }

    void aJournalThatWasCutIsToldOnceItsWriterHasGone() {
        const auto journal = journalOf(lossesOfRank0(10));
        RunState end;
        end.attempt = 1;
        end.ended = true;
        end.outcome = static_cast<uint8_t>(Outcome::kFailed);
        StoreFixture store;
        store.createRun("a");
        NodeIngest before("a", 0, kRanks, {});
        StoreFixture::mustBeOk(before.onSlice({kRank0, 0, journal}));
        StoreFixture::mustBeOk(store.writer().ingest(*before.take()));
        // Of a writer that lives it is none, as that goes on behind what it wrote.
        NodeIngest living("a", 0, kRanks, store.reader().cursors("a", 0));
        StoreFixture::mustBeOk(living.onSlice({kRank0, 100, {}}));
        QVERIFY(!living.take());
        for (int attach = 0; attach < 2; ++attach) {
            NodeIngest after("a", 0, kRanks, store.reader().cursors("a", 0));
            StoreFixture::mustBeOk(after.onSlice({kRank0, 100, {}}));
            after.finish(end);
            StoreFixture::mustBeOk(store.writer().ingest(*after.take()));
        }
        const auto events = store.reader().events("a");
        QCOMPARE(events.size(), size_t(1));
        QCOMPARE(events.front().event.code, std::string("journal-damaged"));
        QVERIFY(events.front().event.message.find("it ends at byte 100") != std::string::npos);
    }

    void aLaterSegmentTellsThatOneWasCut() {
        const std::string first = "journal/rank-00000-a00001-s0001-00000001.rmj";
        const std::string second = "journal/rank-00000-a00001-s0002-00000002.rmj";
        NodeIngest ingest("a", 0, kRanks, {{first, 500}});
        StoreFixture::mustBeOk(ingest.onSlice({first, 100, {}}));
        StoreFixture::mustBeOk(ingest.onSlice({second, 0, journalOf({lossAt(11, 1)})}));
        const auto records = ingest.take()->records;
        QCOMPARE(records.size(), size_t(2));
        QVERIFY(std::holds_alternative<Event>(records.front()));
    }

    void aLogThatWasCutGoesOnWhereItEnds() {
        StoreFixture store;
        store.createRun("a");
        NodeIngest ingest("a", 0, kRanks, {});
        StoreFixture::mustBeOk(ingest.onSlice({kLog1, 0, bytesOf("one\ntwo\n")}));
        StoreFixture::mustBeOk(store.writer().ingest(*ingest.take()));
        StoreFixture::mustBeOk(ingest.onSlice({kLog1, 2, bytesOf("three\n")}));
        StoreFixture::mustBeOk(store.writer().ingest(*ingest.take()));
        QCOMPARE(store.reader().log("a", 1, 0, 100).size(), size_t(3));
        QCOMPARE(store.reader().events("a").front().event.code, std::string("journal-damaged"));
        QCOMPARE(store.reader().cursors("a", 0).front().second, uint64_t(8));
    }

    void lastLineComesWhenTheAttemptHasEnded() {
        NodeIngest ingest("a", 0, kRanks, {});
        StoreFixture::mustBeOk(ingest.onSlice({kLog1, 0, bytesOf("Killed")}));
        QVERIFY(!ingest.take());
        StoreFixture::mustBeOk(ingest.onSlice(
            {kNode, 0, journalOf({AttemptEnded{1, Outcome::kFailed, 1, 0, 1, ""}})}));
        const auto batch = *ingest.take();
        QCOMPARE(batch.logLines.size(), size_t(1));
        QCOMPARE(batch.logLines[0].text, std::string("Killed"));
    }

    void storeAndIngestAgreeOnCursors() {
        StoreFixture store;
        store.createRun("a");
        NodeIngest first("a", 0, kRanks, {});
        const auto journal = journalOf(lossesOfRank0(3));
        StoreFixture::mustBeOk(first.onSlice({kRank0, 0, journal}));
        StoreFixture::mustBeOk(store.writer().ingest(*first.take()));
        // A second follower that started from the same old cursor is too late.
        NodeIngest second("a", 0, kRanks, {});
        StoreFixture::mustBeOk(second.onSlice({kRank0, 0, journal}));
        QCOMPARE(store.writer().ingest(*second.take()).error().code, ErrorCode::kInternal);
        QCOMPARE(store.reader().points("a", kLoss).size(), size_t(3));
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestNodeIngest)
#include "tst_node_ingest.moc"
