// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/attach/file_tails.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

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

QString told(const std::string& file, int offset, int size) {
    return QString("%1@%2+%3").arg(QString::fromStdString(file)).arg(offset).arg(size);
}

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

private:
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
    QCOMPARE(sent({}), QStringList({told(kFirst, 0, 10), told(kSecond, 0, 4), told(kThird, 0, 3)}));
}

void TestFileTails::whatIsBehindTheNewestOfAnAttemptIsKnown() {
    QCOMPARE(sent({{kSecond, 1}}), QStringList({told(kSecond, 1, 3), told(kThird, 0, 3)}));
}

void TestFileTails::theRestOfAnAttemptBeforeOneElsewhereIsSent() {
    QCOMPARE(sent({{kFirst, 6}, {kElsewhere, 100}}),
             QStringList({told(kFirst, 6, 4), told(kSecond, 0, 4), told(kThird, 0, 3)}));
}

void TestFileTails::anAttemptThatWasNeverReadIsSent() {
    QCOMPARE(sent({{kNoAttempt, 0}, {kElsewhere, 100}}),
             QStringList({told(kFirst, 0, 10), told(kSecond, 0, 4), told(kThird, 0, 3)}));
}

void TestFileTails::attemptsOlderThanAllThatAreNamedAreKnown() {
    QCOMPARE(sent({{kElsewhere, 100}}), QStringList(told(kThird, 0, 3)));
}

QTEST_GUILESS_MAIN(TestFileTails)
#include "tst_file_tails.moc"
