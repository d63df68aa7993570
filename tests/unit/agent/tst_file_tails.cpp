// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/limits.h"
#include "trainer/agent/attach/file_tails.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sys/resource.h>

using namespace rm;

namespace {

const std::string kFirst = "journal/rank-00000-a00001-s0001-00000001.rmj";
const std::string kSecond = "journal/rank-00000-a00001-s0002-00000002.rmj";
const std::string kElsewhere = "journal/rank-00000-a00002-s0001-00000003.rmj";
const std::string kThird = "journal/rank-00000-a00003-s0001-00000004.rmj";
const std::string kNoAttempt = "journal/rank-00000.rmj";

/// "NAME@OFFSET+SIZE" of all that is sent, in its order.
QStringList sentBy(FileTails& tails) {
    QStringList sent;
    while (const auto slice = tails.next(1024))
        sent << QString("%1@%2+%3")
                    .arg(QString::fromStdString(slice->file))
                    .arg(slice->offset)
                    .arg(slice->bytes.size());
    return sent;
}

QString sliceText(const std::string& file, int offset, int size) {
    return QString("%1@%2+%3").arg(QString::fromStdString(file)).arg(offset).arg(size);
}

/// While it lives, no file can be opened, as of a process that has too many; those that are open
/// stay so.
class NoMoreFiles {
public:
    NoMoreFiles() {
        ::getrlimit(RLIMIT_NOFILE, &m_usual);
        const rlimit none{0, m_usual.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &m_usual); }

private:
    rlimit m_usual = {};
};

} // namespace

/// What is sent of the files of a run directory, by the cursors of the other side.
class TestFileTails : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void withoutCursorsAllIsSent();
    void whatIsBehindTheNewestOfAnAttemptIsKnown();
    void theRestOfAnAttemptBeforeOneElsewhereIsSent();
    void anAttemptThatWasNeverReadIsSent();
    void attemptsOlderThanAllThatAreNamedAreKnown();
    void nothingOfALaterSegmentIsSentBeforeOneThatCannotBeOpened();
    void nothingOfALaterSegmentIsSentBeforeOneThatCannotBeRead();
    void nothingOfALaterSegmentIsSentBeforeOneThatCannotBeMeasured();
    void aFolderThatCannotBeListedIsTriedAgain();
    void aSegmentThatIsGoneDoesNotKeepLaterOnesBack();
    void aSegmentThatEndsBeforeItsCursorIsToldOnceAndKeepsNoneBack();
    void ofALongLogTheLastPartIsSent();

private:
    QString path(const std::string& file) const {
        return m_folder->filePath(QString::fromStdString(file));
    }
    void append(const std::string& file, int bytes) const {
        QFile to(path(file));
        QVERIFY(to.open(QIODevice::Append));
        QCOMPARE(to.write(QByteArray(bytes, 'x')), qint64(bytes));
    }
    QStringList sent(const std::vector<FileCursor>& cursors) const {
        FileTails tails(m_folder->path().toStdString());
        return tails.seek(cursors) ? sentBy(tails) : QStringList("refused");
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

/// Attempts 1 and 3 were made here, 2 on another machine.
void TestFileTails::init() {
    m_folder = std::make_unique<QTemporaryDir>();
    QVERIFY(QDir(m_folder->path()).mkpath("journal"));
    for (const auto& [name, size] : {std::pair(kFirst, 10), {kSecond, 4}, {kThird, 3}}) {
        QFile file(m_folder->filePath(QString::fromStdString(name)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        QCOMPARE(file.write(QByteArray(size, 'x')), qint64(size));
    }
}

void TestFileTails::withoutCursorsAllIsSent() {
    QCOMPARE(sent({}), QStringList({sliceText(kFirst, 0, 10), sliceText(kSecond, 0, 4),
                                    sliceText(kThird, 0, 3)}));
}

void TestFileTails::whatIsBehindTheNewestOfAnAttemptIsKnown() {
    QCOMPARE(sent({{kSecond, 1}}),
             QStringList({sliceText(kSecond, 1, 3), sliceText(kThird, 0, 3)}));
}

void TestFileTails::theRestOfAnAttemptBeforeOneElsewhereIsSent() {
    QCOMPARE(
        sent({{kFirst, 6}, {kElsewhere, 100}}),
        QStringList({sliceText(kFirst, 6, 4), sliceText(kSecond, 0, 4), sliceText(kThird, 0, 3)}));
}

void TestFileTails::anAttemptThatWasNeverReadIsSent() {
    QCOMPARE(
        sent({{kNoAttempt, 0}, {kElsewhere, 100}}),
        QStringList({sliceText(kFirst, 0, 10), sliceText(kSecond, 0, 4), sliceText(kThird, 0, 3)}));
}

void TestFileTails::attemptsOlderThanAllThatAreNamedAreKnown() {
    QCOMPARE(sent({{kElsewhere, 100}}), QStringList(sliceText(kThird, 0, 3)));
}

void TestFileTails::nothingOfALaterSegmentIsSentBeforeOneThatCannotBeOpened() {
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({}));
    {
        const NoMoreFiles none;
        QCOMPARE(sentBy(tails), QStringList());
    }
    tails.refresh();
    QCOMPARE(sentBy(tails), QStringList({sliceText(kFirst, 0, 10), sliceText(kSecond, 0, 4),
                                         sliceText(kThird, 0, 3)}));
}

void TestFileTails::nothingOfALaterSegmentIsSentBeforeOneThatCannotBeRead() {
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({}));
    // A folder can be opened like a file, and read(2) of it fails.
    QVERIFY(QFile::rename(path(kFirst), path("kept")));
    QVERIFY(QDir().mkdir(path(kFirst)));
    QCOMPARE(sentBy(tails), QStringList());
    QVERIFY(QDir().rmdir(path(kFirst)));
    QVERIFY(QFile::rename(path("kept"), path(kFirst)));
    tails.refresh();
    QCOMPARE(sentBy(tails), QStringList({sliceText(kFirst, 0, 10), sliceText(kSecond, 0, 4),
                                         sliceText(kThird, 0, 3)}));
}

void TestFileTails::nothingOfALaterSegmentIsSentBeforeOneThatCannotBeMeasured() {
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({{kFirst, 10}}));
    QCOMPARE(sentBy(tails), QStringList({sliceText(kSecond, 0, 4), sliceText(kThird, 0, 3)}));
    append(kFirst, 5);
    append(kThird, 1);
    // The last one is open, so that its size is known all the same.
    QVERIFY(QFile::rename(path("journal"), path("kept")));
    QVERIFY(QFile::link("journal", path("journal")));
    tails.refresh();
    QCOMPARE(sentBy(tails), QStringList());
    QVERIFY(QFile::remove(path("journal")));
    QVERIFY(QFile::rename(path("kept"), path("journal")));
    tails.refresh();
    QCOMPARE(sentBy(tails), QStringList({sliceText(kFirst, 10, 5), sliceText(kThird, 3, 1)}));
}

