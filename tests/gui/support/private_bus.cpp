// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/private_bus.h"

#include <QFile>

namespace rm::test {

namespace {

constexpr int kDeadlineMs = 20'000;

/// Without the services of the machine, which the usual configuration would start.
QByteArray configuration(const QString& socket) {
    return R"(<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=)" +
           socket.toUtf8() + R"(</listen><auth>EXTERNAL</auth><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
</policy></busconfig>)";
}

} // namespace

PrivateBus::PrivateBus() {
    QFile file(m_folder.filePath("bus.conf"));
    if (!file.open(QIODevice::WriteOnly))
        return;
    file.write(configuration(m_folder.filePath("socket")));
    file.close();
    m_daemon.start("dbus-daemon", {"--config-file=" + file.fileName(), "--nofork", "--nopidfile",
                                   "--print-address=1"});
    if (m_daemon.waitForReadyRead(kDeadlineMs))
        m_address = QString::fromUtf8(m_daemon.readLine()).trimmed();
}

PrivateBus::~PrivateBus() {
    m_daemon.terminate();
    if (!m_daemon.waitForFinished(kDeadlineMs))
        m_daemon.kill();
}

QDBusConnection PrivateBus::connection(const QString& name) const {
    return QDBusConnection::connectToBus(m_address, name);
}

} // namespace rm::test
