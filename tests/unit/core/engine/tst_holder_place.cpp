// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/holder_place.h"

#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>
#include <unistd.h>

using namespace rm;

/// Where the process that holds a database listens.
class TestHolderPlace : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void theFolderIsForItsUserAlone();
    void anotherHomeHasAnotherSocket();
    void aLinkToTheFolderIsTheSameHome();
    void withoutRuntimeFolderItIsATemporaryOneOfTheUser();
    void aFolderOfSomebodyElseIsRefused();
    void theNameFitsIntoASocketAddress();

private:
    QString path(const QString& below) const { return m_folder->filePath(below); }
    QString database(const QString& home) const {
        QDir().mkpath(path(home));
        return path(home) + "/runs.sqlite";
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

void TestHolderPlace::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QDir().mkpath(path("run"));
    QDir().mkpath(path("tmp"));
    qputenv("XDG_RUNTIME_DIR", path("run").toLocal8Bit());
    qputenv("TMPDIR", path("tmp").toLocal8Bit());
}

void TestHolderPlace::theFolderIsForItsUserAlone() {
    QDir().mkpath(path("run/ringmaster"));
    QVERIFY(::chmod(qPrintable(path("run/ringmaster")), 0777) == 0);
    const auto socket = socketFor(database("home"));
    QVERIFY(socket);
    QCOMPARE(QFileInfo(*socket).absolutePath(), path("run/ringmaster"));
    struct stat status {};
    QVERIFY(::stat(qPrintable(path("run/ringmaster")), &status) == 0);
    QCOMPARE(status.st_mode & 0777, 0700u);
}

void TestHolderPlace::anotherHomeHasAnotherSocket() {
    QVERIFY(*socketFor(database("a")) != *socketFor(database("b")));
    QCOMPARE(*socketFor(database("a")), *socketFor(database("a")));
}

void TestHolderPlace::aLinkToTheFolderIsTheSameHome() {
    const QString direct = database("home");
    QVERIFY(QFile::link(path("home"), path("link")));
    QCOMPARE(*socketFor(path("link") + "/runs.sqlite"), *socketFor(direct));
}

void TestHolderPlace::withoutRuntimeFolderItIsATemporaryOneOfTheUser() {
    const QString expected = path("tmp/ringmaster-") + QString::number(::getuid());
    for (const QString& value : {QString(), QString("not/absolute"), path("gone")}) {
        qputenv("XDG_RUNTIME_DIR", value.toLocal8Bit());
        const auto socket = socketFor(database("home"));
        QVERIFY(socket);
        QCOMPARE(QFileInfo(*socket).absolutePath(), expected);
    }
}

void TestHolderPlace::aFolderOfSomebodyElseIsRefused() {
    qunsetenv("XDG_RUNTIME_DIR");
    const QString folder = path("tmp/ringmaster-") + QString::number(::getuid());
    QDir().mkpath(path("elsewhere"));
    QVERIFY(QFile::link(path("elsewhere"), folder));
    const auto socket = socketFor(database("home"));
    QVERIFY(!socket);
    QCOMPARE(socket.error().code, ErrorCode::kDenied);
    QVERIFY(socket.error().message.find(folder.toStdString()) != std::string::npos);
}

void TestHolderPlace::theNameFitsIntoASocketAddress() {
    const QString deep = database(QString("x/").repeated(100) + "home");
    QVERIFY(socketFor(deep)->size() - path("run").size() < 40);
}

QTEST_GUILESS_MAIN(TestHolderPlace)
#include "tst_holder_place.moc"
