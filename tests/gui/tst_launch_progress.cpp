// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/launch_progress.h"

#include <QLabel>
#include <QTest>

#include <utility>
#include <vector>

using namespace rm;

namespace {

constexpr QChar kNarrowSpace(0x202f); ///< between a number and its unit

/// What the card says while that goes on, line by line.
QStringList textsOf(LaunchProgress& card, const Progress& progress) {
    LiveState live;
    live.launching = progress;
    card.show(live);
    QStringList texts;
    for (const QLabel* label : card.findChildren<QLabel*>())
        if (!label->isHidden())
            texts << label->text().replace(kNarrowSpace, ' ');
    return texts;
}

/// Of a trainer of 42 MB for each of `nodes`, which is to take so many seconds more there.
Progress sending(const std::vector<std::pair<QString, double>>& nodes) {
    Progress progress{.stage = "Send trainer"};
    for (const auto& [name, seconds] : nodes) {
        Progress node{.stage = name, .done = 3'000'000, .total = 42'000'000};
        node.sent = 1'500'000;
        node.bytesPerSec = 2e6;
        node.secondsLeft = seconds;
        progress.nodes.push_back(node);
        progress.done += node.done;
        progress.total += node.total;
    }
    return progress;
}

} // namespace

class TestLaunchProgress : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void amountIsToldAsFarAsItIsKnown_data();
    void amountIsToldAsFarAsItIsKnown();
    void eachNodeHasALine();
    void theNodeThatGetsItAloneIsNamed();
    void ofManyNodesTheSlowestAreTold();
    void nothingIsShownWithoutALaunch();
};

void TestLaunchProgress::amountIsToldAsFarAsItIsKnown_data() {
    QTest::addColumn<Progress>("progress");
    QTest::addColumn<QString>("says");
    Progress progress{.stage = "Send trainer", .done = 3'000'000, .total = 42'000'000};
    progress.sent = 1'500'000;
    QTest::newRow("too early for a pace") << progress << "1.5 MB sent";
    progress.bytesPerSec = 2e6;
    QTest::newRow("pace") << progress << "1.5 MB sent · 2 MB/s";
    progress.secondsLeft = 75;
    QTest::newRow("pace and time") << progress << "1.5 MB sent · 2 MB/s · 1 min left";
    progress.done = progress.total;
    QTest::newRow("all sent") << progress << "1.5 MB sent · the node puts it in place";
    progress.total = 0;
    QTest::newRow("nothing to send") << progress << "";
}

void TestLaunchProgress::amountIsToldAsFarAsItIsKnown() {
    QFETCH(Progress, progress);
    QFETCH(QString, says);
    LaunchProgress card;
    QCOMPARE(textsOf(card, progress), QStringList({"Send trainer", says}));
    QVERIFY(card.isVisible());
}

void TestLaunchProgress::eachNodeHasALine() {
    LaunchProgress card;
    Progress progress =
        sending({{"gpu1 (900 MB of its own torch are used)", 75}, {"gpu2 from gpu1", -1}});
    QStringList texts = textsOf(card, progress);
    QCOMPARE(texts.first(), "Send trainer to 2 nodes");
    QCOMPARE(texts.mid(2), QStringList({"gpu1 (900 MB of its own torch are used): 3 MB of 42 MB · "
                                        "1.5 MB sent · 2 MB/s · 1 min left",
                                        "gpu2 from gpu1: 3 MB of 42 MB · 1.5 MB sent · 2 MB/s"}));
    progress.nodes.front().done = progress.nodes.front().total;
    texts = textsOf(card, progress);
    QVERIFY2(texts[2].endsWith("the node puts it in place"), qPrintable(texts[2]));
    QCOMPARE(textsOf(card, {"Start ranks"}), QStringList({"Start ranks", ""}));
}

void TestLaunchProgress::theNodeThatGetsItAloneIsNamed() {
    LaunchProgress card;
    const QStringList texts =
        textsOf(card, sending({{"gpu1 (900 MB of its own torch are used)", 75}}));
    QCOMPARE(texts.first(), "Send trainer to gpu1 (900 MB of its own torch are used)");
    QCOMPARE(texts.size(), 2);
}

void TestLaunchProgress::ofManyNodesTheSlowestAreTold() {
    std::vector<std::pair<QString, double>> nodes;
    for (int node = 0; node < 12; ++node)
        nodes.emplace_back(QString("n%1").arg(node), 100 - node);
    nodes[10].second = -1; // stands still
    LaunchProgress card;
    QStringList names;
    for (const QString& line : textsOf(card, sending(nodes)).mid(2))
        names << line.section(':', 0, 0);
    QCOMPARE(names, QStringList({"n0", "n1", "n2", "n3", "n4", "n5", "n6", "n10", "and 4 more"}));
}

void TestLaunchProgress::nothingIsShownWithoutALaunch() {
    LaunchProgress card;
    card.show(LiveState());
    QVERIFY(!card.isVisible());
}

QTEST_MAIN(TestLaunchProgress)
#include "tst_launch_progress.moc"
