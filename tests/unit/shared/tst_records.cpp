// SPDX-License-Identifier: Apache-2.0
#include "shared/io/flat.h"
#include "shared/journal/records.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <set>

using namespace rm;

class TestRecords : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyRecordSurvives() {
        std::set<size_t> types;
        for (const Record& record : example::allRecords()) {
            const auto decoded = decodeRecord(encodeRecord(record));
            RM_OK(decoded);
            QVERIFY(*decoded == record);
            types.insert(record.index());
        }
        QCOMPARE(types.size(), std::variant_size_v<Record>);
    }

    void defaultsSurvive() {
        const CheckpointSaved saved;
        QVERIFY(*decodeRecord(encodeRecord(saved)) == Record(saved));
        const AttemptEnded ended;
        QVERIFY(*decodeRecord(encodeRecord(ended)) == Record(ended));
    }

    void slicesOfATraceSurvive() {
        const int64_t farAway = int64_t{1} << 61;
        const std::vector<TraceSlice> slices = {
            {TraceKind::kStep, 1, -5, 0, 0, 0},
            {TraceKind::kAllReduce, INT64_MAX, farAway, farAway, INT64_MAX, 7},
            {TraceKind::kData, INT64_MIN, -farAway, 1, 0, 0},
            {TraceKind::kAllGather, 3, 127, 128, 16383, INT64_MIN}};
        std::vector<std::byte> blocks;
        appendTraceSlices(blocks, slices);
        appendTraceSlices(blocks, {});
        appendTraceSlices(blocks, slices);
        const auto read = readTraceSlices(blocks);
        RM_OK(read);
        QCOMPARE(read->size(), 2 * slices.size());
        for (size_t i = 0; i < read->size(); ++i)
            QVERIFY((*read)[i] == slices[i % slices.size()]);
        const std::vector<TraceSlice> most(
            kMostSlicesOfRecord, {TraceKind::kAllReduce, INT64_MIN, -farAway, farAway, 1, 9});
        QVERIFY(encodeRecord(TraceRecorded{0, 1, 1, 0, 0, false, false, most}).size() < 1 << 20);
    }

    void slicesOfAnUnknownKindAreLeftOut() {
        std::vector<std::byte> blocks;
        appendTraceSlices(blocks, std::vector<TraceSlice>{{TraceKind(20), 4, 10, 5, 0, 0},
                                                          {TraceKind(200), 4, 20, 5, 64, 3},
                                                          {TraceKind::kData, 5, 30, 6, 0, 0}});
        const auto read = readTraceSlices(blocks);
        RM_OK(read);
        QVERIFY((*read == std::vector<TraceSlice>{{TraceKind::kData, 5, 30, 6, 0, 0}}));
    }

    void brokenSlicesAreRefused_data() {
        QTest::addColumn<QByteArray>("bytes");
        QTest::newRow("more than there are") << QByteArray("\x05\x00\x02\x02\x02", 5);
        QTest::newRow("a number without an end") << QByteArray("\x01\x00\x02\x02\xff", 5);
        QTest::newRow("a number of 65 bits") << QByteArray(11, '\xff');
        QTest::newRow("a kind that is none") << QByteArray("\x01\xff\x7f\x02\x02\x02", 6);
        QTest::newRow("no bytes of a collective") << QByteArray("\x01\x20\x02\x02\x02", 5);
    }

    void brokenSlicesAreRefused() {
        QFETCH(QByteArray, bytes);
        const auto read =
            readTraceSlices(std::as_bytes(std::span(bytes.data(), size_t(bytes.size()))));
        QVERIFY(!read);
        QCOMPARE(read.error().code, ErrorCode::kCorrupt);
    }

    void alignmentOfThePayloadDoesNotMatter() {
        for (size_t shift = 0; shift < 16; ++shift) {
            const auto payload = encodeRecord(example::records()[2]);
            std::vector<std::byte> shifted(shift);
            shifted.insert(shifted.end(), payload.begin(), payload.end());
            RM_OK(decodeRecord(std::span(shifted).subspan(shift)));
        }
    }

    void noTruncationIsRead() {
        for (const Record& record : example::allRecords()) {
            const auto payload = encodeRecord(record);
            for (size_t size = 0; size < payload.size(); ++size) {
                const std::vector<std::byte> part(payload.begin(),
                                                  payload.begin() + std::ptrdiff_t(size));
                const auto decoded = decodeRecord(part);
                QVERIFY(!decoded || *decoded == record);
            }
        }
    }

    // The checksum stands before this; without it nothing worse than another value may come.
    void noFlippedBitDoesHarm() {
        for (const Record& record : example::allRecords()) {
            const auto payload = encodeRecord(record);
            for (size_t bit = 0; bit < payload.size() * 8; ++bit)
                (void)decodeRecord(test::withBitFlipped(payload, bit));
        }
    }

    void typeOfTheFutureIsTooNew() {
        RM_FAILS(decodeRecord(example::futureRecord()), ErrorCode::kTooNew, "type 200");
    }

    void valuesOfTheFutureAreTooNew() {
        RM_FAILS(decodeRecord(encodeRecord(Event{0, 0, 0, Severity(9), "", ""})),
                 ErrorCode::kTooNew, "severity 9");
        RM_FAILS(decodeRecord(encodeRecord(AttemptEnded{1, Outcome(77), -1, 0, 0, ""})),
                 ErrorCode::kTooNew, "outcome 77");
        RM_FAILS(decodeRecord(encodeRecord(
                     MetricRegistered{{1000, "a/b", "", MetricKind(5), MetricScope::kRun, ""}})),
                 ErrorCode::kTooNew, "metric kind 5");
    }

    void wordsOfMetricsOfTheFutureAreTooNew() {
        const MetricDef def{.id = 1000, .name = "a/b"};
        std::vector<std::pair<MetricDef, const char*>> rows(4, {def, ""});
        rows[0].first.clock = MetricClock(2);
        rows[0].second = "metric clock 2";
        rows[1].first.direction = MetricDirection(3);
        rows[1].second = "metric direction 3";
        rows[2].first.format = MetricFormat(3);
        rows[2].second = "metric format 3";
        rows[3].first.ranks = MetricRanks(3);
        rows[3].second = "metric view of ranks 3";
        for (const auto& [metric, words] : rows)
            RM_FAILS(decodeRecord(encodeRecord(MetricRegistered{metric})), ErrorCode::kTooNew,
                     words);
    }

    void allThatAMetricSaysOfItselfComesBack() {
        const MetricDef def{.id = 65000,
                            .name = "router/entropy",
                            .unit = "nats",
                            .kind = MetricKind::kCounter,
                            .scope = MetricScope::kNode,
                            .description = "How evenly tokens are routed.",
                            .clock = MetricClock::kWall,
                            .direction = MetricDirection::kHigher,
                            .format = MetricFormat::kBytes,
                            .ranks = MetricRanks::kMean,
                            .smooth = true,
                            .panel = "routing",
                            .place = 200,
                            .label = "entropy of routes",
                            .brief = "H"};
        const auto record = decodeRecord(encodeRecord(MetricRegistered{def}));
        QVERIFY(record);
        QVERIFY(std::get<MetricRegistered>(*record).def == def);
    }

    void impossibleValuesAreCorrupt_data() {
        QTest::addColumn<int>("row");
        const char* names[] = {"negative rank",          "huge rank",
                               "rank outside its world", "built-in metric registered anew",
                               "hostile metric name",    "event of rank -2"};
        for (int row = 0; row < 6; ++row)
            QTest::newRow(names[row]) << row;
    }
    void impossibleValuesAreCorrupt() {
        QFETCH(int, row);
        const std::vector<Record> records = {
            Samples{-1, 0, 0, {}, {}},
            RankStarted{1, 1 << 20, 0, 0},
            AttemptStarted{1, 4, 4, 0, 0, ""},
            MetricRegistered{{metric::kTrainLoss, "a/b", "", {}, {}, ""}},
            MetricRegistered{{1000, "a/../b", "", {}, {}, ""}},
            Event{-2, 0, 0, Severity::kInfo, "", ""},
        };
        RM_FAILS(decodeRecord(encodeRecord(records[size_t(row)])), ErrorCode::kCorrupt,
                 "impossible");
    }

    void longTextIsCutBetweenCharacters() {
        std::string text;
        while (text.size() < 2 * kMaxText)
            text += "aé";
        const auto decoded = decodeRecord(encodeRecord(SampleText{0, 0, text, text}));
        RM_OK(decoded);
        const std::string& cut = std::get<SampleText>(*decoded).text;
        QVERIFY(cut.size() <= kMaxText && cut.size() > kMaxText - 4);
        QVERIFY(text.starts_with(cut));
        QVERIFY((static_cast<unsigned char>(text[cut.size()]) & 0xc0) != 0x80);
    }

    void largestRecordsFitAFrame() {
        const std::string text(10 * kMaxText, 'x');
        QVERIFY(encodeRecord(RankExited{1, 0, 0, 0, 0, text, text}).size() < (1 << 20));
        Samples samples;
        samples.metric.resize(65536);
        samples.value.resize(65536);
        QVERIFY(encodeRecord(samples).size() < (1 << 20));
    }

    void textMayHoldAnyBytes() {
        const SampleText sample{0, 0, std::string("\0\xff\xfe", 3), "\x80"};
        QVERIFY(*decodeRecord(encodeRecord(sample)) == Record(sample));
    }

    void nanLossesAreEqual() {
        QVERIFY(CheckpointSaved{} == CheckpointSaved{});
        CheckpointSaved other;
        other.validationLoss = 1;
        QVERIFY(!(CheckpointSaved{} == other));
    }
};

QTEST_GUILESS_MAIN(TestRecords)
#include "tst_records.moc"
