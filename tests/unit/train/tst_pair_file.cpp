// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/pair_folder.h"

#include <QObject>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

const PairFileInfo kTexts{1, 0, 0, "en", "it"};

std::string writeTexts(const PairFolder& folder, const char* name) {
    auto writer = PairFileWriter::create(folder.path(name), kTexts);
    static_cast<void>(writer->append("File not found", "File non trovato"));
    static_cast<void>(writer->append("Quality", "Qualità"));
    static_cast<void>(writer->finish());
    return folder.path(name);
}

QByteArray contentOf(const std::string& path) {
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

std::vector<int64_t> idsOf(const PairFile& file, int64_t side) {
    std::vector<int64_t> ids(static_cast<size_t>(file.length(side)));
    return file.ids(side, ids.data()) ? ids : std::vector<int64_t>{};
}

std::string goldenFile() {
    return qEnvironmentVariable("RINGMASTER_SOURCE").toStdString() +
           "/tests/data/train/pairs-v1.rmpairs";
}

} // namespace

class TestPairFile : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void textsComeBack() {
        const PairFolder folder;
        const auto file = PairFile::open(writeTexts(folder, "x.rmpairs"));
        QVERIFY2(file, file ? "" : file.error().message.c_str());
        QCOMPARE(file->info(), kTexts);
        QCOMPARE(file->count(), int64_t{2});
        QCOMPARE(file->text(1), std::string_view("File non trovato"));
        QCOMPARE(file->text(2), std::string_view("Quality"));
        QCOMPARE(folder.files(), QStringList{"x.rmpairs"});
    }

    void goldenFileIsReadAndWrittenTheSame() {
        const auto file = PairFile::open(goldenFile());
        QVERIFY2(file, file ? "" : file.error().message.c_str());
        QCOMPARE(file->info(), kTexts);
        QCOMPARE(file->text(3), std::string_view("Qualità"));
        const PairFolder folder;
        QCOMPARE(contentOf(writeTexts(folder, "x.rmpairs")), contentOf(goldenFile()));
    }

    void idsComeBack_data() {
        QTest::addColumn<int>("itemBytes");
        QTest::addColumn<int>("largest");
        QTest::newRow("two bytes") << 2 << 65535;
        QTest::newRow("four bytes") << 4 << 70000;
    }

    void idsComeBack() {
        QFETCH(int, itemBytes);
        QFETCH(int, largest);
        const PairFolder folder;
        auto writer =
            PairFileWriter::create(folder.path("x"), {itemBytes, largest + 1, largest + 1, "", ""});
        QVERIFY(writer->append(Ids{largest, 0}, Ids{7}));
        QVERIFY(writer->append(Ids{}, Ids{1, 2, 3}));
        QVERIFY(writer->finish());
        const auto file = PairFile::open(folder.path("x"));
        QVERIFY(file);
        QCOMPARE(idsOf(*file, 0), (std::vector<int64_t>{largest, 0}));
        QCOMPARE(idsOf(*file, 2), std::vector<int64_t>{});
        QCOMPARE(idsOf(*file, 3), (std::vector<int64_t>{1, 2, 3}));
    }

    void idBeyondTheVocabularyIsRefused() {
        const PairFolder folder;
        auto writer = PairFileWriter::create(folder.path("x"), {2, 10, 20, "", ""});
        QVERIFY(writer->append(Ids{9}, Ids{19}) && writer->append(Ids{10}, Ids{20}));
        QVERIFY(writer->finish());
        const auto file = PairFile::open(folder.path("x"));
        int64_t id = 0;
        QVERIFY(file->ids(0, &id) && file->ids(1, &id));
        for (const int64_t side : {2, 3}) {
            const auto read = file->ids(side, &id);
            QVERIFY(!read);
            QCOMPARE(read.error().code, ErrorCode::kCorrupt);
        }
    }

    void shardCutAnywhereIsRefused() {
        const PairFolder folder;
        const std::string path = writeTexts(folder, "x.rmpairs");
        QFile file(QString::fromStdString(path));
        for (qint64 size = file.size() - 1; size >= 0; --size) {
            QVERIFY(file.resize(size));
            const auto opened = PairFile::open(path);
            QVERIFY(!opened);
            QCOMPARE(opened.error().code, ErrorCode::kCorrupt);
            QVERIFY(opened.error().message.find(path) != std::string::npos);
        }
    }

    void everyFlippedBitIsSeen() {
        const PairFolder folder;
        const QByteArray whole = contentOf(writeTexts(folder, "x.rmpairs"));
        for (int bit = 0; bit < 8 * whole.size(); ++bit) {
            QByteArray flipped = whole;
            flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
            const auto bytes = std::as_bytes(
                std::span<const char>(flipped.constData(), static_cast<size_t>(flipped.size())));
            QVERIFY2(!parsePairFile(bytes, "x"), qPrintable(QString("bit %1").arg(bit)));
        }
    }

    void newerVersionIsRefusedByName() {
        const PairFolder folder;
        QByteArray bytes = contentOf(writeTexts(folder, "x.rmpairs"));
        bytes[8] = 2;
        const auto opened = PairFile::open(folder.write("y.rmpairs", bytes.toStdString()));
        QCOMPARE(opened.error().code, ErrorCode::kTooNew);
    }

    void aShardThatWasNotFetchedIsSaidSo() {
        const PairFolder folder;
        const std::string path =
            folder.write("x.rmpairs", "version https://git-lfs.github.com/spec/v1\n"
                                      "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1\n"
                                      "size 12345\n");
        for (const auto& said :
             {PairFile::open(path).error().message, PairFile::peek(path).error().message})
            QVERIFY2(said.find("x.rmpairs: it is a pointer of Git LFS") != std::string::npos,
                     said.c_str());
    }

    void missingShardIsNotFound() {
        const auto opened = PairFile::open("/nowhere/x.rmpairs");
        QCOMPARE(opened.error().code, ErrorCode::kNotFound);
        QVERIFY(opened.error().message.find("/nowhere/x.rmpairs") != std::string::npos);
    }

    void unfinishedShardLeavesNothing() {
        const PairFolder folder;
        {
            auto writer = PairFileWriter::create(folder.path("x"), kTexts);
            QVERIFY(writer->append("a", "b"));
        }
        QVERIFY(folder.files().isEmpty());
    }

    void emptyShardIsFine() {
        const PairFolder folder;
        QVERIFY(PairFileWriter::create(folder.path("x"), kTexts)->finish());
        const auto file = PairFile::open(folder.path("x"));
        QVERIFY(file);
        QCOMPARE(file->count(), int64_t{0});
    }
};

QTEST_GUILESS_MAIN(TestPairFile)
#include "tst_pair_file.moc"
