// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/compare_page.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/dialogs/connect_dialogs.h"
#include "app/ui/dialogs/node_dialog.h"
#include "app/ui/dialogs/too_large_dialog.h"
#include "app/ui/look/theme.h"
#include "app/ui/run/run_page.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/widget_audit.h"
#include "tests/gui/support/window_fixture.h"

#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSet>
#include <QTest>

#include <algorithm>
#include <functional>
#include <memory>

using namespace rm;
using namespace rm::test;

class TestAccessibleNames : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void everyControlHasAName();
    void everyVisibleControlIsReachableByTab();
    void tabPassesEveryControlOfThePage();
    void escapeEmptiesAFilterBeforeItClosesAnything();
    void theFocusComesBackAfterADialog();
    void theColoursAreChosenFromAMenu();
    void theRailCountsLiveRunsAndHasIcons();
    void dialogsHaveNamesToo();

private:
    std::unique_ptr<WindowFixture> m_demo;
};

void TestAccessibleNames::initTestCase() {
    m_demo = std::make_unique<WindowFixture>(WindowFixture::Content::kDemo);
    QVERIFY2(m_demo->isGood(), qPrintable(m_demo->problem()));
    m_demo->window().showRun(kRunningRun);
    QTRY_VERIFY(m_demo->window().findChild<QPushButton*>("pauseRun")->isVisible());
}

void TestAccessibleNames::everyControlHasAName() {
    m_demo->window().newRunPage(); // makes it, as the others
    m_demo->window().comparePage();
    m_demo->window().machinesPage();
    const QStringList nameless = namelessControls(m_demo->window());
    QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join('\n')));
}

void TestAccessibleNames::everyVisibleControlIsReachableByTab() {
    const std::vector<std::function<void()>> pages = {
        [this] { m_demo->window().showWelcome(); },
        [this] { m_demo->window().showRuns(); },
        [this] { m_demo->window().showRun(kRunningRun); },
        [this] { m_demo->window().showNewRun(); },
        [this] { m_demo->window().showNodes(); },
        [this] { m_demo->window().showMachines(); },
        [this] {
            m_demo->window().compare({kFinishedRun, kPausedRun});
        },
        [this] { m_demo->window().comparePage().showView(ComparePage::kScatter); },
        [this] { m_demo->window().comparePage().showView(ComparePage::kParallel); }};
    const auto expectAll = [this] {
        const QStringList unreachable = unreachableControls(m_demo->window());
        QVERIFY2(unreachable.isEmpty(), qPrintable(unreachable.join('\n')));
        const QStringList nameless = namelessControls(m_demo->window());
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join('\n')));
    };
    for (const auto& open : pages) {
        open();
        expectAll();
    }
    m_demo->window().showRun(kRunningRun);
    for (const auto* tab : m_demo->window().runPage().findChildren<QPushButton*>())
        if (tab->property("role") == "tab") {
            const_cast<QPushButton*>(tab)->click();
            expectAll();
        }
}

/// What the audit says of each control, tried: the Tab key comes by all of them, and back to the
/// first.
void TestAccessibleNames::tabPassesEveryControlOfThePage() {
    m_demo->window().showRuns();
    QTRY_VERIFY(m_demo->window().findChild<QWidget*>("runsTable")->isVisible());
    auto* first = m_demo->window().findChild<QWidget*>("railRuns");
    first->setFocus();
    QSet<QString> passed;
    constexpr int kMost = 200;
    for (int at = 0; at < kMost; ++at) {
        QTest::keyClick(m_demo->window().focusWidget(), Qt::Key_Tab);
        passed << m_demo->window().focusWidget()->objectName();
        if (m_demo->window().focusWidget() == first)
            break;
    }
    QCOMPARE(m_demo->window().focusWidget(), first);
    for (const char* name : {"railNewRun", "railMachines", "railTheme", "railPalette", "runsFilter",
                             "chooseColumns", "newRun", "runsTable"})
        QVERIFY2(passed.contains(name), name);
}