void TestFileTails::aFolderThatCannotBeListedIsTriedAgain() {
    FileTails tails(m_folder->path().toStdString());
    {
        const NoMoreFiles none;
        QVERIFY(tails.seek({}));
        QCOMPARE(sentBy(tails), QStringList());
    }
    tails.refresh();
    QCOMPARE(sentBy(tails).size(), 3);
}

void TestFileTails::aSegmentThatIsGoneDoesNotKeepLaterOnesBack() {
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({}));
    QVERIFY(QFile::remove(path(kFirst)));
    const QStringList later{sliceText(kSecond, 0, 4), sliceText(kThird, 0, 3)};
    QCOMPARE(sentBy(tails), later);
    QCOMPARE(sent({{kFirst, 6}}), later);
}

void TestFileTails::aSegmentThatEndsBeforeItsCursorIsToldOnceAndKeepsNoneBack() {
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({{kFirst, 12}}));
    QCOMPARE(sentBy(tails), QStringList({sliceText(kFirst, 10, 0), sliceText(kSecond, 0, 4),
                                         sliceText(kThird, 0, 3)}));
    tails.refresh();
    QCOMPARE(sentBy(tails), QStringList());
    append(kFirst, 5);
    tails.refresh();
    QCOMPARE(sentBy(tails), QStringList(sliceText(kFirst, 12, 3)));
}

/// So that what a rank prints keeps nothing back. Of a journal all is sent.
void TestFileTails::ofALongLogTheLastPartIsSent() {
    constexpr int kAll = static_cast<int>(kMostLog) + 1;
    const std::string log = "log/rank-00000.log";
    QVERIFY(QDir(m_folder->path()).mkpath("log"));
    append(log, kAll - 1);
    append(kThird, kAll);
    FileTails tails(m_folder->path().toStdString());
    QVERIFY(tails.seek({{kSecond, 4}}));
    qint64 journal = 0;
    const auto firstOfLog = [&]() -> std::optional<Slice> {
        while (auto slice = tails.next(1 << 20)) {
            if (slice->file == log)
                return slice;
            journal += static_cast<qint64>(slice->bytes.size());
        }
        return std::nullopt;
    };
    const auto first = firstOfLog();
    QVERIFY(first);
    QCOMPARE(first->offset, uint64_t{0});
    QCOMPARE(journal, qint64{kAll} + 3);
    append(log, kAll);
    tails.refresh();
    const auto next = firstOfLog();
    QVERIFY(next);
    QCOMPARE(next->offset, 2 * uint64_t{kAll} - 1 - kMostLog / 2);
}

QTEST_GUILESS_MAIN(TestFileTails)
#include "tst_file_tails.moc"
