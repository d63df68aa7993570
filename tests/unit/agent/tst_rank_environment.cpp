// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/rank_environment.h"

#include <QObject>
#include <QTest>

using namespace rm;

class TestRankEnvironment : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void anInterfaceIsNamedWithTheFamilyOfItsAddress() {
        NodePlan plan;
        plan.interface = "eth0";
        const auto of = [&plan](const char* name) {
            const Environment environment = nodeEnvironment({}, plan);
            const auto at = environment.find(name);
            return at == environment.end() ? std::string("unset") : at->second;
        };
        constexpr const char* kFamily = "NCCL_SOCKET_FAMILY";
        QCOMPARE(of("NCCL_SOCKET_IFNAME"), std::string("eth0"));
        QCOMPARE(of("GLOO_SOCKET_IFNAME"), std::string("eth0"));
        QCOMPARE(of(kFamily), std::string("unset")); // as an older plan
        plan.address = "10.0.0.1";
        QCOMPARE(of(kFamily), std::string("AF_INET"));
        plan.address = "fd00::7";
        QCOMPARE(of(kFamily), std::string("AF_INET6"));
        plan.environment = {"NCCL_SOCKET_IFNAME=ib0"}; // which may lack that family
        QCOMPARE(of(kFamily), std::string("unset"));
        QCOMPARE(of("NCCL_SOCKET_IFNAME"), std::string("ib0"));
        plan = {};
        for (const char* name : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", kFamily})
            QCOMPARE(of(name), std::string("unset"));
    }
};

QTEST_APPLESS_MAIN(TestRankEnvironment)
#include "tst_rank_environment.moc"
