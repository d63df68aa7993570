// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/look/desktop_scheme.h"

#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusServiceWatcher>
#include <QDBusVariant>
#include <QFile>

namespace rm {

namespace {

const QString kService = "org.freedesktop.portal.Desktop";
const QString kPath = "/org/freedesktop/portal/desktop";
const QString kInterface = "org.freedesktop.portal.Settings";
const QString kGroup = "org.freedesktop.appearance";
const QString kKey = "color-scheme";

/// Read() of the portal wraps its variant into another one.
QVariant unwrapped(QVariant value) {
    while (value.canConvert<QDBusVariant>())
        value = value.value<QDBusVariant>().variant();
    return value;
}

/// What the portal's number stands for; others are reserved, and mean no preference.
std::optional<bool> isDark(const QVariant& value) {
    constexpr uint kDark = 1, kLight = 2;
    const uint number = unwrapped(value).toUInt();
    return number == kDark || number == kLight ? std::optional(number == kDark) : std::nullopt;
}

} // namespace

std::optional<QDBusConnection> DesktopScheme::sessionBus() {
    // Without either libdbus would start a bus, by a program that takes its time.
    const QString socket = qEnvironmentVariable("XDG_RUNTIME_DIR") + "/bus";
    if (!qEnvironmentVariableIsSet("DBUS_SESSION_BUS_ADDRESS") && !QFile::exists(socket))
        return std::nullopt;
    const QDBusConnection bus = QDBusConnection::sessionBus();
    return bus.isConnected() ? std::optional(bus) : std::nullopt;
}

DesktopScheme::DesktopScheme(const QDBusConnection& bus, QObject* parent)
    : QObject(parent)
    , m_bus(bus) {
    qRegisterMetaType<QDBusVariant>(); // connect() looks the slot's types up by name
    m_bus.connect(kService, kPath, kInterface, "SettingChanged", this,
                  SLOT(onSettingChanged(QString, QString, QDBusVariant)));
    auto* watcher =
        new QDBusServiceWatcher(kService, m_bus, QDBusServiceWatcher::WatchForRegistration, this);
    connect(watcher, &QDBusServiceWatcher::serviceRegistered, this, &DesktopScheme::ask);
    ask();
}

void DesktopScheme::ask() {
    QDBusMessage read = QDBusMessage::createMethodCall(kService, kPath, kInterface, "Read");
    read << kGroup << kKey;
    auto* answer = new QDBusPendingCallWatcher(m_bus.asyncCall(read), this);
    connect(answer, &QDBusPendingCallWatcher::finished, this, [this, answer] {
        answer->deleteLater();
        const QDBusPendingReply<QDBusVariant> reply = *answer;
        if (!reply.isError())
            Q_EMIT changed(isDark(reply.value().variant()));
    });
}

void DesktopScheme::onSettingChanged(const QString& group, const QString& key,
                                     const QDBusVariant& value) {
    if (group == kGroup && key == kKey)
        Q_EMIT changed(isDark(value.variant()));
}

} // namespace rm
