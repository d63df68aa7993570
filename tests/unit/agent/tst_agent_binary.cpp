// SPDX-License-Identifier: Apache-2.0
// What the agent asks of a node that has nothing but a glibc.
#include <QProcess>
#include <QRegularExpression>
#include <QSet>
#include <QTest>
#include <QVersionNumber>

namespace {

QString agent() {
    return qEnvironmentVariable("RINGMASTER_BIN") + "/ringmaster-agent";
}

QString outputOf(const QString& program, const QStringList& arguments) {
    QProcess process;
    process.start(program, arguments);
    process.waitForFinished(30'000);
    return QString::fromUtf8(process.readAllStandardOutput());
}

} // namespace

class TestAgentBinary : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void needsNoSymbolNewerThanGlibc234() {
        const QString symbols = outputOf("objdump", {"-T", agent()});
        QVERIFY(symbols.contains("GLIBC_"));
        static const QRegularExpression version(R"(GLIBC_(\d+\.\d+(?:\.\d+)?)\)?\s+(\S+))");
        for (auto match = version.globalMatch(symbols); match.hasNext();) {
            const auto one = match.next();
            QVERIFY2(QVersionNumber::fromString(one.captured(1)) <= QVersionNumber(2, 34),
                     qPrintable(one.captured(2) + " is of glibc " + one.captured(1)));
        }
    }

    void needsNoLibraryBeyondGlibcAndLibgcc() {
        const QString dynamic = outputOf("objdump", {"-p", agent()});
        static const QRegularExpression needed("NEEDED\\s+(\\S+)");
        const QSet<QString> allowed = {"libc.so.6", "libm.so.6", "libgcc_s.so.1",
                                       "ld-linux-x86-64.so.2"};
        int count = 0;
        for (auto match = needed.globalMatch(dynamic); match.hasNext(); ++count) {
            const QString library = match.next().captured(1);
            QVERIFY2(allowed.contains(library), qPrintable(library));
        }
        QVERIFY(count > 0);
    }

    void wrongWordsGetTheUsage() {
        for (const QStringList& words : {QStringList{},
                                         {"fly"},
                                         {"start"},
                                         {"stop", "r1", "--harder"},
                                         {"listen"},
                                         {"listen", "--seconds", "0"},
                                         {"listen", "--seconds", "1", "--port", "x"},
                                         {"listen", "--seconds", "1", "--samples", "3"},
                                         {"listen", "--port", "29500"},
                                         {"dial", "localhost:80"},
                                         {"remove", "r1", "--all"},
                                         {"prune", "--older-than", "-1"},
                                         {"prune", "--keep", "../x"}}) {
            QProcess process;
            process.start(agent(), words);
            QVERIFY(process.waitForFinished(10'000));
            QCOMPARE(process.exitCode(), 2);
            QCOMPARE(process.readAllStandardError().count('\n'), 1);
        }
    }
};

QTEST_GUILESS_MAIN(TestAgentBinary)
#include "tst_agent_binary.moc"
