// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/bootstrap.h"
#include "app/core/deploy/deploy.h"
#include "app/core/deploy/hash_cache.h"
#include "shared/io/data_files.h"
#include "shared/io/file.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>

using namespace rm;

class LocalTreeTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }
    void folderKeepsItsName();
    void whatIsStagedIsWhatTheTrainerReads();
    void whatIsStagedOfPicturesIsWhatTheTrainerReads();
    void aTextOfSeveralNamesIsStagedOnce();
    void equalNamesAreKeptApart();
    void aCatalogueKeepsTheFolderOfItsLanguage();
    void whatSeveralPathsLeadToIsStagedAsOftenAsItIsRead();
    void missingPathIsNamed();
    void emptyFolderIsRefused();
    void specialFileIsRefused();
    void hostileNameIsRefused();

    void hashIsComputedOnce();
    void changedFileIsHashedAgain();
    void damagedCacheIsIgnored();
    void cacheSurvivesTheProcess();

    void platformsAreJudged_data();
    void platformsAreJudged();

private:
    std::string path(const QString& name) const { return m_dir->filePath(name).toStdString(); }
    void write(const QString& name, const std::string& text);
    void makeOld(const QString& name);

    std::unique_ptr<QTemporaryDir> m_dir;
};

namespace {

QStringList namesOf(const Result<LocalTree>& tree) {
    QStringList names;
    for (const LocalTree::File& file : tree->files)
        names << QString::fromStdString(file.path);
    return names;
}

} // namespace

void LocalTreeTest::write(const QString& name, const std::string& text) {
    QDir().mkpath(QFileInfo(m_dir->filePath(name)).path());
    QVERIFY(writeFileAtomically(path(name), text));
}

/// As a file that nobody touched for an hour: only such are remembered.
void LocalTreeTest::makeOld(const QString& name) {
    const time_t then = time(nullptr) - 3600;
    const timespec times[2] = {{then, 0}, {then, 0}};
    QCOMPARE(::utimensat(AT_FDCWD, path(name).c_str(), times, 0), 0);
}

void LocalTreeTest::folderKeepsItsName() {
    write("corpus/b.txt", "b");
    write("corpus/deep/a.txt", "a");
    const auto tree = dataTree({path("corpus/")});
    QVERIFY(tree);
    QCOMPARE(tree->kind, std::string("data"));
    QCOMPARE(namesOf(tree), QStringList({"corpus/b.txt", "corpus/deep/a.txt"}));
    QCOMPARE(tree->files[0].local, path("corpus/b.txt"));
}

void LocalTreeTest::whatIsStagedIsWhatTheTrainerReads() {
    write("corpus/a.txt", "a");
    write("corpus/.git/config", "no data");
    write("elsewhere/deep/b.txt", "b");
    QVERIFY(QFile::link(m_dir->filePath("corpus/a.txt"), m_dir->filePath("corpus/link.txt")));
    QVERIFY(QFile::link(m_dir->filePath("corpus"), m_dir->filePath("corpus/circle")));
    QVERIFY(QFile::link(m_dir->filePath("elsewhere"), m_dir->filePath("corpus/linked")));
    const auto tree = dataTree({path("corpus")});
    QVERIFY2(tree, tree ? "" : tree.error().message.c_str());
    QCOMPARE(namesOf(tree), QStringList({"corpus/a.txt", "corpus/linked/deep/b.txt"}));
    const auto read = dataFiles(path("corpus"));
    QVERIFY(read);
    QCOMPARE(read->size(), tree->files.size());
    QVERIFY(QFile::link("/nonexistent", m_dir->filePath("corpus/dangling")));
    const auto broken = dataTree({path("corpus")});
    QCOMPARE(broken.error().code, ErrorCode::kNotFound);
    QVERIFY2(broken.error().message.find("dangling: it is a link that leads nowhere") !=
                 std::string::npos,
             broken.error().message.c_str());
}

