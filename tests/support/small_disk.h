// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QByteArray>
#include <QDir>
#include <QFile>
#include <QString>
#include <QTemporaryDir>

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace rm {

/// A folder with little room: a small tmpfs over it while this lives. Programs in namespaces of
/// their own see it if they are started meanwhile. Needs root; error() says why not.
class SmallDisk {
public:
    /// `flags`: of mount(2), such as MS_NOEXEC.
    SmallDisk(QString folder, const QByteArray& size, unsigned long flags = 0)
        : m_folder(std::move(folder)) {
        QDir().mkpath(m_folder);
        if (::mount("tmpfs", qPrintable(m_folder), "tmpfs", flags, "size=" + size) != 0)
            m_error = QString("mount tmpfs: ") + std::strerror(errno);
    }
    ~SmallDisk() {
        if (isMounted())
            ::umount2(qPrintable(m_folder), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    bool isMounted() const { return m_error.isEmpty(); }
    QString error() const { return m_error; }
    QString filePath(const QString& name) const { return m_folder + '/' + name; }

    /// Takes all room that is left, and gives it back.
    void fill() const {
        QFile filler(filePath("filler"));
        (void)filler.open(QIODevice::WriteOnly | QIODevice::Append | QIODevice::Unbuffered);
        const QByteArray block(4096, 'x');
        while (filler.write(block) == block.size()) {
        }
    }
    void empty() const { QFile::remove(filePath("filler")); }

private:
    QString m_folder;
    QString m_error;
};

/// A SmallDisk over a folder of its own, of 256 KiB, that this process and those that it starts see
/// and no others.
class OwnDisk {
public:
    OwnDisk()
        : m_error(hideMounts())
        , m_disk(m_folder.path(), "256k") {}

    QString error() const { return m_error.isEmpty() ? m_disk.error() : m_error; }
    std::string path() const { return m_folder.path().toStdString(); }
    void fill() const { m_disk.fill(); }
    void empty() const { m_disk.empty(); }

private:
    static QString hideMounts() {
        if (::unshare(CLONE_NEWNS) == 0 &&
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0)
            return {};
        return QString("hide mounts from others: ") + std::strerror(errno);
    }

    QTemporaryDir m_folder;
    QString m_error;
    SmallDisk m_disk;
};

} // namespace rm
