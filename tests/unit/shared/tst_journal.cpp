// SPDX-License-Identifier: Apache-2.0
#include "shared/io/bytes.h"
#include "shared/io/file.h"
#include "shared/journal/journal.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"
#include "tests/unit/shared/small_disk.h"

#include <QTemporaryDir>

using namespace rm;

namespace {

std::vector<Record> readFrom(std::span<const std::byte> bytes, uint64_t cursor = 0) {
    JournalScanner scanner("test.rmj", cursor);
    scanner.feed(bytes);
    std::vector<Record> records;
    auto record = scanner.next();
    for (; record && *record; record = scanner.next())
        records.push_back(**record);
    return records;
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

    void everyFlippedBitIsAnErrorOrAPrefix() {
        const auto file = example::journalFile();
        for (size_t bit = 0; bit < file.size() * 8; ++bit)
            QVERIFY2(isPrefix(readFrom(test::withBitFlipped(file, bit)), example::records()),
                     qPrintable(QString::number(bit)));
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

    void unreadableRecordEndsTheScan() {
        auto file = example::journalFile();
        appendFrame(file, example::bytesOf(std::string("not a record")));
        JournalScanner scanner("x.rmj", 0);
        scanner.feed(file);
        auto record = scanner.next();
        while (record && *record)
            record = scanner.next();
        RM_FAILS(record, ErrorCode::kCorrupt, "x.rmj");
        RM_FAILS(scanner.next(), ErrorCode::kCorrupt, "x.rmj");
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
        const SmallDisk disk;
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
        QCOMPARE(rankJournalName(3), std::string("rank-00003.rmj"));
        QCOMPARE(nodeJournalName(1), std::string("node-00001.rmj"));
        QCOMPARE(rankLogName(12), std::string("rank-00012.log"));
        QCOMPARE(boardName(0), std::string("rank-00000"));
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_path;
};

QTEST_GUILESS_MAIN(TestJournal)
#include "tst_journal.moc"
