// SPDX-License-Identifier: Apache-2.0
#include "shared/io/bytes.h"
#include "shared/io/file.h"
#include "shared/journal/journal.h"
#include "shared/journal/segment.h"
#include "tests/support/small_disk.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

using namespace rm;

namespace {

std::vector<Record> readFrom(std::span<const std::byte> bytes, uint64_t cursor = 0) {
    JournalScanner scanner("test.rmj", cursor);
    scanner.feed(bytes);
    std::vector<Record> records;
    const auto take = [&] {
        auto record = scanner.next();
        for (; record && *record; record = scanner.next())
            records.push_back(**record);
    };
    take();
    scanner.finish();
    take();
    return records;
}

bool isPart(const std::vector<Record>& some, const std::vector<Record>& whole) {
    size_t found = 0;
    for (const Record& record : whole)
        if (found < some.size() && some[found] == record)
            ++found;
    return found == some.size();
}

bool isPrefix(const std::vector<Record>& part, const std::vector<Record>& whole) {
    return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

} // namespace

class TestJournal : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = m_folder->filePath("rank-00000.rmj").toStdString();
    }

    void recordsSurviveWritingAndReading() {
        auto writer = JournalWriter::open(m_path);
        RM_OK(writer);
        for (const Record& record : example::records())
            writer->append(record);
        RM_OK(writer->sync());
        QCOMPARE(*readJournal(m_path), example::records());
    }

    void nothingIsWrittenBeforeFlush() {
        auto writer = JournalWriter::open(m_path);
        writer->append(Event{});
        QCOMPARE(test::readBytes(m_path).size(), size_t(0));
        RM_OK(writer->flush());
        QCOMPARE(readJournal(m_path)->size(), size_t(1));
    }

    void writingGoesOnBehindTheLastRecord() {
        for (int i = 0; i < 3; ++i) {
            auto writer = JournalWriter::open(m_path);
            RM_OK(writer);
            writer->append(Samples{0, i, 0, {}, {}});
        }
        const auto records = readJournal(m_path);
        QCOMPARE(records->size(), size_t(3));
        QCOMPARE(std::get<Samples>(records->back()).step, int64_t(2));
    }

    void secondWriterIsRefused() {
        auto writer = JournalWriter::open(m_path);
        RM_OK(writer);
        RM_FAILS(JournalWriter::open(m_path), ErrorCode::kUnavailable, "another process");
    }

    void everyTruncationReadsAsTheWholeRecordsBefore() {
        const auto file = example::journalFile();
        for (size_t size = 0; size < file.size(); ++size) {
            test::writeBytes(m_path, std::span(file).first(size));
            const auto records = readJournal(m_path);
            RM_OK(records);
            QVERIFY(isPrefix(*records, example::records()));
        }
    }

    void everyTruncationIsCutAndGoneOn() {
        const auto file = example::journalFile();
        for (size_t size = 0; size < file.size(); ++size) {
            test::writeBytes(m_path, std::span(file).first(size));
            auto expected = *readJournal(m_path);
            {
                auto writer = JournalWriter::open(m_path);
                RM_OK(writer);
                writer->append(Event{});
            }
            expected.push_back(Event{});
            QCOMPARE(*readJournal(m_path), expected);
        }
    }

    void everyFlippedBitCostsOneRecord() {
        const auto file = example::journalFile();
        const auto whole = example::records();
        for (size_t bit = 0; bit < file.size() * 8; ++bit) {
            const auto some = readFrom(test::withBitFlipped(file, bit));
            const size_t expected = bit < kJournalHeader * 8 ? 0 : whole.size() - 1;
            QVERIFY2(some.size() == expected && isPart(some, whole),
                     qPrintable(QString::number(bit)));
        }
    }

    void damageIsToldWithItsPlace() {
        auto file = example::journalFile();
        const auto second =
            kJournalHeader + kFrameHeader + encodeRecord(example::records()[0]).size();
        const auto size = kFrameHeader + encodeRecord(example::records()[1]).size();
        file[second + kFrameHeader] ^= std::byte{1};
        JournalScanner scanner("x.rmj", 0);
        // However the bytes come.
        for (const std::byte byte : file) {
            scanner.feed(std::span(&byte, 1));
            for (auto record = scanner.next(); record && *record; record = scanner.next()) {
            }
        }
        const auto lost = scanner.takeLost();
        QCOMPARE(lost.size(), size_t(1));
        QCOMPARE(lost[0].offset, uint64_t(second));
        QCOMPARE(lost[0].bytes, uint64_t(size));
        QVERIFY(lost[0].why.find("wrong checksum") != std::string::npos);
        QCOMPARE(scanner.cursor(), uint64_t(file.size()));
        QVERIFY(scanner.takeLost().empty());
    }

    // As a file that was cut while its writer went on behind what it had written.
    void aHoleOfZerosIsSkipped() {
        auto file = example::journalFile();
        const size_t size = file.size();
        file.insert(file.end(), 3'000'000, std::byte{0});
        appendFrame(file, encodeRecord(Event{}));
        JournalScanner scanner("x.rmj", size);
        std::vector<Record> found;
        for (size_t at = size; at < file.size(); at += 100'000) {
            scanner.feed(std::span(file).subspan(at, std::min<size_t>(100'000, file.size() - at)));
            for (auto record = scanner.next(); record && *record; record = scanner.next())
                found.push_back(**record);
        }
        QCOMPARE(found, std::vector<Record>{Event{}});
        QCOMPARE(scanner.takeLost().at(0).bytes, uint64_t(3'000'000));
    }

    void segmentsAreReadInTheirOrder() {
        const std::string folder = m_folder->path().toStdString();
        int64_t step = 0;
        for (const int attempt : {1, 1, 12}) {
            auto writer = JournalWriter::begin(folder, rankName(3), attempt, 100);
            RM_OK(writer);
            for (int i = 0; i < 20; ++i) {
                writer->append(Samples{3, ++step, 0, {}, {}});
                RM_OK(writer->flush());
            }
        }
        RM_OK(JournalWriter::begin(folder, rankName(30), 1));
        const auto segments = listSegments(folder, rankName(3));
        QVERIFY(segments.size() > 6);
        QCOMPARE(segments.back().attempt, 12);
        const auto records = readSegments(folder, rankName(3));
        QCOMPARE(records->size(), size_t(60));
        for (size_t i = 0; i < records->size(); ++i)
            QCOMPARE(std::get<Samples>((*records)[i]).step, int64_t(i) + 1);
    }

    void aFileThatIsDeletedWhileItIsWrittenIsReplaced() {
        const std::string folder = m_folder->path().toStdString();
        auto segments = JournalWriter::begin(folder, rankName(0), 1);
        auto single = JournalWriter::open(m_folder->filePath("applied.rmj").toStdString());
        const auto write = [&](int64_t step) {
            for (JournalWriter* writer : {&*segments, &*single}) {
                writer->append(Samples{0, step, 0, {}, {}});
                RM_OK(writer->flush());
            }
        };
        write(1);
        for (const QString& file : QDir(m_folder->path()).entryList(QDir::Files))
            QVERIFY(QFile::remove(m_folder->filePath(file)));
        write(2);
        write(3);
        for (const auto& records :
             {readSegments(folder, rankName(0)), readJournal(folder + "/applied.rmj")}) {
            QCOMPARE(records->size(), size_t(2));
            QCOMPARE(std::get<Samples>(records->front()).step, int64_t(2));
        }
    }

    void journalOfALivingWriterIsRefused() {
        const std::string folder = m_folder->path().toStdString();
        const auto writer = JournalWriter::begin(folder, rankName(0), 1);
        RM_OK(writer);
        RM_FAILS(JournalWriter::begin(folder, rankName(0), 2), ErrorCode::kUnavailable,
                 "another process");
        RM_OK(JournalWriter::begin(folder, rankName(1), 1));
    }

    void onlyOneTextNamesASegment() {
        const Segment segment{rankName(3), 2, 1, 0x1f2e3d4c};
        QCOMPARE(segment.fileName(), std::string("rank-00003-a00002-s0001-1f2e3d4c.rmj"));
        QVERIFY(parseSegment(segment.fileName()) == segment);
        QVERIFY(parseSegment("node-00001.rmj") == (Segment{nodeName(1), 0, 0, 0}));
        for (const char* other :
             {"rank-3.rmj", "rank-00003-a00002.rmj", "rank-00003-a00000-s0001-1f2e3d4c.rmj",
              "rank-00003-a00002-s0001-1F2E3D4C.rmj", "rank-00003-a00002-s0001-1f2e3d4c.log",
              "rank--0003.rmj", "rank-99999999999.rmj", "disk-00003.rmj", ".rmj", ""})
            QVERIFY2(!parseSegment(other), other);
    }

    // Only the last frame may pass for one that a crash tore.
    void writerRefusesFlippedBitsBeforeTheLastFrame() {
        const auto file = example::journalFile();
        const auto last = encodeRecord(example::records().back());
        const size_t middle = file.size() - last.size() - kFrameHeader;
        for (size_t bit = 0; bit < middle * 8; bit += 7) {
            const auto damaged = test::withBitFlipped(file, bit);
            test::writeBytes(m_path, damaged);
            QVERIFY2(!JournalWriter::open(m_path), qPrintable(QString::number(bit)));
            QVERIFY(test::readBytes(m_path) == damaged);
        }
    }

    void damagedMiddleNamesFileAndOffset() {
        auto file = example::journalFile();
        file[kJournalHeader + kFrameHeader] ^= std::byte{1};
        test::writeBytes(m_path, file);
        RM_FAILS(JournalWriter::open(m_path), ErrorCode::kCorrupt, m_path);
        RM_FAILS(readJournal(m_path), ErrorCode::kCorrupt, "frame at byte 16");
    }

    void zerosOfAPowerCutAreATornTail() {
        auto file = example::journalFile();
        file.resize(file.size() + 5000);
        test::writeBytes(m_path, file);
        RM_OK(JournalWriter::open(m_path));
        QVERIFY(test::readBytes(m_path) == example::journalFile());
    }

    void fileOfZerosBecomesAJournal() {
        test::writeBytes(m_path, std::vector<std::byte>(100));
        RM_OK(JournalWriter::open(m_path));
        QVERIFY(readJournal(m_path)->empty());
    }

    void otherFilesAreNotTouched_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::newRow("short") << QByteArray("hello");
        QTest::newRow("long") << QByteArray(100, 'x');
        QTest::newRow("reserved bytes set") << QByteArray("RMJOURNL\x01\0\0\0\x01\0\0\0", 16);
        QTest::newRow("version 0") << QByteArray("RMJOURNL\0\0\0\0\0\0\0\0", 16);
    }
    void otherFilesAreNotTouched() {
        QFETCH(QByteArray, content);
        const std::string text = content.toStdString();
        test::writeBytes(m_path, example::bytesOf(text));
        RM_FAILS(JournalWriter::open(m_path), ErrorCode::kCorrupt, "journal");
        QCOMPARE(example::textOf(test::readBytes(m_path)), text);
    }

    void newerVersionIsRefused() {
        auto file = example::journalFile();
        file[8] = std::byte{2};
        test::writeBytes(m_path, file);
        RM_FAILS(readJournal(m_path), ErrorCode::kTooNew, "version 2 is of a newer release");
        RM_FAILS(JournalWriter::open(m_path), ErrorCode::kTooNew, "version 2");
    }

    void recordsOfTheFutureAreSkippedAndCounted() {
        auto file = example::journalFile();
        appendFrame(file, example::futureRecord());
        appendFrame(file, encodeRecord(Event{}));
        JournalScanner scanner("test.rmj", 0);
        scanner.feed(file);
        size_t records = 0;
        auto record = scanner.next();
        for (; record && *record; record = scanner.next())
            ++records;
        RM_OK(record);
        QCOMPARE(records, example::records().size() + 1);
        QCOMPARE(scanner.skipped(), uint64_t(1));
        QCOMPARE(scanner.cursor(), uint64_t(file.size()));
    }

    void unreadableRecordIsLeftOutAndTold() {
        auto file = example::journalFile();
        const uint64_t begin = file.size();
        appendFrame(file, example::bytesOf(std::string("not a record")));
        appendFrame(file, encodeRecord(Event{}));
        JournalScanner scanner("x.rmj", 0);
        scanner.feed(file);
        size_t records = 0;
        for (auto record = scanner.next(); record && *record; record = scanner.next())
            ++records;
        QCOMPARE(records, example::records().size() + 1);
        const auto lost = scanner.takeLost();
        QCOMPARE(lost.size(), size_t(1));
        QCOMPARE(lost[0].offset, begin);
    }

    void everyCursorGoesOnWhereItStood() {
        const auto file = example::journalFile();
        const auto whole = example::records();
        JournalScanner scanner("test.rmj", 0);
        scanner.feed(file);
        for (size_t done = 0; done <= whole.size(); ++done) {
            const auto rest = readFrom(std::span(file).subspan(scanner.cursor()), scanner.cursor());
            QVERIFY(std::equal(rest.begin(), rest.end(), whole.begin() + std::ptrdiff_t(done),
                               whole.end()));
            RM_OK(scanner.next());
        }
    }

    void cursorWithinTheHeaderIsRefused() {
        JournalScanner scanner("test.rmj", 7);
        scanner.feed(example::journalFile());
        RM_FAILS(scanner.next(), ErrorCode::kInvalid, "cursor of 7");
    }

    void cursorIsZeroUntilTheHeaderIsWhole() {
        const auto file = example::journalFile();
        JournalScanner scanner("test.rmj", 0);
        scanner.feed(std::span(file).first(kJournalHeader - 1));
        QCOMPARE(scanner.cursor(), uint64_t(0));
        scanner.feed(std::span(file).subspan(kJournalHeader - 1, 1));
        QCOMPARE(scanner.cursor(), uint64_t(kJournalHeader));
    }

    void fullDiskHealsByItself() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        const std::string path = disk.path() + "/rank-00000.rmj";
        auto writer = JournalWriter::open(path);
        RM_OK(writer);
        disk.fill();
        const std::string text(1000, 'x');
        for (int i = 0; i < 50; ++i)
            writer->append(SampleText{i, 0, text, text});
        RM_FAILS(writer->flush(), ErrorCode::kExhausted, path);
        RM_OK(readJournal(path));
        disk.empty();
        writer->append(Event{});
        RM_OK(writer->flush());
        QCOMPARE(readJournal(path)->size(), size_t(51));
    }

    void missingFileIsNotFound() {
        RM_FAILS(readJournal(m_path), ErrorCode::kNotFound, m_path);
        RM_FAILS(JournalWriter::open(m_path + "/x"), ErrorCode::kNotFound, m_path);
    }

    void namesAreOfFixedWidth() {
        QCOMPARE(rankName(3), std::string("rank-00003"));
        QCOMPARE(nodeName(1), std::string("node-00001"));
        QCOMPARE(rankLogName(12), std::string("rank-00012.log"));
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_path;
};

QTEST_GUILESS_MAIN(TestJournal)
#include "tst_journal.moc"
