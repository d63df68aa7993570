// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDBusConnection>
#include <QProcess>
#include <QString>
#include <QTemporaryDir>

namespace rm::test {

/// A D-Bus daemon of its own, which ends with this. Nothing but the test is on its bus.
class PrivateBus {
public:
    PrivateBus();
    ~PrivateBus();

    bool isThere() const { return !m_address.isEmpty(); }
    QString address() const { return m_address; }
    /// Another connection to it, as of another program.
    QDBusConnection connection(const QString& name) const;

private:
    QTemporaryDir m_folder;
    QProcess m_daemon;
    QString m_address;
};

} // namespace rm::test