/// Each name counts, so that a picture may be of two classes or twice of one.
void LocalTreeTest::whatIsStagedOfPicturesIsWhatTheTrainerReads() {
    write("all/cat/a.png", "a");
    write("all/dog/b.png", "b");
    QVERIFY(QFile::link(m_dir->filePath("all/cat/a.png"), m_dir->filePath("all/dog/a.png")));
    QVERIFY(QFile::link(m_dir->filePath("all/dog/b.png"), m_dir->filePath("all/dog/b-again.png")));
    QVERIFY(QFile::link(m_dir->filePath("all/cat"), m_dir->filePath("all/dog/cats")));
    QVERIFY(QFile::link(m_dir->filePath("all"), m_dir->filePath("all/dog/circle")));
    const auto tree = dataTree({path("all")}, Repeated::kAlways);
    QVERIFY2(tree, tree ? "" : tree.error().message.c_str());
    QCOMPARE(namesOf(tree), QStringList({"all/cat/a.png", "all/dog/a.png", "all/dog/b-again.png",
                                         "all/dog/b.png", "all/dog/cats/a.png"}));
    const auto read = dataFiles(path("all"), Repeated::kAlways);
    QVERIFY(read);
    QStringList names;
    for (const std::string& name : *read)
        names << QString::fromStdString("all/" + name);
    QCOMPARE(namesOf(tree), names);
}

/// By a linked folder and by a link of its own; the trainer reads it once, and would read copies of
/// it each for itself.
void LocalTreeTest::aTextOfSeveralNamesIsStagedOnce() {
    write("elsewhere/a.txt", "a");
    QDir().mkpath(m_dir->filePath("corpus"));
    QVERIFY(QFile::link(m_dir->filePath("elsewhere"), m_dir->filePath("corpus/all")));
    QVERIFY(QFile::link(m_dir->filePath("elsewhere/a.txt"), m_dir->filePath("corpus/a.txt")));
    QCOMPARE(namesOf(dataTree({path("corpus")})), QStringList({"corpus/a.txt"}));
}

void LocalTreeTest::equalNamesAreKeptApart() {
    write("one/corpus/a.txt", "a");
    write("two/corpus/a.txt", "b");
    const auto tree = dataTree({path("one/corpus"), path("two/corpus")});
    QVERIFY(tree);
    QCOMPARE(namesOf(tree), QStringList({"2/corpus/a.txt", "corpus/a.txt"}));
}

/// The trainer tells the language of a catalogue by the folders above it.
void LocalTreeTest::aCatalogueKeepsTheFolderOfItsLanguage() {
    write("a/it/LC_MESSAGES/x.mo", "x");
    write("a/de/LC_MESSAGES/x.mo", "x");
    write("b/it/LC_MESSAGES/y.mo", "y");
    const std::vector<std::string> paths{path("a/it/LC_MESSAGES"), path("a/de/LC_MESSAGES/x.mo"),
                                         path("b/it/LC_MESSAGES/")};
    QCOMPARE(stagedNames(paths), (std::vector<std::string>{"it/LC_MESSAGES", "de/LC_MESSAGES/x.mo",
                                                           "2/it/LC_MESSAGES"}));
    QCOMPARE(namesOf(dataTree(paths)),
             QStringList({"2/it/LC_MESSAGES/y.mo", "de/LC_MESSAGES/x.mo", "it/LC_MESSAGES/x.mo"}));
}

/// Folders of pictures are read each by itself, texts once.
void LocalTreeTest::whatSeveralPathsLeadToIsStagedAsOftenAsItIsRead() {
    write("all/cat/a.png", "a");
    QDir().mkpath(m_dir->filePath("some/cat"));
    QVERIFY(QFile::link(m_dir->filePath("all/cat/a.png"), m_dir->filePath("some/cat/b.png")));
    const std::vector<std::string> paths{path("all"), path("some")};
    QCOMPARE(namesOf(dataTree(paths, Repeated::kAlways)),
             QStringList({"all/cat/a.png", "some/cat/b.png"}));
    QCOMPARE(namesOf(dataTree(paths)), QStringList({"all/cat/a.png"}));
}

void LocalTreeTest::missingPathIsNamed() {
    write("a.txt", "a");
    const auto tree = dataTree({path("a.txt"), path("missing.txt")});
    QVERIFY(!tree);
    QCOMPARE(tree.error().code, ErrorCode::kNotFound);
    QVERIFY(tree.error().message.find("missing.txt") != std::string::npos);
}

