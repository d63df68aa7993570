// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/named_nodes.h"

#include <QTest>

using namespace rm;
using namespace rm::cli;

namespace {

std::vector<Node> someNodes() {
    std::vector<Node> nodes(3);
    nodes[0].name = "a";
    nodes[0].groups = {"lab"};
    nodes[1].name = "b";
    nodes[1].groups = {"lab", "big"};
    nodes[2].name = "c";
    return nodes;
}

} // namespace

class tst_named_nodes : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aGroupStandsForItsNodes() {
        const auto lab = namedPlacements(someNodes(), {"@lab:2", "c"});
        QVERIFY2(lab, lab ? "" : lab.error().message.c_str());
        QCOMPARE(*lab, (std::vector<Placement>{{"a", 2}, {"b", 2}, {"c", 0}}));
        QCOMPARE(*namedNodes(someNodes(), {"@lab", "c"}),
                 (std::vector<std::string>{"a", "b", "c"}));
    }
    void aNodeThatIsNamedItselfHasItsOwnRanks() {
        QCOMPARE(*namedPlacements(someNodes(), {"@lab", "b:4", "@big:3"}),
                 (std::vector<Placement>{{"a", 0}, {"b", 4}}));
    }
    void withoutNamesItIsThisComputer() {
        QCOMPARE(*namedPlacements(someNodes(), {}), (std::vector<Placement>{{kLocalNodeName, 0}}));
    }
    void anUnknownGroupIsNamedWithThoseThatAre() {
        const auto none = namedPlacements(someNodes(), {"@lap"});
        QVERIFY(!none);
        QCOMPARE(none.error().code, ErrorCode::kNotFound);
        QCOMPARE(none.error().message,
                 std::string("find the nodes of @lap: no node is in that group; groups are @big, "
                             "@lab"));
        const auto ranks = namedPlacements(someNodes(), {"@lab:none"});
        QCOMPARE(ranks.error().code, ErrorCode::kInvalid);
        QVERIFY(!namedNodes({}, {"@lab"}));
    }
};

QTEST_APPLESS_MAIN(tst_named_nodes)
#include "tst_named_nodes.moc"
