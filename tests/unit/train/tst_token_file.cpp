// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "tests/unit/train/data_folder.h"
#include "trainer/train/data/file_hash_cache.h"
#include "trainer/train/data/text/corpus.h"

#include <QObject>
#include <QTest>

#include <algorithm>

using namespace rm;
using namespace rm::test;

namespace {

constexpr const char* kOldFile = "/usr/share/common-licenses/GPL-3";
constexpr const char* kOtherOldFile = "/usr/share/common-licenses/GPL-2";

} // namespace

/// Token shards, and what is remembered of files.
class TestTokenFile : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void shardsComeBack_data() {
        QTest::addColumn<int>("vocabSize");
        QTest::newRow("two bytes") << 65536;
        QTest::newRow("four bytes") << 65537;
    }

    void shardsComeBack() {
        QFETCH(int, vocabSize);
        const Folder folder;
        const std::vector<int32_t> tokens{0, 1, 65535, vocabSize - 1, 7};
        const auto file = TokenFile::open(shard(folder, "x.rmtok", tokens, vocabSize));
        QVERIFY(file);
        QCOMPARE(file->vocabSize(), int64_t{vocabSize});
        const auto back = readAll(TokenStream({*file, *file}));
        QCOMPARE(back.size(), size_t{10});
        QVERIFY(std::equal(tokens.begin(), tokens.end(), back.begin() + 5));
        QVERIFY(QDir(QString::fromStdString(folder.path())).entryList({"*tmp*"}).isEmpty());
    }

    void shardCutAnywhereIsRefused() {
        const Folder folder;
        const std::string path = shard(folder, "x.rmtok", {1, 2, 3}, 10);
        QFile file(QString::fromStdString(path));
        for (qint64 size = file.size() - 1; size >= 0; --size) {
            QVERIFY(file.resize(size));
            const auto opened = TokenFile::open(path);
            QVERIFY(!opened);
            QCOMPARE(opened.error().code, ErrorCode::kCorrupt);
        }
    }

    void aShardThatWasNotFetchedIsSaidSo() {
        const Folder folder;
        const auto opened = TokenFile::open(folder.write(
            "x.rmtok", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n"));
        QVERIFY(!opened);
        QVERIFY2(opened.error().message.find("x.rmtok: it is a pointer of Git LFS") !=
                     std::string::npos,
                 opened.error().message.c_str());
    }

    void shardFromTheFutureIsRefused() {
        const Folder folder;
        const std::string path = shard(folder, "x.rmtok", {1, 2, 3}, 10);
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::ReadWrite) && file.seek(8));
        file.putChar(2);
        file.close();
        QCOMPARE(TokenFile::open(path).error().code, ErrorCode::kTooNew);
    }

    void shardOfVersionOneReads_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<int>("vocabSize");
        QTest::addColumn<QList<int>>("tokens");
        QTest::newRow("two bytes") << "tokens-v1.rmtok" << 50257 << QList{0, 1, 50256, 7, 258};
        QTest::newRow("four bytes") << "tokens-wide-v1.rmtok" << 100000 << QList{99999, 0, 65536};
    }

    void shardOfVersionOneReads() {
        QFETCH(QString, name);
        QFETCH(int, vocabSize);
        QFETCH(QList<int>, tokens);
        const QString golden =
            qEnvironmentVariable("RINGMASTER_SOURCE") + "/tests/data/train/" + name;
        const auto file = TokenFile::open(golden.toStdString());
        QVERIFY2(file, file ? "" : file.error().message.c_str());
        QCOMPARE(file->vocabSize(), int64_t{vocabSize});
        const auto read = readAll(TokenStream({*file}));
        QVERIFY(std::equal(read.begin(), read.end(), tokens.begin(), tokens.end()));
        // And is what is written today.
        const Folder folder;
        const std::string again =
            shard(folder, "x.rmtok", {tokens.begin(), tokens.end()}, vocabSize);
        QCOMPARE(*readText(again), *readText(golden.toStdString()));
    }

    void tokenBeyondTheVocabularyIsNamed_data() {
        QTest::addColumn<int>("vocabSize");
        QTest::newRow("two bytes") << 1000;
        QTest::newRow("four bytes") << 70000;
    }

    void tokenBeyondTheVocabularyIsNamed() {
        QFETCH(int, vocabSize);
        const Folder folder;
        const std::vector<int32_t> tokens((1 << 25) + 5, vocabSize - 1); // several threads' worth
        const std::string path = shard(folder, "x.rmtok", tokens, vocabSize);
        QVERIFY(checkTokens(path));
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::ReadWrite));
        const qint64 width = vocabSize > 65536 ? 4 : 2;
        const qint64 begin = file.size() - width * static_cast<qint64>(tokens.size());
        for (const size_t position : {tokens.size() - 1, size_t{1} << 24, size_t{17}}) {
            QVERIFY(file.seek(begin + width * static_cast<qint64>(position)));
            QCOMPARE(file.write(reinterpret_cast<const char*>(&vocabSize), width), width);
            QVERIFY(file.flush());
            const auto checked = checkTokens(path);
            QVERIFY(!checked);
            QCOMPARE(checked.error().code, ErrorCode::kCorrupt);
            for (const std::string& part : {path, "token " + std::to_string(vocabSize),
                                            "position " + std::to_string(position)})
                QVERIFY2(checked.error().message.find(part) != std::string::npos,
                         checked.error().message.c_str());
        }
    }

    void fileSeenBeforeIsNotReadAgain() {
        const Folder folder;
        const std::string notebook = folder.path("known.json");
        FileHashCache first(notebook);
        const auto hash = first.sha256(kOldFile);
        QVERIFY(hash);
        QCOMPARE(*hash, *sha256HexOfFile(kOldFile));
        QVERIFY(first.once(kOldFile, "check", [] { return Result<void>(); }));
        QCOMPARE(first.filesRead(), int64_t{2});
        first.save();
        FileHashCache second(notebook);
        QCOMPARE(*second.sha256(kOldFile), *hash);
        QVERIFY(second.once(kOldFile, "check", [] { return fail(ErrorCode::kCorrupt, ""); }));
        QCOMPARE(second.filesRead(), int64_t{0});
        // Another check is another matter.
        QVERIFY(!second.once(kOldFile, "other", [] { return fail(ErrorCode::kCorrupt, ""); }));
    }

    void checkThatFailedIsMadeAgain() {
        const Folder folder;
        FileHashCache first(folder.path("known.json"));
        QVERIFY(!first.once(kOldFile, "check", [] { return fail(ErrorCode::kCorrupt, ""); }));
        first.save();
        FileHashCache second(folder.path("known.json"));
        QVERIFY(second.once(kOldFile, "check", [] { return Result<void>(); }));
        QCOMPARE(second.filesRead(), int64_t{1});
    }

    void anotherFileUnderTheSameNameIsRead() {
        const Folder folder;
        const QString link = QString::fromStdString(folder.path("link"));
        QVERIFY(QFile::link(QString::fromLatin1(kOldFile), link));
        FileHashCache first(folder.path("known.json"));
        const auto before = first.sha256(link.toStdString());
        first.save();
        QVERIFY(QFile::remove(link) && QFile::link(QString::fromLatin1(kOtherOldFile), link));
        FileHashCache second(folder.path("known.json"));
        QVERIFY(*second.sha256(link.toStdString()) != *before);
        QCOMPARE(second.filesRead(), int64_t{1});
    }

    void fileJustWrittenIsNotTrusted() {
        const Folder folder;
        const std::string file = folder.write("fresh.txt", "text");
        for (int start = 0; start < 2; ++start) {
            FileHashCache known(folder.path("known.json"));
            QVERIFY(known.sha256(file));
            QCOMPARE(known.filesRead(), int64_t{1});
            known.save();
        }
    }

    void damagedNotebookIsEmpty() {
        const Folder folder;
        for (const char* text : {"", "{", "[1]", "{\"version\":2}",
                                 "{\"version\":1,\"files\":{\"/x\":{\"identity\":[1]}}}"}) {
            FileHashCache known(folder.write("known.json", text));
            QVERIFY(known.sha256(kOldFile));
            QCOMPARE(known.filesRead(), int64_t{1});
        }
    }
};

QTEST_GUILESS_MAIN(TestTokenFile)
#include "tst_token_file.moc"
