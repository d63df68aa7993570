// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/address_kind.h"
#include "app/core/network/network_file.h"
#include "app/core/network/network_words.h"
#include "tests/unit/core/network/network_examples.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace rm::example;

namespace {

std::string interfacesOf(const NetworkMatrix& matrix) {
    const auto choice = chooseNetwork(matrix);
    std::string text;
    for (const InterfaceReport& chosen : choice.value_or(NetworkChoice()).addresses)
        text += (text.empty() ? "" : " ") + chosen.name + "=" + chosen.address;
    return text;
}

/// Two nodes with a slow and a fast network.
NetworkMatrix twoNetworks() {
    return wholeNetwork(
        {networkNode("node-a", {at("eth0", "10.0.0.5", 1000), at("ib0", "10.1.0.5", 100'000)}),
         networkNode("node-b", {at("eth0", "10.0.0.6", 1000), at("ib0", "10.1.0.6", 100'000)})});
}

/// Two nodes of one network.
NetworkMatrix oneNetwork() {
    return wholeNetwork({networkNode("node-a", {at("ens5", "10.0.0.5")}),
                         networkNode("node-b", {at("ens5", "10.0.0.6")})});
}

std::vector<std::string> sentencesOf(const NetworkMatrix& matrix) {
    return networkSentences(networkFindings(matrix));
}

const DialAnswer kSilent = answered(Reach::kDropped, "ens5");

/// Changes the answer of one port to a node.
void setPort(NetworkMatrix& matrix, int from, int64_t port, const DialAnswer& answer) {
    for (NetworkTrial& trial : matrix.trials)
        if (trial.from == from && trial.port == port)
            trial.answer = answer;
}

} // namespace

#define VERIFY_HAS(text, part) QVERIFY2(QString::fromStdString(text).contains(part), (text).c_str())

class TestNetworkMatrix : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theFastestNetworkOfAllIsChosen();
    void aNetworkThatOneNodeDoesNotReachIsNotChosen();
    void bothDirectionsMustWork();
    void everyPairMustWorkAndNotTheFirstNodeAlone();
    void interfacesMayHaveOtherNames();
    void addressesOfBridgesAreTakenLast();
    void privateAddressesComeBeforePublicOnes();
    void theQuickerAnswerBreaksTies();
    void pairsThatWereNotDialedDoNotCount();
    void waysThatHadTheirTimeAreTakenBeforeOthers();
    void aNodeWithAProblemIsLeftOut();
    void aWayThatLosesLargePacketsIsNoWay();
    void oneBlockedDirectionIsNamed();
    void whereAFirewallIsFollowsFromWhoReachesWhom();
    void aMissingRouteBackIsNoFirewall();
    void ofSeveralAddressesOfACardTheOneThatTheOtherReachesIsTheSource();
    void whereNoRouteLeadsIsToldWithAWayOut();
    void whoAnsweredByIcmpIsNamed();
    void aCardOfAnotherNetworkDoesNotHideAFirewall();
    void portsThatAreBlockedAreNamedWithTheRange();
    void aPortThatNoRunNeedsIsToldAndNotJudgedBy();
    void aPortOfTheRangeIsJudgedByWhateverItsNumber();
    void whereOnlyThatPortIsOpenAFirewallIsNamed();
    void onlyPortsThatCountAreAskedFor();
    void pairsThatWereNotTriedAreNamedAndNotCalledBlocked();
    void aFindingSaysWhatCausesItAndWhatToDo();
    void aWayThatWorksByHalfIsAWarning();
    void everyKindOfFailureHasItsWords_data();
    void everyKindOfFailureHasItsWords();
    void anAddressOfBothIsCalledSo();
    void sixtyFourNodesAreChosenForAndNamedBriefly();
    void theNetworkBetweenSomeIsAsIfTheOthersHadNotBeenAsked();
    void whereNcclTakesAnotherAddressOfTheCardIsTold();
    void thePrivateNetworkOfTheLastTestIsAdvisedAgainstAPublicAddress();
    void whatIsKeptIsReadAgain();
    void aFileOfVersion1IsRead();
    void brokenFilesAreErrors_data();
    void brokenFilesAreErrors();
    void publicAddressesAreKnown_data();
    void publicAddressesAreKnown();
    void kindsOfAddressesAreKnown();
};

void TestNetworkMatrix::theFastestNetworkOfAllIsChosen() {
    QCOMPARE(interfacesOf(twoNetworks()), std::string("ib0=10.1.0.5 ib0=10.1.0.6"));
}

void TestNetworkMatrix::aNetworkThatOneNodeDoesNotReachIsNotChosen() {
    NetworkMatrix matrix = twoNetworks();
    setAnswer(matrix, 1, "10.1.0.5", answered(Reach::kNoRoute, ""));
    QCOMPARE(interfacesOf(matrix), std::string("eth0=10.0.0.5 eth0=10.0.0.6"));
}

void TestNetworkMatrix::bothDirectionsMustWork() {
    NetworkMatrix matrix = twoNetworks();
    setAnswer(matrix, 0, "10.1.0.6", kSilent);
    QCOMPARE(interfacesOf(matrix), std::string("eth0=10.0.0.5 eth0=10.0.0.6"));
    setAnswer(matrix, 0, "10.0.0.6", kSilent);
    QCOMPARE(interfacesOf(matrix), std::string());
}

void TestNetworkMatrix::everyPairMustWorkAndNotTheFirstNodeAlone() {
    NetworkMatrix matrix = wholeNetwork(
        {networkNode("a", {at("eth0", "10.0.0.5", 1000), at("ib0", "10.1.0.5", 100'000)}),
         networkNode("b", {at("eth0", "10.0.0.6", 1000), at("ib0", "10.1.0.6", 100'000)}),
         networkNode("c", {at("eth0", "10.0.0.7", 1000), at("ib0", "10.1.0.7", 100'000)})});
    setAnswer(matrix, 1, "10.1.0.7", kSilent);
    const std::string chosen = interfacesOf(matrix);
    QVERIFY2(chosen.find("ib0=10.1.0.7") == std::string::npos && !chosen.empty(), chosen.c_str());
}

void TestNetworkMatrix::interfacesMayHaveOtherNames() {
    NetworkMatrix matrix = oneNetwork();
    matrix.nodes[1].addresses[0].name = "eth0";
    setAnswer(matrix, 1, "10.0.0.5", answered(Reach::kReached, "eth0"));
    QCOMPARE(interfacesOf(matrix), std::string("ens5=10.0.0.5 eth0=10.0.0.6"));
    VERIFY_HAS(sentencesOf(matrix).front(), "ens5 on node-a and eth0 on node-b");
}

void TestNetworkMatrix::addressesOfBridgesAreTakenLast() {
    const NetworkMatrix matrix = wholeNetwork(
        {networkNode("a", {at("virbr0", "10.9.0.1", 100'000), at("eth0", "10.0.0.5", 100)}),
         networkNode("b", {at("virbr0", "10.9.0.2", 100'000), at("eth0", "10.0.0.6", 100)})});
    QCOMPARE(interfacesOf(matrix), std::string("eth0=10.0.0.5 eth0=10.0.0.6"));
}

void TestNetworkMatrix::privateAddressesComeBeforePublicOnes() {
    const NetworkMatrix matrix = wholeNetwork(
        {networkNode("a", {at("eth0", "9.9.9.5", 100'000), at("eth1", "10.0.0.5", 1000)}),
         networkNode("b", {at("eth0", "9.9.9.6", 100'000), at("eth1", "10.0.0.6", 1000)})});
    QCOMPARE(interfacesOf(matrix), std::string("eth1=10.0.0.5 eth1=10.0.0.6"));
}

void TestNetworkMatrix::theQuickerAnswerBreaksTies() {
    NetworkMatrix matrix =
        wholeNetwork({networkNode("a", {at("eth0", "10.0.0.5"), at("eth1", "10.1.0.5")}),
                      networkNode("b", {at("eth0", "10.0.0.6"), at("eth1", "10.1.0.6")})});
    setAnswer(matrix, 1, "10.0.0.5", answered(Reach::kReached, "eth0", 900));
    QCOMPARE(interfacesOf(matrix), std::string("eth1=10.1.0.5 eth1=10.1.0.6"));
}

void TestNetworkMatrix::pairsThatWereNotDialedDoNotCount() {
    NetworkMatrix matrix = wholeNetwork({networkNode("a", {at("ens5", "10.0.0.5")}),
                                         networkNode("b", {at("ens5", "10.0.0.6")}),
                                         networkNode("c", {at("ens5", "10.0.0.7")})});
    std::erase_if(matrix.trials, [](const NetworkTrial& t) { return t.from == 1 && t.to == 2; });
    QVERIFY(chooseNetwork(matrix));
    QCOMPARE(countBlocked(matrix), 0);
}

/// A launch waits a moment only for the other addresses of a pair that has met.
void TestNetworkMatrix::waysThatHadTheirTimeAreTakenBeforeOthers() {
    NetworkMatrix matrix = wholeNetwork(
        {networkNode("a", {at("eth0", "10.0.0.5", 1000), at("ib0", "10.1.0.5", 100'000)}),
         networkNode("b", {at("eth0", "10.0.0.6", 1000), at("ib0", "10.1.0.6", 100'000)}),
         networkNode("c", {at("eth0", "10.0.0.7", 1000), at("ib0", "10.1.0.7", 100'000)})});
    setAnswer(matrix, 1, "10.1.0.7", answered(Reach::kUntried, ""));
    setAnswer(matrix, 2, "10.1.0.6", answered(Reach::kUntried, ""));
    QVERIFY(chooseNetwork(matrix)->isWhole);
    QVERIFY(interfacesOf(matrix).starts_with("eth0=10.0.0.5"));
    for (const char* address : {"10.0.0.5", "10.0.0.6", "10.0.0.7"})
        for (const int from : {0, 1, 2})
            setAnswer(matrix, from, address, kSilent);
    QVERIFY(!chooseNetwork(matrix)->isWhole);
    QCOMPARE(interfacesOf(matrix), std::string("ib0=10.1.0.5 ib0=10.1.0.6 ib0=10.1.0.7"));
    VERIFY_HAS(sentencesOf(matrix).front(), "ib0 on a, b and c, as far as there was time to try: ");
}

void TestNetworkMatrix::aNodeWithAProblemIsLeftOut() {
    NetworkMatrix matrix = oneNetwork();
    matrix.nodes.push_back({"node-c", {}, {}, "connect to node-c: refused"});
    matrix.nodes.insert(matrix.nodes.begin(), {"node-0", {}, {}, "connect to node-0: no route"});
    for (NetworkTrial& trial : matrix.trials)
        ++trial.from, ++trial.to;
    QCOMPARE(interfacesOf(matrix), std::string("= ens5=10.0.0.5 ens5=10.0.0.6 ="));
    const auto sentences = sentencesOf(matrix);
    VERIFY_HAS(sentences[0], "node-0 took no part: connect to node-0: no route");
    VERIFY_HAS(sentences[1], "node-c took no part: ");
    VERIFY_HAS(sentences[2], "All others reach each other in both directions by ens5");
}

void TestNetworkMatrix::aWayThatLosesLargePacketsIsNoWay() {
    NetworkMatrix matrix = oneNetwork();
    for (NetworkTrial& trial : matrix.trials)
        if (trial.from == 1)
            trial.answer.large = LargePackets::kLostThere;
    QVERIFY(!chooseNetwork(matrix));
    const std::string why = whyBlocked(matrix, 1, 0);
    VERIFY_HAS(why, "packets of full size are lost on the way there");
    VERIFY_HAS(why, "ens5 of node-b");
    VERIFY_HAS(why, "the other direction works");
}

void TestNetworkMatrix::oneBlockedDirectionIsNamed() {
    NetworkMatrix matrix = oneNetwork();
    setAnswer(matrix, 1, "10.0.0.5", kSilent);
    QCOMPARE(countBlocked(matrix), 1);
    QCOMPARE(whyBlocked(matrix, 0, 1), std::string());
    const std::string why = whyBlocked(matrix, 1, 0);
    VERIFY_HAS(why, "node-b cannot reach node-a: 10.0.0.5 (ens5) does not answer at port 29500, "
                    "35000 or 52000: dropped by a firewall on node-b, on node-a or by "
                    "something between; the other direction works; let TCP from 10.0.0.6 to "
                    "ports 29500 and 32768-60999 through");
    VERIFY_HAS(whyNoNetwork(matrix), QString::fromStdString(why));
}

void TestNetworkMatrix::whereAFirewallIsFollowsFromWhoReachesWhom() {
    const NetworkMatrix whole = wholeNetwork({networkNode("node-a", {at("ens5", "10.0.0.5")}),
                                              networkNode("node-b", {at("ens5", "10.0.0.6")}),
                                              networkNode("node-c", {at("ens5", "10.0.0.7")})});
    NetworkMatrix matrix = whole;
    setAnswer(matrix, 1, "10.0.0.5", kSilent);
    VERIFY_HAS(whyBlocked(matrix, 1, 0),
               "dropped between these two alone, by a firewall on node-b, on node-a or by "
               "something between");
    // Also what leaves node-b for the third one.
    setAnswer(matrix, 1, "10.0.0.7", kSilent);
    VERIFY_HAS(whyBlocked(matrix, 1, 0), "dropped by a firewall for what leaves node-b, on it or "
                                         "next to it, as others reach that address");
    matrix = whole;
    setAnswer(matrix, 1, "10.0.0.5", kSilent);
    setAnswer(matrix, 2, "10.0.0.5", kSilent);
    VERIFY_HAS(whyBlocked(matrix, 1, 0), "dropped by a firewall for what comes to node-a, on it "
                                         "or next to it, as nobody reaches that address");
    setAnswer(matrix, 1, "10.0.0.7", kSilent);
    VERIFY_HAS(whyBlocked(matrix, 1, 0),
               "dropped by a firewall on node-b, on node-a or by something between; the other");
}

void TestNetworkMatrix::aMissingRouteBackIsNoFirewall() {
    NetworkMatrix matrix = oneNetwork();
    setAnswer(matrix, 1, "10.0.0.5", kSilent);
    DialAnswer none = answered(Reach::kNoRoute, "");
    none.error = "Network is unreachable";
    setAnswer(matrix, 0, "10.0.0.6", none);
    const std::string why = whyBlocked(matrix, 1, 0);
    VERIFY_HAS(why, "the routes of node-a do not lead back to 10.0.0.6 (Network is unreachable)");
    QVERIFY2(why.find("firewall") == std::string::npos, why.c_str());
}

void TestNetworkMatrix::ofSeveralAddressesOfACardTheOneThatTheOtherReachesIsTheSource() {
    NetworkMatrix matrix =
        wholeNetwork({networkNode("node-a", {at("ens5", "10.0.0.5")}),
                      networkNode("node-b", {at("ens5", "10.60.0.6"), at("ens5", "10.0.0.6")})});
    setAnswer(matrix, 0, "10.60.0.6", answered(Reach::kNoRoute, ""));
    setAnswer(matrix, 1, "10.0.0.5", kSilent);
    const std::string why = whyBlocked(matrix, 1, 0);
    VERIFY_HAS(why, "dropped by a firewall on node-b");
    VERIFY_HAS(why, "let TCP from 10.0.0.6 to ports");
}

void TestNetworkMatrix::whereNoRouteLeadsIsToldWithAWayOut() {
    NetworkMatrix matrix = twoNetworks();
    for (const char* address : {"10.0.0.5", "10.1.0.5"})
        setAnswer(matrix, 1, address, answered(Reach::kNoRoute, ""));
    const std::string why = whyNoNetwork(matrix);
    VERIFY_HAS(why, "its own routes do not lead to 10.1.0.5 (ib0)");
    QVERIFY2(why.ends_with("the other direction works; give both an address in one network, or "
                           "node-b a route there"),
             why.c_str());
}

void TestNetworkMatrix::whoAnsweredByIcmpIsNamed() {
    NetworkMatrix matrix = oneNetwork();
    DialAnswer rejected = answered(Reach::kRejected, "ens5");
    rejected.error = "administratively prohibited";
    const auto said = [&](const char* by) {
        rejected.answeredBy = by;
        setAnswer(matrix, 1, "10.0.0.5", rejected);
        return whyBlocked(matrix, 1, 0);
    };
    VERIFY_HAS(said("10.0.0.5"),
               "the firewall of node-a (10.0.0.5) rejects connections to "
               "10.0.0.5 (ens5) by ICMP (administratively prohibited); the other direction");
    VERIFY_HAS(said("10.0.0.6"), "on node-b itself (10.0.0.6) rejects");
    VERIFY_HAS(said("10.0.0.1"), "a router or firewall between (10.0.0.1) rejects");
    VERIFY_HAS(said(""), "a router or firewall rejects");
}

/// Of several addresses the cell tells of the one whose trouble is one.
void TestNetworkMatrix::aCardOfAnotherNetworkDoesNotHideAFirewall() {
    for (const Reach other : {Reach::kNoRoute, Reach::kNoNeighbour}) {
        NetworkMatrix matrix = twoNetworks();
        setAnswer(matrix, 1, "10.1.0.5", answered(other, "ib0"));
        setAnswer(matrix, 1, "10.0.0.5", answered(Reach::kDropped, "eth0"));
        QCOMPARE(cellWords(*NetworkWays(matrix).best(1, 0)), std::string("dropped"));
        VERIFY_HAS(whyBlocked(matrix, 1, 0), "10.0.0.5 (eth0) does not answer");
    }
}

void TestNetworkMatrix::portsThatAreBlockedAreNamedWithTheRange() {
    NetworkMatrix matrix = oneNetwork();
    setPort(matrix, 1, 35000, kSilent);
    QVERIFY(!chooseNetwork(matrix));
    VERIFY_HAS(whyBlocked(matrix, 1, 0),
               "10.0.0.5 (ens5) answers at port 29500 and 52000, but not at 35000 (dropped): a "
               "firewall lets only some ports through, and Gloo and NCCL open ports of "
               "32768-60999");
}

/// A launch dials ports of the ephemeral range, unless its spec names one.
void TestNetworkMatrix::aPortThatNoRunNeedsIsToldAndNotJudgedBy() {
    NetworkMatrix matrix = oneNetwork();
    setPort(matrix, 1, kMeasuredPort, kSilent);
    QVERIFY(!chooseNetwork(matrix)); // of a launch whose spec names it
    matrix.optionalPort = kMeasuredPort;
    QCOMPARE(interfacesOf(matrix), std::string("ens5=10.0.0.5 ens5=10.0.0.6"));
    QCOMPARE(countBlocked(matrix), 0);
    const auto way = NetworkWays(matrix).best(1, 0);
    QCOMPARE(cellWords(*way), std::string("0.1 ms"));
    VERIFY_HAS(wayInWords(*way), "29500 dropped, 35000 0.1 ms");
    const std::vector<CheckRow> rows = networkFindings(matrix);
    QCOMPARE(rows.size(), size_t(2));
    QCOMPARE(rows[0].state, CheckRow::State::kGood);
    QCOMPARE(rows[1].state, CheckRow::State::kWarning);
    QCOMPARE(networkSentences(rows)[1],
             std::string("Port 29500 is blocked (dropped) from node-b to node-a at 10.0.0.5 "
                         "(ens5): it matters only if launch.master_port names it; leave "
                         "launch.master_port at 0, or let TCP from node-b to port 29500 of node-a "
                         "through."));
}

void TestNetworkMatrix::aPortOfTheRangeIsJudgedByWhateverItsNumber() {
    NetworkMatrix matrix = oneNetwork();
    setPort(matrix, 1, kMeasuredPort, kSilent);
    matrix.optionalPort = kMeasuredPort;
    matrix.nodes[0].ports.rangeFirst = 20000;
    QVERIFY(!chooseNetwork(matrix));
}

void TestNetworkMatrix::whereOnlyThatPortIsOpenAFirewallIsNamed() {
    NetworkMatrix matrix = oneNetwork();
    matrix.optionalPort = kMeasuredPort;
    for (const int64_t port : {35000, 52000})
        setPort(matrix, 1, port, kSilent);
    QVERIFY(!chooseNetwork(matrix));
    VERIFY_HAS(whyBlocked(matrix, 1, 0),
               "10.0.0.5 (ens5) answers at port 29500, but not at 35000 or 52000 (dropped): a "
               "firewall lets only some ports through");
}

void TestNetworkMatrix::onlyPortsThatCountAreAskedFor() {
    NetworkMatrix matrix = oneNetwork();
    matrix.optionalPort = kMeasuredPort;
    setAnswer(matrix, 1, "10.0.0.5", kSilent);
    VERIFY_HAS(whyBlocked(matrix, 1, 0), "let TCP from 10.0.0.6 to ports 32768-60999 through");
}

void TestNetworkMatrix::pairsThatWereNotTriedAreNamedAndNotCalledBlocked() {
    NetworkMatrix matrix = oneNetwork();
    DialAnswer untried = answered(Reach::kUntried, "");
    untried.error = "a node dials 8192 addresses and ports at most";
    setAnswer(matrix, 1, "10.0.0.5", untried);
    QCOMPARE(countBlocked(matrix), 0);
    const std::vector<CheckRow> rows = networkFindings(matrix);
    QCOMPARE(rows.size(), size_t(2));
    const auto sentences = networkSentences(rows);
    QCOMPARE(sentences[0], std::string("It is not known by which network all of them reach each "
                                       "other: not every pair was tried; try fewer nodes at a "
                                       "time."));
    QCOMPARE(sentences[1], std::string("node-b did not try node-a: a node dials 8192 addresses and "
                                       "ports at most; try fewer nodes at a time."));
    QCOMPARE(rows[1].state, CheckRow::State::kBad);
    VERIFY_HAS(whyNoNetwork(matrix), "node-b did not try node-a: ");
    // What was tried comes first.
    setAnswer(matrix, 0, "10.0.0.6", kSilent);
    VERIFY_HAS(sentencesOf(matrix)[0], "There is no network by which all of them");
    VERIFY_HAS(sentencesOf(matrix)[1], "node-a cannot reach node-b: ");
    VERIFY_HAS(sentencesOf(matrix)[2], "node-b did not try node-a: ");
}

void TestNetworkMatrix::aFindingSaysWhatCausesItAndWhatToDo() {
    NetworkMatrix matrix = oneNetwork();
    matrix.nodes.push_back({"node-c", {}, {}, "no login"});
    std::vector<CheckRow> rows = networkFindings(matrix);
    QCOMPARE(rows.size(), size_t(2));
    QCOMPARE(rows[1].state, CheckRow::State::kGood);
    QVERIFY(rows[0] ==
            (CheckRow{"node", CheckRow::State::kBad, "node-c", "node-c took no part", "no login",
                      "see with ringmaster nodes check node-c what is wrong with it"}));
    setAnswer(matrix, 1, "10.0.0.5", kSilent);
    rows = networkFindings(matrix);
    QCOMPARE(rows.size(), size_t(3));
    QCOMPARE(rows[1].state, CheckRow::State::kBad);
    QCOMPARE(rows[1].cause, std::string("a run on all of them would be refused"));
    QCOMPARE(rows[2].id, std::string("way"));
    QCOMPARE(rows[2].state, CheckRow::State::kBad);
    QCOMPARE(rows[2].title, std::string("node-b to node-a"));
    QCOMPARE(rows[2].evidence, std::string("node-b cannot reach node-a"));
    VERIFY_HAS(rows[2].cause, "dropped by a firewall on node-b");
    QCOMPARE(rows[2].fix,
             std::string("let TCP from 10.0.0.6 to ports 29500 and 32768-60999 through"));
    QCOMPARE(networkSentences(rows)[2],
             rows[2].evidence + ": " + rows[2].cause + "; " + rows[2].fix + ".");
}

/// Another address by which a pair does reach each other is no trouble.
void TestNetworkMatrix::aWayThatWorksByHalfIsAWarning() {
    NetworkMatrix matrix = twoNetworks();
    for (NetworkTrial& trial : matrix.trials)
        if (trial.address == "10.0.0.5" && trial.port == 35000)
            trial.answer = kSilent;
    const std::vector<CheckRow> rows = networkFindings(matrix);
    QCOMPARE(rows.size(), size_t(2));
    QCOMPARE(rows[1].state, CheckRow::State::kWarning);
    QCOMPARE(rows[1].evidence, std::string("From node-b, 10.0.0.5 (eth0) answers at port 29500 and "
                                           "52000, but not at 35000 (dropped)"));
    QVERIFY(!rows[1].cause.empty() && !rows[1].fix.empty());
}

void TestNetworkMatrix::everyKindOfFailureHasItsWords_data() {
    QTest::addColumn<int>("reach");
    QTest::addColumn<QString>("word");
    QTest::addColumn<QString>("part");
    const auto row = [](const char* name, Reach reach, const char* word, const char* part) {
        QTest::newRow(name) << static_cast<int>(reach) << QString(word) << QString(part);
    };
    row("refused", Reach::kRefused, "refused", "refuses port 29500");
    row("no route", Reach::kNoRoute, "no route", "its own routes do not lead to 10.0.0.5 (ens5): ");
    row("rejected", Reach::kRejected, "rejected", "rejects connections to 10.0.0.5 (ens5) by ICMP");
    row("unreachable", Reach::kUnreachable, "unreachable",
        "a router or firewall answers that 10.0.0.5 (ens5) cannot be reached by it");
    row("no neighbour", Reach::kNoNeighbour, "no neighbour", "10.0.0.5 (ens5) cannot be found: ");
    row("silent", Reach::kSilent, "silent", "10.0.0.5 (ens5) takes connections at port 29500");
    row("dropped", Reach::kDropped, "dropped", "does not answer");
    row("stranger", Reach::kStranger, "somebody else", "at 10.0.0.5 (ens5) ");
}

void TestNetworkMatrix::everyKindOfFailureHasItsWords() {
    QFETCH(int, reach);
    QFETCH(QString, word);
    QFETCH(QString, part);
    NetworkMatrix matrix = oneNetwork();
    setAnswer(matrix, 1, "10.0.0.5", answered(static_cast<Reach>(reach), "ens5"));
    VERIFY_HAS(whyBlocked(matrix, 1, 0), part);
    const auto way = NetworkWays(matrix).best(1, 0);
    QVERIFY(way);
    QCOMPARE(QString::fromStdString(cellWords(*way)), word);
    VERIFY_HAS(wayInWords(*way), word);
}

void TestNetworkMatrix::anAddressOfBothIsCalledSo() {
    NetworkMatrix matrix = wholeNetwork({networkNode("node-a", {at("docker0", "172.17.0.1")}),
                                         networkNode("node-b", {at("docker0", "172.17.0.1")})});
    for (NetworkTrial& trial : matrix.trials)
        trial.answer = answered(Reach::kStranger, "docker0");
    VERIFY_HAS(whyBlocked(matrix, 1, 0), "172.17.0.1 (docker0) is an address of node-b itself");
}

void TestNetworkMatrix::sixtyFourNodesAreChosenForAndNamedBriefly() {
    std::vector<NetworkNode> nodes;
    for (int i = 0; i < 64; ++i)
        nodes.push_back(networkNode("node-" + std::to_string(i),
                                    {at("ens5", "10.0.0." + std::to_string(i + 1))}));
    NetworkMatrix matrix = wholeNetwork(std::move(nodes));
    QVERIFY(chooseNetwork(matrix));
    VERIFY_HAS(sentencesOf(matrix).front(), "ens5 on 64 nodes");
    for (int from = 1; from < 64; ++from)
        setAnswer(matrix, from, "10.0.0.1", kSilent);
    QCOMPARE(countBlocked(matrix), 63);
    QVERIFY(sentencesOf(matrix).size() < 12);
}

void TestNetworkMatrix::theNetworkBetweenSomeIsAsIfTheOthersHadNotBeenAsked() {
    const auto networkOf = [](std::vector<std::string> names) {
        std::vector<NetworkNode> nodes;
        for (const std::string& name : names)
            nodes.push_back(example::networkNode(name, {example::at("ens5", "10.0.0." + name)}));
        return example::wholeNetwork(std::move(nodes));
    };
    const NetworkMatrix whole = networkOf({"1", "2", "3"});
    const auto without = [&whole](const std::string& gone) {
        return measuredBetween(whole, [&gone](const std::string& name) { return name != gone; });
    };
    QVERIFY(without("1") == networkOf({"2", "3"}));
    QVERIFY(without("2") == networkOf({"1", "3"}));
    QVERIFY(without("4") == whole);
    // Alone, a node has no network.
    QVERIFY(!measuredBetween(whole, [](const std::string& name) { return name == "1"; }));
    QVERIFY(!measuredBetween({}, [](const std::string&) { return true; }));
}

void TestNetworkMatrix::whereNcclTakesAnotherAddressOfTheCardIsTold() {
    NetworkMatrix matrix =
        wholeNetwork({networkNode("node-a", {at("ens5", "11.0.0.5"), at("ens5", "10.0.0.5")}),
                      networkNode("node-b", {at("ens5", "fd00::6"), at("ens5", "10.0.0.6")})});
    QCOMPARE(interfacesOf(matrix), std::string("ens5=10.0.0.5 ens5=10.0.0.6"));
    const std::string words = ncclElsewhere(matrix, *chooseNetwork(matrix));
    QCOMPARE(words, std::string("On GPUs, NCCL listens at 11.0.0.5 (ens5) on node-a, not at "
                                "10.0.0.5: it takes the first address of a card, whichever leads "
                                "to the others; make the chosen one the first there, or put it on "
                                "a card of its own"));
    QCOMPARE(sentencesOf(matrix)[1], words + ".");
    QCOMPARE(networkFindings(matrix)[1].state, CheckRow::State::kWarning);
    std::swap(matrix.nodes[0].addresses[0], matrix.nodes[0].addresses[1]);
    QCOMPARE(ncclElsewhere(matrix, *chooseNetwork(matrix)), std::string());
    QCOMPARE(networkFindings(matrix).size(), size_t(1));
}

void TestNetworkMatrix::thePrivateNetworkOfTheLastTestIsAdvisedAgainstAPublicAddress() {
    const std::vector<InterfaceReport> now = {at("docker0", "172.17.0.1"), at("mgmt0", "10.9.0.5"),
                                              at("eth0", "8.8.4.4"), at("ens5", "10.0.0.5")};
    const std::string firewall = "let a firewall admit the other nodes alone";
    QCOMPARE(publicAddressFix({}, "node-a", now), firewall);
    NetworkMatrix last =
        wholeNetwork({networkNode("node-a", now),
                      networkNode("node-b", {at("docker0", "172.17.0.1"), at("mgmt0", "10.8.0.5"),
                                             at("eth0", "8.8.4.5"), at("ens5", "10.0.0.6")})});
    for (const int from : {0, 1})
        for (const char* address : {"172.17.0.1", "10.9.0.5", "10.8.0.5"})
            setAnswer(last, from, address, answered(Reach::kNoRoute, ""));
    const std::string advised =
        firewall + ", or keep to a private network: launch.interface = \"ens5\"";
    QCOMPARE(publicAddressFix(last, "node-a", now), advised);
    QCOMPARE(publicAddressFix(last, "node-c", now), firewall); // took no part
    NetworkMatrix wider = last; // with one that nobody reached, and that has left the list
    wider.nodes.push_back(networkNode("node-z", {at("ens5", "10.0.0.99")}));
    wider.trials.push_back({0, 2, "", "10.0.0.99", 29500, kSilent});
    QCOMPARE(publicAddressFix(wider, "node-a", now), firewall);
    const auto isListed = [](const std::string& name) { return name != "node-z"; };
    QCOMPARE(publicAddressFix(measuredBetween(wider, isListed), "node-a", now), advised);
    std::vector<InterfaceReport> later = now;
    later.push_back(at("ens5", "8.8.4.9"));
    QCOMPARE(publicAddressFix(last, "node-a", later), firewall);
    later.resize(3); // it lacks that interface now
    QCOMPARE(publicAddressFix(last, "node-a", later), firewall);
    setAnswer(last, 1, "10.0.0.5", kSilent); // by a public address alone
    QCOMPARE(interfacesOf(last), std::string("eth0=8.8.4.4 eth0=8.8.4.5"));
    QCOMPARE(publicAddressFix(last, "node-a", now), firewall);
}

void TestNetworkMatrix::whatIsKeptIsReadAgain() {
    const QTemporaryDir folder;
    const std::string path = folder.path().toStdString();
    QCOMPARE(keptNetwork(path).error().code, ErrorCode::kNotFound);
    NetworkMatrix matrix = twoNetworks();
    matrix.nodes.push_back({"node-c", {}, {}, "no login"});
    matrix.optionalPort = kMeasuredPort;
    matrix.trials.push_back({0, 1, "eth0", "10.0.0.6", 29500, kSilent});
    matrix.trials.back().answer.answeredBy = "10.0.0.1";
    QVERIFY(keepNetwork(path, matrix));
    const auto kept = keptNetwork(path);
    QVERIFY(kept && *kept == matrix);
    QFile file(folder.filePath("network.json"));
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate) && file.write("half") == 4);
    file.close();
    QCOMPARE(keptNetwork(path).error().message,
             "read " + path + "/network.json: it is no measurement of the network; measure again");
}

/// "answered_by" came with version 2, and the port of which it was clear later.
void TestNetworkMatrix::aFileOfVersion1IsRead() {
    NetworkMatrix matrix = oneNetwork();
    matrix.optionalPort = kMeasuredPort;
    auto text = QByteArray::fromStdString(toJson(matrix)).replace("\"version\":2", "\"version\":1");
    text.replace("\"answered_by\":\"\",", "").replace("\"optional_port\":29500,", "");
    QVERIFY(!text.contains("answered_by") && !text.contains("optional_port"));
    QVERIFY(parseNetworkMatrix(text.toStdString()).value_or(NetworkMatrix()) ==
            parseNetworkMatrix(toJson(matrix)).value_or(NetworkMatrix()));
}

void TestNetworkMatrix::brokenFilesAreErrors_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("code");
    const auto whole = QByteArray::fromStdString(toJson(oneNetwork()));
    const auto row = [&](const char* name, QByteArray text, ErrorCode code = ErrorCode::kCorrupt) {
        QTest::newRow(name) << text << static_cast<int>(code);
    };
    row("no JSON", "half");
    row("a list", "[]");
    row("a node that there is not", QByteArray(whole).replace("\"to\":1", "\"to\":7"));
    row("a word that there is not", QByteArray(whole).replace("\"reached\"", "\"maybe\""));
    row("a port that is none", QByteArray(whole).replace("29500", "99999"));
    row("a later version", QByteArray(whole).replace("\"version\":2", "\"version\":3"),
        ErrorCode::kTooNew);
}

void TestNetworkMatrix::brokenFilesAreErrors() {
    QFETCH(QByteArray, text);
    QFETCH(int, code);
    const auto matrix = parseNetworkMatrix(text.toStdString());
    QVERIFY(!matrix);
    QCOMPARE(static_cast<int>(matrix.error().code), code);
}

void TestNetworkMatrix::publicAddressesAreKnown_data() {
    QTest::addColumn<QString>("address");
    QTest::addColumn<bool>("expected");
    for (const char* address :
         {"10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.9", "127.0.0.1", "169.254.1.1",
          "fe80::1", "fd00::1", "fc00::1", "::1", "nonsense", "", "2001:db8::1", "224.0.0.1"})
        QTest::newRow(*address ? address : "empty") << QString(address) << false;
    for (const char* address : {"8.8.8.8", "172.32.0.1", "100.128.0.1", "2a01:4f8::1", "11.0.0.1"})
        QTest::newRow(address) << QString(address) << true;
}

void TestNetworkMatrix::publicAddressesAreKnown() {
    QFETCH(QString, address);
    QFETCH(bool, expected);
    QCOMPARE(isPublic(address.toStdString()), expected);
}

void TestNetworkMatrix::kindsOfAddressesAreKnown() {
    for (const char* bridge : {"docker0", "br-3f2a", "virbr0", "vethab12", "cni0"})
        QVERIFY2(isVirtualInterface(bridge), bridge);
    for (const char* card : {"eth0", "ens5", "ib0", "br0", "bond0", "tailscale0", "wg0"})
        QVERIFY2(!isVirtualInterface(card), card);
    QVERIFY(isForOthers(at("eth0", "10.0.0.1")));
    for (const char* none : {"127.0.0.1", "::1", "169.254.3.1", "fe80::1"})
        QVERIFY2(!isForOthers(at("eth0", none)), none);
    QVERIFY(!isForOthers({"eth1", "10.0.0.9", 24, false, 1000}));
}

QTEST_GUILESS_MAIN(TestNetworkMatrix)
#include "tst_network_matrix.moc"
