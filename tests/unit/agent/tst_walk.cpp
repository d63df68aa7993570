// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/posix/walk.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <set>

using namespace rm;

namespace {

void write(const QString& path) {
    QVERIFY(QDir().mkpath(QFileInfo(path).path()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
}

/// Three folders of two files each, and one that lies deeper.
struct Tree {
    Tree() {
        for (const char* name : {"a", "b", "c"})
            for (const char* file : {"one", "two", "deep/three"})
                write(dir.filePath(QString(name) + '/' + file));
    }
    std::string path() const { return dir.path().toStdString(); }
    QTemporaryDir dir;
};

} // namespace

class TestWalk : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everythingIsShownOnce() {
        const Tree tree;
        QVERIFY(QFile::link(tree.dir.path(), tree.dir.filePath("loop")));
        std::multiset<std::string> shown;
        const auto walked = walk(tree.path(), [&](const std::string& path, const struct stat&) {
            shown.insert(path.substr(tree.path().size() + 1));
            return Result<bool>(true);
        });
        QVERIFY(walked.has_value());
        QCOMPARE(shown.size(), size_t{16}); // 3 of 5 each, and the link
        QCOMPARE(shown.count("b/deep/three"), size_t{1});
        QCOMPARE(shown.count("loop"), size_t{1});
    }

    void whatIsNotGoneIntoIsNotShown() {
        const Tree tree;
        int shown = 0;
        QVERIFY(walk(tree.path(), [&](const std::string&, const struct stat&) -> Result<bool> {
            return ++shown < 0;
        }));
        QCOMPARE(shown, 3);
    }

    /// They are removed while the first thing is shown: then their names have been read.
    void whatGoesMeanwhileIsPassedOver() {
        const Tree tree;
        std::vector<std::string> shown;
        const auto walked = walk(tree.path(), [&](const std::string& path, const struct stat&) {
            shown.push_back(path);
            for (const char* name : {"a", "b", "c"})
                QDir(tree.dir.filePath(name)).removeRecursively();
            return Result<bool>(true);
        });
        QVERIFY2(walked, walked ? "" : walked.error().message.c_str());
        QCOMPARE(shown.size(), size_t{1});
    }

    void aFileThatGoesBesideIsPassedOver() {
        const Tree tree;
        std::multiset<std::string> shown;
        const auto walked =
            walk(tree.path() + "/a", [&](const std::string& path, const struct stat& info) {
                shown.insert(path);
                if (S_ISREG(info.st_mode) && !path.ends_with("three"))
                    for (const char* name : {"one", "two"})
                        QFile::remove(tree.dir.filePath(QString("a/") + name));
                return Result<bool>(true);
            });
        QVERIFY(walked.has_value());
        QCOMPARE(shown.size(), size_t{3}); // one of the two, the folder and what is in it
    }

    void aFolderThatIsNotThereIsEmptyAndOneThatCannotBeReadIsAnError() {
        const auto never = [](const std::string&, const struct stat&) -> Result<bool> {
            return fail(ErrorCode::kInternal, "shown");
        };
        QVERIFY(walk("/nowhere/at/all", never).has_value());
        const auto walked = walk("/proc/version", never); // a file
        QVERIFY(!walked && walked.error().message.starts_with("read /proc/version: "));
        QVERIFY(!walk("/", never)); // what the visitor says ends it
    }
};

QTEST_APPLESS_MAIN(TestWalk)
#include "tst_walk.moc"
