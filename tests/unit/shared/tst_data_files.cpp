// SPDX-License-Identifier: Apache-2.0
#include "shared/io/data_files.h"
#include "tests/unit/shared/shared_test.h"

#include <filesystem>
#include <fstream>

using namespace rm;

namespace fs = std::filesystem;

class TestDataFiles : public QObject {
    Q_OBJECT
    using Names = std::vector<std::string>;

    std::string at(const std::string& name) const {
        return m_folder->path().toStdString() + "/" + name;
    }
    void touch(const std::string& name) const {
        fs::create_directories(fs::path(at(name)).parent_path());
        std::ofstream(at(name)) << "x";
    }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void hiddenNamesAreLeftOut() {
        for (const char* name : {"a", "b/c", ".hidden", ".git/d", "b/.e/f"})
            touch(name);
        QCOMPARE(*dataFiles(at("")), (Names{"a", "b/c"}));
    }

    void linksAreFollowedOnceEach() {
        touch("data/a/one");
        touch("far/two");
        fs::create_directory_symlink(at("far"), at("data/far"));
        fs::create_symlink(at("far/two"), at("data/two"));
        // What is found anyway is not found twice, and circles end.
        fs::create_directory_symlink(at("data"), at("data/a/up"));
        fs::create_directory_symlink(at("data/a"), at("far/other"));
        fs::create_symlink(at("data/a/one"), at("data/again"));
        fs::create_directory_symlink(at("far"), at("far/round"));
        QCOMPARE(*dataFiles(at("data")), (Names{"a/one", "far/two", "two"}));
    }

    /// As pictures are read: a name more is a picture more, in another class or once more in its
    /// own.
    void namesThatAllCountAreFollowedAsOftenAsTheyAreThere() {
        touch("data/a/one");
        touch("far/two");
        fs::create_directories(at("data/b"));
        fs::create_symlink("../a/one", at("data/b/alias"));
        fs::create_symlink("one", at("data/a/twice"));
        fs::create_symlink(at("far/two"), at("data/b/two"));
        fs::create_symlink(at("far/two"), at("data/b/two-again"));
        fs::create_directory_symlink("../a", at("data/b/all-of-a"));
        // Circles end all the same.
        fs::create_directory_symlink("..", at("data/a/up"));
        fs::create_directory_symlink("../b", at("data/a/b"));
        QCOMPARE(*dataFiles(at("data"), Repeated::kAlways),
                 (Names{"a/b/alias", "a/b/two", "a/b/two-again", "a/one", "a/twice", "b/alias",
                        "b/all-of-a/one", "b/all-of-a/twice", "b/two", "b/two-again"}));
        QCOMPARE(*dataFiles(at("data")), (Names{"a/one", "b/two"}));
    }

    void aFolderIsNotWalkedFromWithinItself() {
        touch("above/far/two");
        fs::create_directory_symlink(at("above"), at("above/far/round"));
        fs::create_directories(at("data"));
        fs::create_directory_symlink(at("above/far"), at("data/far"));
        for (const Repeated repeated : {Repeated::kOnce, Repeated::kAlways})
            QCOMPARE(*dataFiles(at("data"), repeated), (Names{"far/two"}));
    }

    void whatIsHiddenBelowIsFoundByItsLink() {
        touch("data/.git/annex/objects/k1");
        touch("data/b");
        fs::create_symlink(".git/annex/objects/k1", at("data/a"));
        QCOMPARE(*dataFiles(at("data")), (Names{"a", "b"}));
    }

    void foldersThatLinkToEachOtherAreEnteredOnce() {
        for (int i = 0; i < 9; ++i)
            touch("far/p" + std::to_string(i) + "/file");
        for (int i = 0; i < 9; ++i)
            for (int j = 0; j < 9; ++j)
                fs::create_directory_symlink(
                    at("far/p" + std::to_string(j)),
                    at("far/p" + std::to_string(i) + "/l" + std::to_string(j)));
        fs::create_directories(at("data"));
        fs::create_directory_symlink(at("far/p0"), at("data/p0"));
        QCOMPARE(dataFiles(at("data"))->size(), size_t(9));
        // There are a million ways through them.
        const auto always = dataFiles(at("data"), Repeated::kAlways);
        QVERIFY(!always);
        QCOMPARE(always.error().code, ErrorCode::kInvalid);
        QVERIFY2(always.error().message.find("linked folders lead to each other") !=
                     std::string::npos,
                 always.error().message.c_str());
    }

