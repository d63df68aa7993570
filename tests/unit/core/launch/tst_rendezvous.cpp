// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/rendezvous.h"

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

QTEST_GUILESS_MAIN(TestRendezvous)
#include "tst_rendezvous.moc"
