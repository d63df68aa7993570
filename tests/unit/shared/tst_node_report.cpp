// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/node_report.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

using namespace rm;

class TestNodeReport : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyFieldSurvives() {
        const NodeReport report = example::nodeReport();
        const auto again = parseNodeReport(toJson(report));
        QVERIFY2(again, again ? "" : again.error().message.c_str());
        QVERIFY(*again == report);
        QVERIFY(*parseNodeReport(toJson(NodeReport{})) == NodeReport{});
    }

    void everyFieldOfASelfTestSurvives() {
        const SelfTest test = example::selfTest();
        QVERIFY(*parseSelfTest(toJson(test), "x") == test);
        const auto damaged = parseSelfTest(R"({"proofs": [{"held": 1}]})", "/home/self-tests/a");
        QVERIFY(!damaged);
        QCOMPARE(
            QByteArray(damaged.error().message.c_str()),
            QByteArray("read /home/self-tests/a: \"proofs[0].held\" is missing or makes no sense"));
    }

    void eachWordOfLogoutSurvives() {
        for (const AtLogout what : {AtLogout::kUnknown, AtLogout::kGoOn, AtLogout::kEndWithSession,
                                    AtLogout::kEndWithUserManager}) {
            NodeReport report;
            report.atLogout = what;
            QVERIFY(parseNodeReport(toJson(report))->atLogout == what);
        }
    }

    void whatIsMissingOrUnknownIsNoError() {
        const auto report = parseNodeReport(
            R"({"cores": 4, "later": [1], "at_logout": "later", "gpus": [{"name": "H200"}]})");
        QVERIFY2(report, report ? "" : report.error().message.c_str());
        NodeReport wanted;
        wanted.cores = 4;
        wanted.gpus = {{"H200", 0, "", 0}};
        QVERIFY(*report == wanted);
    }

    void hostileAnswersAreErrors_data() {
        QTest::addColumn<QByteArray>("answer");
        QTest::addColumn<QByteArray>("names");
        QTest::newRow("empty") << QByteArray() << QByteArray("JSON");
        QTest::newRow("no JSON") << QByteArray("Welcome to Ubuntu\n{}") << QByteArray("JSON");
        QTest::newRow("not an object") << QByteArray("[1]") << QByteArray("no JSON object");
        QTest::newRow("too deep") << QByteArray(300, '[') << QByteArray("deep");
        const auto row = [](const char* answer, const char* names) {
            QTest::newRow(answer) << QByteArray(answer) << QByteArray(names);
        };
        row(R"({"cores": "many"})", "cores");
        row(R"({"cores": 4294967296})", "cores");
        row(R"({"cores": 1e300})", "cores");
        row(R"({"wall_ns": 18446744073709551615})", "wall_ns");
        row(R"({"os": null})", "os");
        row(R"({"gpus": 3})", "gpus");
        row(R"({"gpus": [1, 2]})", "gpus");
        row(R"({"gpus": [{"uuid": []}]})", "gpus[0].uuid");
        row(R"({"interfaces": [{"up": 1}]})", "interfaces[0].up");
        row(R"({"at_logout": 2})", "at_logout");
        row(R"({"rdma_devices": "mlx5_0"})", "rdma_devices");
        row(R"({"gpus": [{"throttled": ["thermal", 3]}]})", "gpus[0].throttled[1]");
        row(R"({"gpus": [{"processes": [{"pid": "1"}]}]})", "gpus[0].processes[0].pid");
        row(R"({"runs": [{"ranks": 4294967296}]})", "runs[0].ranks");
    }
    void hostileAnswersAreErrors() {
        QFETCH(QByteArray, answer);
        QFETCH(QByteArray, names);
        const auto report = parseNodeReport(answer.toStdString());
        QVERIFY(!report);
        QCOMPARE(report.error().code, ErrorCode::kCorrupt);
        QVERIFY2(report.error().message.find(names.toStdString()) != std::string::npos,
                 report.error().message.c_str());
    }

    void bytesThatAreNotUtf8AreReplaced() {
        NodeReport report;
        report.os = "caf\xe9";
        QCOMPARE(parseNodeReport(toJson(report))->os, std::string("caf\xef\xbf\xbd"));
    }
};

QTEST_GUILESS_MAIN(TestNodeReport)
#include "tst_node_report.moc"
