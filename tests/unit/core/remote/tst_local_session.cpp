// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/node/node_check.h"
#include "app/core/remote/back_off.h"
#include "app/core/remote/command_line.h"
#include "app/core/remote/error_tail.h"
#include "app/core/remote/host.h"

#include <QTest>

#include <set>

using namespace rm;
using namespace std::chrono_literals;

class LocalSessionTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void missingProgramIsAnError();
    void unsafeWordsAreRefused_data();
    void unsafeWordsAreRefused();
    void hostileNodesAreRefused_data();
    void hostileNodesAreRefused();
    void pausesBeforeTheNextLoginGrowAndDiffer();
    void escapesAreStripped_data();
    void escapesAreStripped();
};

void LocalSessionTest::missingProgramIsAnError() {
    const auto local = openSession(localNode(), {}, {});
    QVERIFY(local);
    const auto output = runToEnd(**local, "/nonexistent/program", {}, {}, 5s);
    QVERIFY(!output);
    QCOMPARE(output.error().code, ErrorCode::kNotFound);
}

void LocalSessionTest::unsafeWordsAreRefused_data() {
    QTest::addColumn<QString>("program");
    QTest::addColumn<QString>("argument");
    QTest::newRow("semicolon") << "ls"
                               << "a;b";
    QTest::newRow("substitution") << "ls"
                                  << "$(id)";
    QTest::newRow("space") << "ls"
                           << "a b";
    QTest::newRow("newline") << "ls"
                             << "a\nb";
    QTest::newRow("glob") << "ls"
                          << "*";
    QTest::newRow("empty") << "ls"
                           << "";
    QTest::newRow("assignment") << "LD_PRELOAD=x"
                                << "a";
    QTest::newRow("program with space") << "my ls"
                                        << "a";
    QTest::newRow("option as program") << "-c"
                                       << "a";
}

void LocalSessionTest::unsafeWordsAreRefused() {
    QFETCH(QString, program);
    QFETCH(QString, argument);
    const auto line = commandLine(program.toStdString(), {argument.toStdString()});
    QVERIFY(!line);
    QCOMPARE(line.error().code, ErrorCode::kInvalid);
}

void LocalSessionTest::hostileNodesAreRefused_data() {
    QTest::addColumn<QString>("host");
    QTest::addColumn<QString>("user");
    QTest::newRow("option") << "-oProxyCommand=id"
                            << "me";
    QTest::newRow("shell") << "a;id"
                           << "me";
    QTest::newRow("backtick") << "`id`"
                              << "me";
    QTest::newRow("space") << "a b"
                           << "me";
    QTest::newRow("empty") << ""
                           << "me";
    QTest::newRow("user option") << "host"
                                 << "-l";
    QTest::newRow("user shell") << "host"
                                << "$(id)";
    QTest::newRow("user in host") << "root@host"
                                  << "";
}

void LocalSessionTest::hostileNodesAreRefused() {
    QFETCH(QString, host);
    QFETCH(QString, user);
    Node node;
    node.name = "n";
    node.sshHost = host.toStdString();
    node.user = user.toStdString();
    const auto opened = openSession(node, {}, {});
    QVERIFY(!opened);
    QCOMPARE(opened.error().error.code, ErrorCode::kInvalid);
}

/// 64 nodes that were turned away at one moment do not come back at one moment.
void LocalSessionTest::pausesBeforeTheNextLoginGrowAndDiffer() {
    std::set<int64_t> firsts;
    for (int node = 0; node < 64; ++node) {
        BackOff backOff(1000ms);
        for (const int64_t longest : {200, 400, 800, 1000, 1000}) {
            const int64_t pause = backOff.next().count();
            QVERIFY(pause >= longest / 2 && pause <= longest);
            if (longest == 200)
                firsts.insert(pause);
        }
    }
    QVERIFY(firsts.size() > 16); // of 101 lengths
}

void LocalSessionTest::escapesAreStripped_data() {
    QTest::addColumn<QByteArray>("raw");
    QTest::addColumn<QByteArray>("clean");
    QTest::newRow("colour") << QByteArray("\x1b[1;31mred\x1b[0m") << QByteArray("red");
    QTest::newRow("title") << QByteArray("\x1b]0;evil\x07ok") << QByteArray("ok");
    QTest::newRow("title by ST") << QByteArray("\x1b]0;evil\x1b\\ok") << QByteArray("ok");
    QTest::newRow("carriage return") << QByteArray("a\rb") << QByteArray("ab");
    QTest::newRow("torn") << QByteArray("a\x1b[3") << QByteArray("a");
    QTest::newRow("lone escape") << QByteArray("a\x1b") << QByteArray("a");
    QTest::newRow("lines stay") << QByteArray("a\n\tb") << QByteArray("a\n\tb");
    QTest::newRow("utf-8 stays") << QByteArray("gr\xc3\xbcn") << QByteArray("gr\xc3\xbcn");
}

void LocalSessionTest::escapesAreStripped() {
    QFETCH(QByteArray, raw);
    QFETCH(QByteArray, clean);
    QCOMPARE(QByteArray::fromStdString(withoutEscapes(raw.toStdString())), clean);
}

QTEST_GUILESS_MAIN(LocalSessionTest)
#include "tst_local_session.moc"
