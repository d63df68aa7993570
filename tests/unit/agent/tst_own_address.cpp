// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/net/own_address.h"

#include <QTest>

using namespace rm;

namespace {

InterfaceAddress at(const std::string& interface, const std::string& host) {
    const bool isSix = host.find(':') != std::string::npos;
    const auto address = parseSocketAddress((isSix ? "[" + host + "]" : host) + ":1");
    return {interface, address.value_or(SocketAddress()), {}};
}

/// A node of a cluster of Debian machines: its own /etc/hosts says 127.0.1.1 of its name, and
/// bridges of containers come first.
OwnAddressHints debian() {
    OwnAddressHints hints;
    hints.ofName = {"127.0.1.1"};
    hints.launcher = "10.1.0.1";
    hints.towardsLauncher = "10.1.0.7";
    hints.interfaces = {at("lo", "127.0.0.1"),         at("docker0", "172.17.0.1"),
                        at("virbr0", "192.168.122.1"), at("usb0", "169.254.3.1"),
                        at("ens5", "10.1.0.7"),        at("ib0", "10.2.0.7")};
    return hints;
}

} // namespace

class TestOwnAddress : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void whatTheNameMeansElsewhereIsTaken() {
        OwnAddressHints hints = debian();
        hints.ofName = {"127.0.1.1", "10.3.0.7"};
        QCOMPARE(ownAddress(hints), std::string("10.3.0.7"));
    }

    void aNameThatMeansThisMachineAloneIsNoAddress() {
        QCOMPARE(ownAddress(debian()), std::string("10.1.0.7"));
        OwnAddressHints hints = debian();
        hints.towardsLauncher = "10.2.0.7"; // by another network than the first interface
        QCOMPARE(ownAddress(hints), std::string("10.2.0.7"));
    }

    void bridgesOfContainersAndLinkLocalAddressesComeLast() {
        OwnAddressHints hints = debian();
        hints.launcher = hints.towardsLauncher = {};
        QCOMPARE(ownAddress(hints), std::string("10.1.0.7"));
        hints.interfaces.resize(4);
        QCOMPARE(ownAddress(hints), std::string("172.17.0.1")); // better than none
        hints.interfaces.resize(1);
        QCOMPARE(ownAddress(hints), std::string("127.0.0.1"));
    }

    void aChosenInterfaceIsTaken() {
        OwnAddressHints hints = debian();
        hints.ofName = {"10.3.0.7"};
        for (const auto& [interface, host] :
             {std::pair("ib0", "10.2.0.7"), {"docker0", "172.17.0.1"}, {"usb0", "169.254.3.1"}}) {
            hints.interface = interface;
            QCOMPARE(ownAddress(hints), std::string(host));
        }
        hints.interface = "eth9"; // not here
        QCOMPARE(ownAddress(hints), std::string("10.3.0.7"));
    }

    void aClusterOnOneMachineMeetsAtLoopback() {
        OwnAddressHints hints = debian();
        hints.launcher = hints.towardsLauncher = "127.0.0.1";
        QCOMPARE(ownAddress(hints), std::string("127.0.1.1"));
    }

    void theWayToAnAddressTellsTheOwnOne() {
        QCOMPARE(sourceTowards("127.0.0.5")->host(), std::string("127.0.0.1"));
        QVERIFY(!sourceTowards("no address"));
    }
};

QTEST_APPLESS_MAIN(TestOwnAddress)
#include "tst_own_address.moc"
