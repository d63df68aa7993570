// SPDX-License-Identifier: GPL-3.0-or-later
// Light and dark as the desktop's portal says it, on a session bus of the test's own.
#include "app/ui/look/desktop_scheme.h"
#include "app/ui/look/theme.h"
#include "tests/gui/support/private_bus.h"
#include "tests/support/requirement.h"

#include <QApplication>
#include <QDBusMessage>
#include <QDBusVariant>
#include <QSignalSpy>
#include <QTest>

#include <memory>

using namespace rm;
using namespace rm::test;

namespace {

const QString kService = "org.freedesktop.portal.Desktop";
const QString kPath = "/org/freedesktop/portal/desktop";
const QString kInterface = "org.freedesktop.portal.Settings";
const QString kGroup = "org.freedesktop.appearance";
const QString kKey = "color-scheme";

constexpr uint kNone = 0, kDark = 1, kLight = 2;

} // namespace

/// A portal that has one setting.
class FakePortal : public QObject {
    Q_OBJECT
    Q_CLASSINFO("D-Bus Interface", "org.freedesktop.portal.Settings")
public:
    explicit FakePortal(const QDBusConnection& bus)
        : m_bus(bus) {
        m_bus.registerObject(kPath, this, QDBusConnection::ExportAllSlots);
    }
    ~FakePortal() override {
        m_bus.unregisterService(kService);
        m_bus.unregisterObject(kPath);
    }

    bool appear() { return m_bus.registerService(kService); }
    void change(uint scheme) {
        m_scheme = scheme;
        say(kGroup, kKey, scheme);
    }
    void say(const QString& group, const QString& key, const QVariant& value) {
        auto signal = QDBusMessage::createSignal(kPath, kInterface, "SettingChanged");
        signal << group << key << QVariant::fromValue(QDBusVariant(value));
        m_bus.send(signal);
    }

public Q_SLOTS:
    /// As the portal's first version has it: a variant in a variant.
    QDBusVariant Read(const QString& group, const QString& key) { // NOLINT: D-Bus names it
        return group == kGroup && key == kKey
                   ? QDBusVariant(QVariant::fromValue(QDBusVariant(m_scheme)))
                   : QDBusVariant(QString());
    }

private:
    QDBusConnection m_bus;
    uint m_scheme = kDark;
};

class TestDesktopScheme : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void theDesktopsChoiceIsReadAndFollowed();
    void aPortalThatComesLaterIsHeard();
    void otherSettingsChangeNothing();
    void whatAPersonChoseStays();
    void withoutAPreferenceQtsColoursDecide();
    void withoutABusNoneIsStarted();

private:
    QDBusConnection connection(const char* who) {
        return m_bus->connection(QString("%1-%2").arg(who).arg(++m_connections));
    }
    void follow();

    std::unique_ptr<PrivateBus> m_bus;
    std::unique_ptr<FakePortal> m_portal;
    std::unique_ptr<DesktopScheme> m_scheme;
    int m_connections = 0;
};

void TestDesktopScheme::initTestCase() {
    qunsetenv("DBUS_SESSION_BUS_ADDRESS"); // the theme is not to follow the machine's desktop
    qputenv("XDG_RUNTIME_DIR", "/nonexistent");
    Theme::instance().install(*qApp);
    m_bus = std::make_unique<PrivateBus>();
    RM_NEEDS("dbus", m_bus->isThere(), "dbus-daemon does not start");
}

void TestDesktopScheme::init() {
    m_portal = std::make_unique<FakePortal>(connection("portal"));
    Theme::instance().setMode(Theme::Mode::kSystem);
    Theme::instance().setDesktopDark(false);
}

void TestDesktopScheme::cleanup() {
    m_scheme.reset();
    m_portal.reset();
}

void TestDesktopScheme::follow() {
    m_scheme = std::make_unique<DesktopScheme>(connection("window"));
    connect(m_scheme.get(), &DesktopScheme::changed, &Theme::instance(), &Theme::setDesktopDark);
}

void TestDesktopScheme::theDesktopsChoiceIsReadAndFollowed() {
    QVERIFY(m_portal->appear());
    follow();
    QTRY_VERIFY_WITH_TIMEOUT(Theme::instance().isDark(), 20'000);
    QSignalSpy changed(&Theme::instance(), &Theme::changed);
    m_portal->change(kLight);
    QTRY_VERIFY_WITH_TIMEOUT(!Theme::instance().isDark(), 20'000);
    QCOMPARE(changed.count(), 1);
    m_portal->change(kDark);
    QTRY_VERIFY_WITH_TIMEOUT(Theme::instance().isDark(), 20'000);
}

void TestDesktopScheme::aPortalThatComesLaterIsHeard() {
    follow();
    QVERIFY(m_portal->appear());
    QTRY_VERIFY_WITH_TIMEOUT(Theme::instance().isDark(), 20'000);
}

void TestDesktopScheme::otherSettingsChangeNothing() {
    QVERIFY(m_portal->appear());
    follow();
    QTRY_VERIFY_WITH_TIMEOUT(Theme::instance().isDark(), 20'000);
    QSignalSpy heard(m_scheme.get(), &DesktopScheme::changed);
    m_portal->say(kGroup, "contrast", kLight);
    m_portal->say("org.gnome.desktop.interface", kKey, "prefer-light");
    m_portal->change(kDark); // comes after them
    QTRY_COMPARE_WITH_TIMEOUT(heard.count(), 1, 20'000);
    QVERIFY(Theme::instance().isDark());
}

void TestDesktopScheme::whatAPersonChoseStays() {
    QVERIFY(m_portal->appear());
    follow();
    QTRY_VERIFY_WITH_TIMEOUT(Theme::instance().isDark(), 20'000);
    Theme::instance().setMode(Theme::Mode::kDark);
    QSignalSpy heard(m_scheme.get(), &DesktopScheme::changed);
    m_portal->change(kLight);
    QTRY_COMPARE_WITH_TIMEOUT(heard.count(), 1, 20'000);
    QVERIFY(Theme::instance().isDark());
    Theme::instance().setMode(Theme::Mode::kSystem); // what it said meanwhile counts
    QVERIFY(!Theme::instance().isDark());
}

void TestDesktopScheme::withoutAPreferenceQtsColoursDecide() {
    QVERIFY(m_portal->appear());
    follow();
    QTRY_VERIFY_WITH_TIMEOUT(Theme::instance().isDark(), 20'000);
    m_portal->change(kNone); // the colours here are light
    QTRY_VERIFY_WITH_TIMEOUT(!Theme::instance().isDark(), 20'000);
}

void TestDesktopScheme::withoutABusNoneIsStarted() {
    QVERIFY(!DesktopScheme::sessionBus());
}

QTEST_MAIN(TestDesktopScheme)
#include "tst_desktop_scheme.moc"
