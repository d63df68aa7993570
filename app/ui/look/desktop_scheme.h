// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDBusConnection>
#include <QDBusVariant>
#include <QObject>

#include <optional>

namespace rm {

/// Whether the desktop asks for dark or light colours, as its portal says: org.freedesktop.portal.
/// Settings, org.freedesktop.appearance, color-scheme. Nothing waits for the portal: what it says
/// comes as a signal, also each time that it changes. Without one there is no signal.
class DesktopScheme : public QObject {
    Q_OBJECT
public:
    explicit DesktopScheme(const QDBusConnection& bus, QObject* parent = nullptr);

    /// The bus of the person's session; nullopt: there is none, and none is started for this.
    static std::optional<QDBusConnection> sessionBus();

Q_SIGNALS:
    void changed(std::optional<bool> isDark); ///< nullopt: it has no preference

private Q_SLOTS:
    void onSettingChanged(const QString& group, const QString& key, const QDBusVariant& value);

private:
    void ask();

    QDBusConnection m_bus;
};

} // namespace rm
