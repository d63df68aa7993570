// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/rendezvous.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;

namespace {

AddressTrial trial(const char* interface, const char* address, int64_t speedMbit,
                   std::vector<DialAnswer> answers) {
    return {{interface, address, 24, true, speedMbit}, std::move(answers)};
}

DialAnswer reached(const char* interface, int64_t microseconds) {
    return {"", true, interface, microseconds, ""};
}

DialAnswer unreached(const char* error) {
    return {"", false, "", -1, error};
}

} // namespace

class TestRendezvous : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void anAddressMustBeReachedByEveryNode();
    void theFasterLinkWins();
    void theQuickerAnswerBreaksTies();
    void whenNoneIsReachedEveryReasonIsNamed();
    void loopbackLinkLocalAndDownAreNoCandidates();
    void aChosenInterfaceIsTheOnlyCandidate();
    void aNodeWithoutAnAddressIsNamed();
    void dialAnswersKeepTheOrderOfTheQuestion();
    void hostileDialAnswersAreErrors_data();
    void hostileDialAnswersAreErrors();
    void anAnswerWithoutEndIsRefused();
};

void TestRendezvous::anAddressMustBeReachedByEveryNode() {
    const auto chosen = chooseRendezvous(
        {trial("docker0", "172.17.0.1", 10000, {reached("docker0", 5), unreached("no route")}),
         trial("ens5", "10.0.0.4", 1000, {reached("ens5", 80), reached("ens6", 90)})},
        29500, {"node-b", "node-c"});
    QVERIFY(chosen);
    QCOMPARE(chosen->masterAddr, std::string("10.0.0.4"));
    QCOMPARE(chosen->interfaces, (std::vector<std::string>{"ens5", "ens5", "ens6"}));
}

void TestRendezvous::theFasterLinkWins() {
    const auto chosen = chooseRendezvous({trial("eth0", "10.0.0.4", 1000, {reached("eth0", 50)}),
                                          trial("ib0", "10.1.0.4", 100000, {reached("ib0", 60)})},
                                         29500, {"node-b"});
    QCOMPARE(chosen->masterAddr, std::string("10.1.0.4"));
}

void TestRendezvous::theQuickerAnswerBreaksTies() {
    const auto chosen = chooseRendezvous({trial("eth0", "10.0.0.4", 1000, {reached("eth0", 500)}),
                                          trial("eth1", "10.1.0.4", 1000, {reached("eth1", 60)})},
                                         29500, {"node-b"});
    QCOMPARE(chosen->masterAddr, std::string("10.1.0.4"));
}

void TestRendezvous::whenNoneIsReachedEveryReasonIsNamed() {
    const auto chosen =
        chooseRendezvous({trial("eth0", "10.0.0.4", 1000, {unreached("timed out")}),
                          trial("docker0", "172.17.0.1", 1000, {unreached("no route to host")})},
                         29500, {"node-b"});
    QVERIFY(!chosen);
    QCOMPARE(chosen.error().code, ErrorCode::kUnavailable);
    for (const char* part : {"node-b", "10.0.0.4", "timed out", "172.17.0.1", "no route to host"})
        QVERIFY2(chosen.error().message.find(part) != std::string::npos, part);
}

void TestRendezvous::loopbackLinkLocalAndDownAreNoCandidates() {
    NodeReport report;
    report.interfaces = {
        {"lo", "127.0.0.1", 8, true, -1},        {"lo", "::1", 128, true, -1},
        {"eth0", "169.254.3.1", 16, true, 1000}, {"eth0", "fe80::1", 64, true, 1000},
        {"eth1", "10.0.0.9", 24, false, 1000},   {"eth2", "10.0.1.9", 24, true, 1000}};
    const auto candidates = rendezvousCandidates(report, "");
    QCOMPARE(candidates.size(), size_t(1));
    QCOMPARE(candidates[0].name, std::string("eth2"));
}

void TestRendezvous::aChosenInterfaceIsTheOnlyCandidate() {
    NodeReport report;
    report.interfaces = {{"eth0", "10.0.0.9", 24, true, 1000}, {"ib0", "10.0.1.9", 24, true, -1}};
    const auto candidates = rendezvousCandidates(report, "ib0");
    QCOMPARE(candidates.size(), size_t(1));
    QCOMPARE(candidates[0].address, std::string("10.0.1.9"));
    QVERIFY(rendezvousCandidates(report, "ib1").empty());
}

void TestRendezvous::aNodeWithoutAnAddressIsNamed() {
    std::vector<PlacedNode> nodes(2);
    nodes[0].node.name = "node-a";
    nodes[0].report.interfaces = {{"lo", "127.0.0.1", 8, true, -1}};
    RunSpec spec;
    spec.launch.interface = "ib7";
    const auto found = findRendezvous({nullptr, nullptr}, nodes, spec, {});
    QVERIFY(!found);
    QVERIFY(found.error().message.find("node-a has no network interface of the name ib7") !=
            std::string::npos);
}

void TestRendezvous::dialAnswersKeepTheOrderOfTheQuestion() {
    const auto answers = parseDialAnswers(
        R"([{"reached": true, "interface": "ens5", "microseconds": 80}, {"error": "refused"}])",
        {"10.0.0.4", "2001:db8::4"});
    QVERIFY(answers);
    QCOMPARE(answers->size(), size_t(2));
    QVERIFY(answers->at(0).reached);
    QCOMPARE(answers->at(1).address, std::string("2001:db8::4"));
    QCOMPARE(answers->at(1).error, std::string("refused"));
}

void TestRendezvous::hostileDialAnswersAreErrors_data() {
    QTest::addColumn<QByteArray>("answer");
    QTest::newRow("no JSON") << QByteArray("Welcome to Ubuntu\n[]");
    QTest::newRow("object") << QByteArray(R"({"reached": true})");
    QTest::newRow("number") << QByteArray("7");
    QTest::newRow("list of numbers") << QByteArray("[1, 2]");
    QTest::newRow("wrong type") << QByteArray(R"([{"reached": "yes"}])");
}

void TestRendezvous::hostileDialAnswersAreErrors() {
    QFETCH(QByteArray, answer);
    const auto answers = parseDialAnswers(answer.toStdString(), {"10.0.0.4"});
    QVERIFY(!answers);
    QCOMPARE(answers.error().code, ErrorCode::kCorrupt);
}

void TestRendezvous::anAnswerWithoutEndIsRefused() {
    const QTemporaryDir folder;
    const QString agent = folder.filePath("agent");
    QFile file(agent);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("#!/bin/sh\ntr '\\0' x < /dev/zero\n"); // no newline ever
    file.close();
    QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::ExeOwner));
    const auto session = openSession(localNode(), {}, {});
    QVERIFY(session);
    const auto listener = PortListener::open(**session, agent.toStdString(), 0, {}, {});
    QVERIFY(!listener);
    QCOMPARE(listener.error().code, ErrorCode::kCorrupt);
    QVERIFY2(listener.error().message.ends_with("the host does not answer in lines"),
             listener.error().message.c_str());
}

QTEST_GUILESS_MAIN(TestRendezvous)
#include "tst_rendezvous.moc"
