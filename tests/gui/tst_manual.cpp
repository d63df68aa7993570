// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/data/runs_feed.h"
#include "app/ui/dialogs/manual_window.h"
#include "app/ui/dialogs/node_dialog.h"
#include "app/ui/dialogs/sheet.h"
#include "app/ui/look/theme.h"
#include "app/ui/run/run_page.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/widget_audit.h"
#include "tests/gui/support/window_fixture.h"

#include <QDirIterator>
#include <QFile>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollBar>
#include <QSet>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>
#include <QUrl>

using namespace rm;
using namespace rm::test;

/// The manual in a window of its own.
class TestManual : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void cleanup();
    void eachPageOpensItsTopic();
    void aQuestionMarkInAFieldIsTyped();
    void aDialogOpensItsTopic();
    void everyDialogHasATopic();
    void theRailOpensItToo();
    void aLinkLeadsToItsTopicAndHeading();
    void wordsLeadToTheirLine();
    void anotherThemeKeepsThePlace();
    void everyTopicFitsItsWindow();
    void itsControlsHaveNames();

private:
    bool isActive(); ///< the window, once it has been told so
    ManualWindow& opened();
    QString title() const; ///< of the topic that is shown
    template <class Widget>
    Widget* find(const char* name) const {
        return m_demo->window().findChild<Widget*>(name);
    }

    std::unique_ptr<WindowFixture> m_demo;
};

void TestManual::initTestCase() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    QTRY_VERIFY(m_demo->window().runs().isLoaded()); // which shows the page of runs, once
}

void TestManual::cleanup() {
    if (auto* manual = m_demo->window().findChild<ManualWindow*>())
        manual->close();
    QTRY_VERIFY(!m_demo->window().findChild<ManualWindow*>());
}

bool TestManual::isActive() {
    m_demo->window().activateWindow();
    return QTest::qWaitForWindowActive(&m_demo->window());
}

ManualWindow& TestManual::opened() {
    m_demo->window().showManual("index");
    return *m_demo->window().findChild<ManualWindow*>();
}

QString TestManual::title() const {
    const auto* page = find<QTextBrowser>("manualPage");
    return page ? page->toPlainText().section('\n', 0, 0) : QString();
}

void TestManual::eachPageOpensItsTopic() {
    MainWindow& window = m_demo->window();
    const auto manual = Manual::read();
    QVERIFY(manual);
    const std::vector<std::pair<std::function<void()>, QString>> pages = {
        {[&] { window.showWelcome(); }, "first-run"},
        {[&] { window.showRuns(); }, "runs"},
        {[&] { window.showNewRun(); }, "launch"},
        {[&] { window.showNodes(); }, "nodes"},
        {[&] {
             window.showRun(kRunningRun);
             window.runPage().showTab(RunPage::kCheckpoints);
         },
         "checkpoints"},
        {[&] {
             window.showRun(kFailedRun);
             window.runPage().showTab(RunPage::kCharts);
             QTRY_COMPARE(window.runPage().manualTopic(), "failures");
         },
         "failures"}};
    for (const auto& [open, topic] : pages) {
        open();
        for (const auto key : {Qt::Key_F1, Qt::Key_Question}) {
            QVERIFY(isActive());
            window.setFocus();
            QTest::keyClick(&window, key);
            QTRY_COMPARE(title(), manual->topic(topic)->title);
            cleanup();
        }
    }
}

void TestManual::aQuestionMarkInAFieldIsTyped() {
    QVERIFY(isActive());
    m_demo->window().showRuns();
    auto* filter = find<QLineEdit>("runsFilter");
    filter->setFocus();
    QTRY_VERIFY(filter->hasFocus());
    QTest::keyClick(filter, '?');
    QCOMPARE(filter->text(), QString("?"));
    QVERIFY(!m_demo->window().findChild<ManualWindow*>());
    filter->clear();
}

/// Above the dialog, which blocks the window behind it, and by key and button.
void TestManual::aDialogOpensItsTopic() {
    m_demo->window().showNodes();
    auto* dialog = new NodeDialog(m_demo->fleet(), &m_demo->window());
    dialog->open();
    QVERIFY(QTest::qWaitForWindowActive(dialog));
    const auto titleNow = [&] {
        const auto* page = dialog->findChild<QTextBrowser*>("manualPage");
        return page ? page->toPlainText().section('\n', 0, 0) : QString();
    };
    const QString wanted = Manual::read()->topic("nodes")->title;
    QTest::keyClick(dialog, Qt::Key_F1);
    QTRY_COMPARE(titleNow(), wanted);
    dialog->findChild<ManualWindow*>()->close();
    QTRY_VERIFY(!dialog->findChild<ManualWindow*>());
    QVERIFY(!qobject_cast<QPushButton*>(dialog->focusWidget())); // but a field
    dialog->findChild<QPushButton*>("sheetHelp")->click();
    QTRY_COMPARE(titleNow(), wanted);
    dialog->close();
    QTRY_VERIFY(!m_demo->window().findChild<NodeDialog*>());
}

