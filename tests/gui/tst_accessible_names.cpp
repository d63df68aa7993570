// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/connect_dialogs.h"
#include "app/ui/dialogs/node_dialog.h"
#include "app/ui/dialogs/too_large_dialog.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/widget_audit.h"
#include "tests/gui/support/window_fixture.h"

#include <QPushButton>
#include <QTest>

using namespace rm;
using namespace rm::test;

class TestAccessibleNames : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void everyControlHasAName();
    void everyVisibleControlIsReachableByTab();
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
    const QStringList nameless = namelessControls(m_demo->window());
    QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join('\n')));
}

void TestAccessibleNames::everyVisibleControlIsReachableByTab() {
    const std::vector<std::function<void()>> pages = {
        [this] { m_demo->window().showWelcome(); }, [this] { m_demo->window().showRuns(); },
        [this] { m_demo->window().showRun(kRunningRun); },
        [this] { m_demo->window().showNewRun(); }, [this] { m_demo->window().showNodes(); }};
    for (const auto& open : pages) {
        open();
        const QStringList unreachable = unreachableControls(m_demo->window());
        QVERIFY2(unreachable.isEmpty(), qPrintable(unreachable.join('\n')));
    }
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
