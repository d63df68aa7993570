// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QString>

#include <sys/mount.h>

#include <utility>

namespace rm {

/// A folder with little room: a small tmpfs over it while this lives. Programs in namespaces of
/// their own see it if they are started meanwhile.
class SmallDisk {
public:
    /// `flags`: of mount(2), such as MS_NOEXEC.
    SmallDisk(QString folder, const QByteArray& size, unsigned long flags = 0)
        : m_folder(std::move(folder)) {
        QDir().mkpath(m_folder);
        m_mounted = ::mount("tmpfs", qPrintable(m_folder), "tmpfs", flags, "size=" + size) == 0;
    }
    ~SmallDisk() {
        if (m_mounted)
            ::umount2(qPrintable(m_folder), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    bool isMounted() const { return m_mounted; }

    /// Takes all room that is left, and gives it back.
    void fill() const {
        QFile filler(m_folder + "/filler");
        (void)filler.open(QIODevice::WriteOnly | QIODevice::Append | QIODevice::Unbuffered);
        const QByteArray block(4096, 'x');
        while (filler.write(block) == block.size()) {
        }
    }
    void empty() const { QFile::remove(m_folder + "/filler"); }

private:
    QString m_folder;
    bool m_mounted = false;
};

} // namespace rm
