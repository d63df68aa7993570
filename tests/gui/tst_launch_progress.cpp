// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/launch_progress.h"

#include <QLabel>
#include <QTest>

using namespace rm;

namespace {

constexpr QChar kNarrowSpace(0x202f); ///< between a number and its unit

} // namespace

class TestLaunchProgress : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void amountIsToldAsFarAsItIsKnown_data();
    void amountIsToldAsFarAsItIsKnown();
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
    LiveState live;
    live.launching = progress;
    card.show(live);
    QStringList texts;
    for (const QLabel* label : card.findChildren<QLabel*>())
        texts << label->text().replace(kNarrowSpace, ' ');
    QCOMPARE(texts, QStringList({"Send trainer", says}));
    QVERIFY(card.isVisible());
}

void TestLaunchProgress::nothingIsShownWithoutALaunch() {
    LaunchProgress card;
    card.show(LiveState());
    QVERIFY(!card.isVisible());
}

QTEST_MAIN(TestLaunchProgress)
#include "tst_launch_progress.moc"