void TestAccessibleNames::escapeEmptiesAFilterBeforeItClosesAnything() {
    m_demo->window().showRuns();
    auto* filter = m_demo->window().findChild<QLineEdit*>("runsFilter");
    filter->setFocus();
    QTest::keyClicks(filter, "gpt");
    QTest::keyClick(filter, Qt::Key_Escape);
    QCOMPARE(filter->text(), QString());
    QCOMPARE(m_demo->window().focusWidget(), filter);
    m_demo->window().showManual("index");
    auto* manual = m_demo->window().findChild<QDialog*>("manual");
    auto* search = manual->findChild<QLineEdit*>("manualSearch");
    search->setFocus();
    search->setText("checkpoint");
    QTest::keyClick(search, Qt::Key_Escape);
    QVERIFY(search->text().isEmpty() && manual->isVisible());
    QTest::keyClick(search, Qt::Key_Escape);
    QTRY_VERIFY(!m_demo->window().findChild<QDialog*>("manual") || !manual->isVisible());
}

void TestAccessibleNames::theFocusComesBackAfterADialog() {
    m_demo->window().showRuns();
    auto* columns = m_demo->window().findChild<QPushButton*>("chooseColumns");
    columns->setFocus();
    QTest::keyClick(columns, Qt::Key_Space);
    QTRY_VERIFY(m_demo->window().findChild<QDialog*>("columnsDialog"));
    QTest::keyClick(m_demo->window().findChild<QDialog*>("columnsDialog"), Qt::Key_Escape);
    QTRY_VERIFY(!m_demo->window().findChild<QDialog*>("columnsDialog"));
    QCOMPARE(m_demo->window().focusWidget(), columns);
}

void TestAccessibleNames::theColoursAreChosenFromAMenu() {
    auto* button = m_demo->window().findChild<QPushButton*>("railTheme");
    const QString before = modeName(Theme::instance().mode());
    for (const char* mode : {"dark", "light", "system"}) {
        button->click();
        auto* menu = button->findChild<QMenu*>("themes");
        QVERIFY(menu && menu->isVisible());
        menu->findChild<QAction*>(QString("theme.") + mode)->trigger();
        menu->close();
        QTRY_VERIFY(!button->findChild<QMenu*>("themes"));
        QCOMPARE(modeName(Theme::instance().mode()), QString(mode));
        QCOMPARE(button->accessibleName(), button->text());
    }
    Theme::instance().setMode(modeFromName(before));
}

void TestAccessibleNames::theRailCountsLiveRunsAndHasIcons() {
    const auto& runs = m_demo->window().runs().runs();
    const auto live =
        std::ranges::count_if(runs, [](const RunSummary& run) { return isLive(run.state); });
    QVERIFY(live > 0);
    const auto* title = m_demo->window().findChild<QLabel*>("railLiveTitle");
    QVERIFY2(title->text().endsWith(QString::number(live)), qPrintable(title->text()));
    for (const char* name :
         {"railRuns", "railNewRun", "railNodes", "railCompare", "railMachines", "railTheme"})
        QVERIFY2(!m_demo->window().findChild<QPushButton*>(name)->icon().isNull(), name);
}

void TestAccessibleNames::dialogsHaveNamesToo() {
    const Node node{"node-c", false, "node-c.lan", {}, 0, {}};
    HostKeyDialog trust(node, "SHA256:abc", &m_demo->window());
    PasswordDialog password(node, "it wants a password", &m_demo->window());
    NodeDialog add(m_demo->fleet(), &m_demo->window());
    TooLargeDialog tooLarge("node-c has too little memory", &m_demo->window());
    for (const QDialog* dialog : {static_cast<QDialog*>(&trust), static_cast<QDialog*>(&password),
                                  static_cast<QDialog*>(&add), static_cast<QDialog*>(&tooLarge)}) {
        const QStringList nameless = namelessControls(*dialog);
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join('\n')));
        QVERIFY(!dialog->accessibleName().isEmpty());
    }
    for (const auto& [button, name] : {std::pair("renameRun", "renameDialog"),
                                       {"showTrash", "trashDialog"},
                                       {"cleanNodes", "cleanNodesDialog"},
                                       {"importNodes", "importNodesDialog"},
                                       {"checkHistory", "checkHistoryDialog"},
                                       {"testLinks", "linkTestDialog"}}) {
        m_demo->window().findChild<QPushButton*>(button)->click();
        auto* dialog = m_demo->window().findChild<QDialog*>(name);
        QVERIFY(dialog);
        const QStringList nameless = namelessControls(*dialog);
        QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join('\n')));
        QVERIFY(!dialog->accessibleName().isEmpty());
        dialog->close();
        QTRY_VERIFY(!m_demo->window().findChild<QDialog*>(name));
    }
}

QTEST_MAIN(TestAccessibleNames)
#include "tst_accessible_names.moc"
