// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/machine_sample.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

using namespace rm;

/// What a machine tells of itself while it is looked at: shared/wire/MACHINE.md.
class TestMachineSample : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyFieldSurvives() {
        const auto facts = parseMachineLine(toJson(example::machineFacts()));
        QVERIFY2(facts, facts ? "" : facts.error().message.c_str());
        QVERIFY(std::get<MachineFacts>(*facts) == example::machineFacts());
        const auto sample = parseMachineLine(toJson(example::machineSample()));
        QVERIFY2(sample, sample ? "" : sample.error().message.c_str());
        QVERIFY(std::get<MachineSample>(*sample) == example::machineSample());
    }

    void absentIsNotZero() {
        const std::string line = toJson(MachineSample{});
        QVERIFY(line.find("cpu") == std::string::npos);
        QVERIFY(line.find("processes") == std::string::npos);
        const auto again = parseMachineLine(line);
        QVERIFY(again && std::get<MachineSample>(*again) == MachineSample{});
    }

    void whatALaterReleaseAddsIsPassedOver() {
        const auto line = parseMachineLine(
            R"({"sample": {"cpu": 2, "fans": [1], "gpus": [{"fan": 0.5, "power_w": 30}]}})");
        QVERIFY2(line, line ? "" : line.error().message.c_str());
        const auto& sample = std::get<MachineSample>(*line);
        QCOMPARE(*sample.cpu, 2.0);
        QCOMPARE(*sample.gpus.at(0).powerW, 30.0);
    }

    void oddLinesAreRefused_data() {
        QTest::addColumn<QByteArray>("line");
        const auto row = [](const char* name, const QByteArray& line) {
            QTest::newRow(name) << line;
        };
        row("nothing", "");
        row("no JSON", "cpu 1");
        row("a list", "[]");
        row("neither", R"({"cpu": 1})");
        row("no object", R"({"sample": []})");
        row("a text for a number", R"({"sample": {"cpu": "1"}})");
        row("less than nothing", R"({"sample": {"cpu": -0.5}})");
        row("endless", R"({"sample": {"cpu": 1e999}})");
        row("a broken GPU", R"({"sample": {"gpus": [{"lost": 1}]}})");
        row("a list for a GPU", R"({"sample": {"gpus": [[]]}})");
        row("bytes of no count", R"({"sample": {"memory_bytes": 1.5}})");
        row("bytes beyond any", R"({"sample": {"memory_bytes": 18446744073709551615}})");
        row("CPUs beyond any", R"({"facts": {"cpus": 100000000}})");
        row("a long name",
            "{\"facts\": {\"driver\": \"" + QByteArray(kMaxMachineText + 1, 'x') + "\"}}");
        QByteArray many = R"({"sample": {"gpus": [)";
        for (size_t i = 0; i <= kMaxMachineGpus; ++i)
            many += i == 0 ? "{}" : ",{}";
        row("many GPUs", many + "]}}");
        row("a long line", QByteArray(R"({"sample": {)") + QByteArray(kMaxMachineLine, ' ') + "}}");
    }
    void oddLinesAreRefused() {
        QFETCH(QByteArray, line);
        const auto parsed = parseMachineLine(line.toStdString());
        QVERIFY(!parsed);
        QCOMPARE(parsed.error().code, ErrorCode::kCorrupt);
    }
};

QTEST_GUILESS_MAIN(TestMachineSample)
#include "tst_machine_sample.moc"
