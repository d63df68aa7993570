// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDir>
#include <QFile>
#include <QString>
#include <QTemporaryDir>

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace rm {

/// A file system of 256 KiB that only this process sees. Needs root; error() says why not.
class SmallDisk {
public:
    SmallDisk() {
        const QByteArray path = m_folder.path().toUtf8();
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("tmpfs", path.constData(), "tmpfs", 0, "size=256k") != 0)
            m_error = QString("mount tmpfs: ") + std::strerror(errno);
    }
    ~SmallDisk() {
        if (m_error.isEmpty())
            ::umount2(m_folder.path().toUtf8().constData(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    QString error() const { return m_error; }
    std::string path() const { return m_folder.path().toStdString(); }

    void fill() const {
        QFile filler(m_folder.filePath("filler"));
        (void)filler.open(QIODevice::WriteOnly | QIODevice::Unbuffered);
        const QByteArray block(4096, 'x');
        while (filler.write(block) == block.size()) {
        }
    }
    void empty() const { QFile::remove(m_folder.filePath("filler")); }

private:
    QTemporaryDir m_folder;
    QString m_error;
};

} // namespace rm
