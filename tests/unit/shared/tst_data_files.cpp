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
        QCOMPARE(isLfsPointer({head.data(), size_t(head.size())}), why == "git lfs pull");
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_GUILESS_MAIN(TestDataFiles)
#include "tst_data_files.moc"
