// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/node/node_check.h"
#include "app/core/remote/command_line.h"
#include "app/core/remote/error_tail.h"
#include "app/core/remote/host.h"

#include <QTest>

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