void TestManual::everyDialogHasATopic() {
    static const QRegularExpression named("\"([a-zA-Z]+Dialog)\"");
    const auto manual = Manual::read();
    QVERIFY(manual);
    QSet<QString> names;
    QDirIterator sources(qEnvironmentVariable("RINGMASTER_SOURCE") + "/app/ui", {"*.cpp"},
                         QDir::Files, QDirIterator::Subdirectories);
    while (sources.hasNext()) {
        QFile file(sources.next());
        QVERIFY(file.open(QIODevice::ReadOnly));
        for (auto found = named.globalMatch(QString::fromUtf8(file.readAll())); found.hasNext();)
            names << found.next().captured(1);
    }
    QVERIFY(names.size() > 30);
    for (const QString& name : names) {
        const Sheet sheet({}, {}, name.toLatin1().constData(), nullptr);
        const QString topic = sheet.manualTopic().section('#', 0, 0);
        QVERIFY2(manual->topic(topic) && topic != kManualIndex, qPrintable(name));
    }
}

void TestManual::theRailOpensItToo() {
    m_demo->window().showNodes();
    QTest::mouseClick(find<QPushButton>("railManual"), Qt::LeftButton);
    QTRY_VERIFY(find<QTextBrowser>("manualPage"));
}

void TestManual::aLinkLeadsToItsTopicAndHeading() {
    opened();
    auto* page = find<QTextBrowser>("manualPage");
    const auto manual = Manual::read();
    QVERIFY(manual);
    Q_EMIT page->anchorClicked(QUrl("launch.md"));
    QCOMPARE(title(), manual->topic("launch")->title);
    QCOMPARE(find<QListWidget>("manualTopics")->currentItem()->text(),
             manual->topic("launch")->title);
    QString last; // heading
    for (const QString& line : manual->topic("launch")->text.split('\n'))
        if (line.startsWith("## "))
            last = line.mid(3);
    Q_EMIT page->anchorClicked(QUrl("launch.md#" + anchorOf(last)));
    QCOMPARE(page->textCursor().block().text(), last);
    QVERIFY(page->verticalScrollBar()->value() > 0);
}

void TestManual::wordsLeadToTheirLine() {
    opened();
    auto* search = find<QLineEdit>("manualSearch");
    auto* list = find<QListWidget>("manualTopics");
    const int topics = list->count();
    QTest::keyClicks(search, "sbatch");
    QVERIFY(list->count() > 0);
    QVERIFY(list->item(0)->text().contains("sbatch"));
    QTest::keyClick(search, Qt::Key_Return);
    QVERIFY(find<QTextBrowser>("manualPage")->toPlainText().contains("sbatch"));
    search->clear();
    QCOMPARE(list->count(), topics);
    QTest::keyClicks(search, "zebra");
    QCOMPARE(list->count(), 1);
    QCOMPARE(list->item(0)->flags(), Qt::ItemFlags(Qt::NoItemFlags));
}

void TestManual::anotherThemeKeepsThePlace() {
    ManualWindow& manual = opened();
    manual.showTopic("launch");
    QVERIFY(QTest::qWaitForWindowExposed(&manual));
    auto* bar = find<QTextBrowser>("manualPage")->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 400);
    for (const int place : {0, 200}) {
        bar->setValue(place);
        for (const auto mode : {Theme::Mode::kDark, Theme::Mode::kLight}) {
            Theme::instance().setMode(mode);
            QCoreApplication::processEvents();
            QCOMPARE(bar->value(), place);
        }
    }
}

void TestManual::everyTopicFitsItsWindow() {
    ManualWindow& manual = opened();
    auto* page = find<QTextBrowser>("manualPage");
    const auto all = Manual::read();
    QVERIFY(all);
    for (const ManualTopic& topic : all->topics()) {
        manual.showTopic(topic.name);
        QCOMPARE(title(), topic.title);
        const QStringList clipped = clippedTexts(manual);
        QVERIFY2(clipped.isEmpty(), qPrintable(topic.name + ":\n" + clipped.join('\n')));
        QVERIFY2(page->horizontalScrollBar()->maximum() == 0, qPrintable(topic.name));
    }
}

void TestManual::itsControlsHaveNames() {
    const QStringList nameless = namelessControls(opened());
    QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join('\n')));
}

QTEST_MAIN(TestManual)
#include "tst_manual.moc"
