// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/main_window.h"
#include "app/ui/nodes/nodes_page.h"
#include "tests/gui/flow/flow.h"
#include "tests/gui/flow/node_processes.h"
#include "tests/gui/flow/run_view.h"
#include "tests/support/requirement.h"

#include <QLineEdit>
#include <QTest>

#include <pwd.h>
#include <unistd.h>

using namespace rm;
using namespace rm::test;

namespace {

const QString kPassword = QStringLiteral("correct horse");
const QString kNewPassword = QStringLiteral("battery staple");

} // namespace

/// A node that takes only a password, through the window. Its functions build on each other.
class TestPasswordLogin : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void cleanupTestCase() { m_flow.reset(); }
    void wrongPasswordIsAskedForAgain();
    void refusedLoginIsAskedAboutOnce();
    void aLaunchAsksForThePassword();

private:
    const Hand& hand() const { return m_flow->hand(); }
    QString question() const;
    int refusals() const { return m_flow->server().log().count("Failed password"); }
    Result<void> addNode();
    Result<void> answer(const QString& password);

    std::unique_ptr<Flow> m_flow;
};

void TestPasswordLogin::initTestCase() {
    const auto can = canRunSshd();
    RM_NEEDS("sshd", can, QString::fromStdString(can.error().message));
    const auto own = canMountOwnFiles();
    RM_NEEDS("root", own, QString::fromStdString(own.error().message));
    auto flow = Flow::prepare({.files = {shadowWith(kPassword)}});
    QVERIFY2(flow, flow ? "" : flow.error().message.c_str());
    m_flow = std::move(*flow);
}

void TestPasswordLogin::init() {
    if (!m_flow)
        QFAIL("what this builds on failed");
}

void TestPasswordLogin::cleanup() {
    if (QTest::currentTestFailed())
        m_flow.reset();
}

QString TestPasswordLogin::question() const {
    const QWidget* dialog = hand().visible("passwordDialog");
    return dialog ? textsOn(*dialog).join(' ') : QString();
}

Result<void> TestPasswordLogin::addNode() {
    const std::pair<const char*, QString> fields[] = {
        {"nodeHost", m_flow->server().address()},
        {"nodeName", kNodeName},
        {"nodeUser", ::getpwuid(::getuid())->pw_name},
        {"nodePort", QString::number(m_flow->server().port())}};
    for (const char* button : {"railNodes", "addNode"})
        if (auto clicked = hand().click(button); !clicked)
            return clicked;
    for (const auto& [field, text] : fields)
        if (auto typed = hand().type(field, text); !typed)
            return typed;
    return hand().click("addNodeConfirm");
}

Result<void> TestPasswordLogin::answer(const QString& password) {
    if (auto typed = hand().type("password", password); !typed)
        return typed;
    return hand().click("connect");
}

void TestPasswordLogin::wrongPasswordIsAskedForAgain() {
    RM_DO(addNode());
    RM_DO(hand().click("trustKey"));
    QTRY_VERIFY_WITH_TIMEOUT(question().contains("Password for " + kNodeName), kSoonMs);
    const auto* field = qobject_cast<QLineEdit*>(hand().visible("password"));
    QVERIFY(field && field->echoMode() == QLineEdit::Password);
    QVERIFY(!hand().visible("connect")->isEnabled()); // nothing is typed yet
    RM_DO(answer("a guess"));
    QTRY_COMPARE_WITH_TIMEOUT(refusals(), 1, kSoonMs);
    QTRY_VERIFY2_WITH_TIMEOUT(question().contains("wrong"), qPrintable(question()), kSoonMs);
    RM_DO(answer(kPassword));
    QTRY_COMPARE_WITH_TIMEOUT(
        nodeState(m_flow->window().nodesPage(), kNodeName).value_or("").left(5), QString("Ready"),
        kSoonMs);
    QCOMPARE(refusals(), 1);
}

void TestPasswordLogin::refusedLoginIsAskedAboutOnce() {
    RM_DO(hand().click("railNewRun"));
    RM_DO(hand().click("recipe.gpt-tiny"));
    RM_DO(m_flow->editSpec("by-password", 1000000));
    RM_DO(hand().click(QString("place.") + kLocalNodeName));
    RM_DO(hand().click("place." + kNodeName));
    RM_DO(m_flow->launch());
    QTRY_VERIFY_WITH_TIMEOUT(m_flow->newestStep() > 10, kSoonMs);

    RM_DO(m_flow->server().changePassword(kNewPassword));
    m_flow->server().cutSessions();
    QTRY_VERIFY_WITH_TIMEOUT(question().contains("Password for " + kNodeName), kSoonMs);
    const int refused = refusals();
    const qint64 before = m_flow->newestStep();
    constexpr int kStandsMs = 2000;
    QVERIFY(!QTest::qWaitFor([&] { return refusals() != refused; }, kStandsMs));
    RM_DO(answer(kNewPassword));
    QTRY_VERIFY_WITH_TIMEOUT(m_flow->newestStep() > before, kSoonMs);
    QVERIFY(!hand().visible("passwordDialog"));
    QCOMPARE(flawIn(lossSteps(m_flow->page()), 1), QByteArray());
    RM_DO(hand().click("stopRun"));
    RM_DO(hand().click("stopConfirm"));
    QTRY_VERIFY_WITH_TIMEOUT(m_flow->state().startsWith("Stopped at"), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(m_flow->strays(0, 0), QString(), kSoonMs);
}

/// As after a start of the app, which keeps no password by itself.
void TestPasswordLogin::aLaunchAsksForThePassword() {
    RM_DO(m_flow->server().changePassword(kPassword));
    m_flow->server().cutSessions();
    RM_DO(hand().click("railNewRun"));
    RM_DO(hand().click("recipe.gpt-tiny"));
    RM_DO(m_flow->editSpec("asked-again", 1000000));
    const auto isRefused = [this] {
        return textsOn(m_flow->window()).join(' ').contains(kNodeName + " did not answer");
    };
    QTRY_VERIFY_WITH_TIMEOUT(isRefused(), kSoonMs);
    RM_DO(hand().click("launch"));
    QTRY_VERIFY_WITH_TIMEOUT(question().contains("Password for " + kNodeName), kSoonMs);
    RM_DO(answer(kPassword));
    QTRY_VERIFY_WITH_TIMEOUT(!isRefused(), kSoonMs);
    RM_DO(m_flow->launch());
    QTRY_VERIFY_WITH_TIMEOUT(m_flow->newestStep() > 0, kSoonMs);
    RM_DO(hand().click("stopRun"));
    RM_DO(hand().click("stopConfirm"));
    QTRY_VERIFY_WITH_TIMEOUT(m_flow->state().startsWith("Stopped"), kSoonMs);
    QTRY_COMPARE_WITH_TIMEOUT(m_flow->strays(0, 0), QString(), kSoonMs);
}

QTEST_MAIN(TestPasswordLogin)
#include "tst_password_login.moc"
