// SPDX-License-Identifier: Apache-2.0
#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/io/random_hex.h"
#include "tests/support/small_disk.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <sys/stat.h>
#include <unistd.h>

using namespace rm;

class TestFile : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = m_folder->filePath("file").toStdString();
    }

    void textSurvives() {
        for (const std::string& text : {std::string(), std::string("a\0b\n", 4),
                                        std::string(64 << 10, 'x'), std::string(200001, 'y')}) {
            RM_OK(writeFileAtomically(m_path, text));
            QVERIFY(*readFile(m_path) == text);
        }
    }

    void nothingIsLeftBesideTheFile() {
        RM_OK(writeFileAtomically(m_path, "a"));
        RM_OK(writeFileAtomically(m_path, "b"));
        QCOMPARE(QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden), QStringList{"file"});
    }

    void whereALinkLeadsIsWrittenOnlyWhereThatIsAsked() {
        const QDir folder(m_folder->path());
        QVERIFY(folder.mkpath("dotfiles/deep"));
        const auto at = [&](const char* name) { return folder.filePath(name).toStdString(); };
        RM_OK(writeFileAtomically(at("dotfiles/nodes.toml"), "old"));
        QCOMPARE(::symlink("../nodes.toml", at("dotfiles/deep/link").c_str()), 0);
        QCOMPARE(::symlink("dotfiles/deep/link", m_path.c_str()), 0);
        QCOMPARE(::symlink("dotfiles/new", at("dangling").c_str()), 0);
        QCOMPARE(::symlink("nowhere/new", at("lost").c_str()), 0);
        RM_OK(writeFileAtomically(behindLinks(m_path), "new"));
        RM_OK(writeFileAtomically(behindLinks(at("dangling")), "first"));
        RM_FAILS(writeFileAtomically(behindLinks(at("lost")), "x"), ErrorCode::kNotFound,
                 "nowhere/new");
        for (const char* link : {"file", "dotfiles/deep/link", "dangling", "lost"})
            QVERIFY2(QFileInfo(folder.filePath(link)).isSymLink(), link);
        QCOMPARE(*readFile(at("dotfiles/nodes.toml")), std::string("new"));
        QCOMPARE(*readFile(at("dotfiles/new")), std::string("first"));
        QCOMPARE(QDir(folder.filePath("dotfiles")).entryList(QDir::Files | QDir::Hidden),
                 (QStringList{"new", "nodes.toml"}));
        RM_OK(writeFileAtomically(m_path, "own")); // else what another put there would be written
        QVERIFY(!QFileInfo(folder.filePath("file")).isSymLink());
        QCOMPARE(*readFile(at("dotfiles/nodes.toml")), std::string("new"));
    }

    void limitIsInclusive() {
        RM_OK(writeFileAtomically(m_path, std::string(100, 'x')));
        RM_OK(readFile(m_path, 100));
        RM_FAILS(readFile(m_path, 99), ErrorCode::kInvalid, "larger than 99 bytes");
        RM_FAILS(readFile(m_path, 0), ErrorCode::kInvalid, "larger than 0 bytes");
    }

    void filesWithoutASizeAreRead() { QVERIFY(!readFile("/proc/self/status")->empty()); }

    void endlessFilesAreBounded() {
        RM_FAILS(readFile("/dev/zero", 1000), ErrorCode::kInvalid, "larger than 1000 bytes");
    }

    void errorsNamePathAndCause() {
        RM_FAILS(readFile(m_path), ErrorCode::kNotFound, m_path + ": No such file or directory");
        RM_FAILS(readFile(m_folder->path().toStdString()), ErrorCode::kInvalid, "Is a directory");
        RM_FAILS(writeFileAtomically(m_path + "/x/y", ""), ErrorCode::kNotFound,
                 "write " + m_path + "/x/y: No such file or directory");
        RM_FAILS(sha256HexOfFile(m_path), ErrorCode::kNotFound, m_path);
        RM_FAILS(syncFile(m_path), ErrorCode::kNotFound, m_path);
        RM_FAILS(syncFolder(m_path), ErrorCode::kNotFound, m_path);
    }

    void fullDiskKeepsTheOldText() {
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        const std::string path = disk.path() + "/file";
        RM_OK(writeFileAtomically(path, "old"));
        disk.fill();
        RM_FAILS(writeFileAtomically(path, std::string(10000, 'n')), ErrorCode::kExhausted, path);
        QCOMPARE(*readFile(path), std::string("old"));
        QCOMPARE(QDir(QString::fromStdString(disk.path())).entryList(QDir::Files | QDir::Hidden),
                 (QStringList{"file", "filler"}));
    }

    void aQuotaIsAFullDisk() {
        QVERIFY(isDiskFull(ENOSPC) && isDiskFull(EDQUOT));
        QVERIFY(!isDiskFull(EMFILE) && !isDiskFull(EACCES) && !isDiskFull(0));
        for (const int full : {ENOSPC, EDQUOT})
            QCOMPARE(failErrno("write /x", full).value().code, ErrorCode::kExhausted);
    }

    void whetherAFileFitsIsTried() {
        const std::string folder = m_folder->path().toStdString();
        QCOMPARE(whyNotWritten(folder, 4096), 0);
        QVERIFY(QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden).isEmpty());
        QCOMPARE(whyNotWritten(folder + "/gone", 1), ENOENT);
        const OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        QCOMPARE(whyNotWritten(disk.path(), 64 << 10), 0);
        QCOMPARE(whyNotWritten(disk.path(), 512 << 10), ENOSPC); // the disk is smaller
        QVERIFY(QDir(QString::fromStdString(disk.path()))
                    .entryList(QDir::Files | QDir::Hidden)
                    .isEmpty());
        disk.fill();
        QCOMPARE(whyNotWritten(disk.path(), 4096), ENOSPC);
    }

    void foldersAreMadeAsDeepAsNeeded() {
        const std::string deep = m_folder->filePath("a/b/c").toStdString();
        RM_OK(makeFolders(deep));
        RM_OK(makeFolders(deep));
        RM_OK(makeFolders(deep + "/"));
        struct stat info {};
        QCOMPARE(::stat(deep.c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777, 0700u);
    }

    void fileInTheWayOfAFolderIsAnError() {
        RM_OK(writeFileAtomically(m_path, ""));
        QVERIFY(!makeFolders(m_path));
        QVERIFY(!makeFolders(m_path + "/x"));
    }

    void hashIsSha256() {
        const std::string abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        QCOMPARE(sha256Hex(example::bytesOf(std::string("abc"))), abc);
        QCOMPARE(sha256Hex({}), std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca49599"
                                            "1b7852b855"));
        QVERIFY(isSha256(abc));
        QVERIFY(!isSha256(abc.substr(1)) && !isSha256(std::string(64, 'g')));
    }

    void hashOfAFileIsTheHashOfItsBytes() {
        for (const size_t size : {size_t(0), size_t(1), size_t(1) << 20, (size_t(1) << 20) + 1}) {
            const std::string text(size, 'z');
            RM_OK(writeFileAtomically(m_path, text));
            QCOMPARE(*sha256HexOfFile(m_path), sha256Hex(example::bytesOf(text)));
        }
    }

    void clocksRun() {
        const int64_t year2020 = 1577836800LL * 1'000'000'000;
        QVERIFY(wallNowNs() > year2020);
        const int64_t before = monotonicNowNs();
        QVERIFY(monotonicNowNs() >= before);
    }

    void randomHexHasEveryDigitAndNeverRepeats() {
        QCOMPARE(randomHex(0), std::string());
        QCOMPARE(randomHex(7).size(), size_t(7)); // odd ones, too
        const std::string one = randomHex(4096), other = randomHex(4096);
        QVERIFY(one != other);
        QCOMPARE(one.find_first_not_of("0123456789abcdef"), std::string::npos);
        for (const char digit : std::string("0123456789abcdef"))
            QVERIFY(one.find(digit) != std::string::npos);
    }

    void onlyUtf8IsUtf8() {
        for (const char* text : {"", "abc", "é€😀", "\n\x01"})
            QVERIFY(isUtf8(text));
        for (const char* text : {"\xff", "\xc0\xaf", "\xed\xa0\x80", "a\xc3", "\xf5\x80\x80\x80"})
            QVERIFY(!isUtf8(text));
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_path;
};

QTEST_GUILESS_MAIN(TestFile)
#include "tst_file.moc"