void LocalTreeTest::emptyFolderIsRefused() {
    QDir().mkpath(m_dir->filePath("empty"));
    const auto tree = dataTree({path("empty")});
    QVERIFY(!tree);
    QCOMPARE(tree.error().code, ErrorCode::kInvalid);
    QVERIFY(tree.error().message.find("empty") != std::string::npos);
}

void LocalTreeTest::specialFileIsRefused() {
    QVERIFY(!dataTree({"/dev/null"}));
}

void LocalTreeTest::hostileNameIsRefused() {
    write("corpus/a\nb.txt", "a");
    const auto tree = dataTree({path("corpus")});
    QVERIFY(!tree);
    QCOMPARE(tree.error().code, ErrorCode::kInvalid);
}

void LocalTreeTest::hashIsComputedOnce() {
    write("a.txt", "hello");
    makeOld("a.txt");
    HashCache cache(path("hashes.json"));
    const auto first = cache.hashOf(path("a.txt"));
    QVERIFY(first);
    QCOMPARE(first->sha256,
             std::string("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"));
    QCOMPARE(first->size, 5);
    QVERIFY(cache.hashOf(path("a.txt")) == first);
    QCOMPARE(cache.computed(), 1);
}

void LocalTreeTest::changedFileIsHashedAgain() {
    write("a.txt", "hello");
    makeOld("a.txt");
    HashCache cache(path("hashes.json"));
    const auto first = cache.hashOf(path("a.txt"));
    write("a.txt", "world");
    makeOld("a.txt"); // same size and time, other inode
    QVERIFY(cache.hashOf(path("a.txt")) != first);
    QCOMPARE(cache.computed(), 2);
}

void LocalTreeTest::damagedCacheIsIgnored() {
    write("a.txt", "hello");
    write("hashes.json", R"({"files":[{"path":7},{"path":"/x","sha256":"zz"}, 3]})");
    HashCache damaged(path("hashes.json"));
    QVERIFY(damaged.hashOf(path("a.txt")));
    write("hashes.json", "{");
    HashCache torn(path("hashes.json"));
    QVERIFY(torn.hashOf(path("a.txt")));
}

void LocalTreeTest::cacheSurvivesTheProcess() {
    write("a.txt", "hello");
    makeOld("a.txt");
    HashCache first(path("cache/hashes.json"));
    QVERIFY(first.hashOf(path("a.txt")));
    first.save();
    HashCache second(path("cache/hashes.json"));
    QVERIFY(second.hashOf(path("a.txt")));
    QCOMPARE(second.computed(), 0);
}

void LocalTreeTest::platformsAreJudged_data() {
    QTest::addColumn<QString>("libc");
    QTest::addColumn<QString>("complaint"); // empty: good
    QTest::newRow("Debian 12") << "glibc 2.36"
                               << "";
    QTest::newRow("oldest") << "glibc 2.34"
                            << "";
    QTest::newRow("ldd") << "ldd (Ubuntu GLIBC 2.35-0ubuntu3) 2.35"
                         << "";
    QTest::newRow("3.0") << "glibc 3.0"
                         << "";
    QTest::newRow("Debian 11") << "glibc 2.31"
                               << "node3 has glibc 2.31; ";
    QTest::newRow("2.4 is old") << "glibc 2.4"
                                << "2.34 or later";
    QTest::newRow("Alpine") << "musl libc (x86_64)"
                            << "musl";
    QTest::newRow("none") << ""
                          << "does not tell";
    QTest::newRow("nonsense") << "sh: ldd: not found"
                              << "does not tell";
}

void LocalTreeTest::platformsAreJudged() {
    QFETCH(QString, libc);
    QFETCH(QString, complaint);
    const auto judged = checkLibc("node3", libc.toStdString());
    QCOMPARE(judged.has_value(), complaint.isEmpty());
    if (!judged)
        QVERIFY(QString::fromStdString(judged.error().message).contains(complaint));
    QVERIFY(!checkPlatform("node3", "Linux sparc64"));
}

QTEST_GUILESS_MAIN(LocalTreeTest)
#include "tst_local_tree.moc"