    void aLinkThatLeadsNowhereIsNamed() {
        touch("a");
        fs::create_symlink("annex/objects/b", at("b"));
        const auto files = dataFiles(at(""));
        QCOMPARE(files.error().code, ErrorCode::kNotFound);
        QVERIFY2(files.error().message.find("/b: it is a link that leads nowhere") !=
                     std::string::npos,
                 files.error().message.c_str());
    }

    void whoeverVisitsMayEnd() {
        for (const char* name : {"a", "b/c", "b/d"})
            touch(name);
        int visited = 0;
        RM_OK(visitDataFiles(at(""), [&](const std::string&) { return ++visited < 2; }));
        QCOMPARE(visited, 2);
        QVERIFY(!dataFiles(at("missing")));
    }

    void whatIsNoTextIsSaid_data() {
        QTest::addColumn<QByteArray>("head");
        QTest::addColumn<QString>("why");
        QTest::newRow("text") << QByteArray("Whose woods\n\xc3\xa4") << "";
        QTest::newRow("nothing") << QByteArray() << "";
        QTest::newRow("gzip") << QByteArray("\x1f\x8b\x08") << "gzip";
        QTest::newRow("zstd") << QByteArray("\x28\xb5\x2f\xfd") << "zstd";
        QTest::newRow("zip") << QByteArray("PK\x03\x04") << "zip";
        QTest::newRow("UTF-16") << QByteArray("\xff\xfe"
                                              "a\0b\0",
                                              6)
                                << "UTF-16";
        QTest::newRow("UTF-16 without a mark") << QByteArray("a\0b\0", 4) << "bytes of zero";
        QTest::newRow("Parquet") << QByteArray("PAR1\x15") << "Parquet";
        QTest::newRow("Git LFS") << QByteArray("version https://git-lfs.github.com/spec/v1\noid")
                                 << "git lfs pull";
    }

    void whatIsNoTextIsSaid() {
        QFETCH(QByteArray, head);
        QFETCH(QString, why);
        const QString said = QString::fromStdString(whyNotText({head.data(), size_t(head.size())}));
        QCOMPARE(said.isEmpty(), why.isEmpty());
        QVERIFY2(said.contains(why), qPrintable(said));
    }

    void whatWasNotFetchedIsSaid_data() {
        QTest::addColumn<QByteArray>("head");
        QTest::addColumn<QString>("cure");
        QTest::newRow("Git LFS")
            << QByteArray("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1\n")
            << "git lfs pull";
        QTest::newRow("Git LFS, as it was called first")
            << QByteArray("version https://hawser.github.com/spec/v1\noid") << "git lfs pull";
        QTest::newRow("git-annex")
            << QByteArray("/annex/objects/SHA256E-s1--4d7a.pt\n") << "git annex get";
        QTest::newRow("a file") << QByteArray("PK\x03\x04") << "";
        QTest::newRow("a text") << QByteArray("version 1") << "";
    }

    void whatWasNotFetchedIsSaid() {
        QFETCH(QByteArray, head);
        QFETCH(QString, cure);
        const std::string_view begin(head.data(), size_t(head.size()));
        const QString said = QString::fromStdString(whyNotFetched(begin));
        QCOMPARE(said.isEmpty(), cure.isEmpty());
        QVERIFY2(said.contains(cure), qPrintable(said));
        QCOMPARE(whyNotOfItsKind(begin, "not a shard"),
                 cure.isEmpty() ? std::string("not a shard") : said.toStdString());
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestDataFiles)
#include "tst_data_files.moc"
