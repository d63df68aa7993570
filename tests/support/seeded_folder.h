// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QDir>
#include <QString>
#include <QTemporaryDir>

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <cstring>

namespace rm {

/// A folder that begins with what another one has, which stays as it is (overlayfs). This process
/// and those that it starts see it and no others. Files keep their inode and times, so that who has
/// verified them need not read them again. Needs root, and the first one of a process a process
/// without further threads; error() says why it is not there.
class SeededFolder {
public:
    /// Makes `folder`; what changes in it lies in `changes`, which is made too.
    SeededFolder(QString folder, const QString& seed, const QString& changes)
        : m_folder(std::move(folder)) {
        static const bool isAlone =
            ::unshare(CLONE_NEWNS) == 0 &&
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
        if (!isAlone) {
            m_error = "take a mount namespace of its own: that needs root";
            return;
        }
        const QString upper = changes + "/upper", work = changes + "/work";
        for (const QString& path : {m_folder, upper, work})
            QDir().mkpath(path);
        const QString options = "lowerdir=" + seed + ",upperdir=" + upper + ",workdir=" + work;
        if (::mount("overlay", qPrintable(m_folder), "overlay", 0, qPrintable(options)) != 0)
            m_error =
                "mount " + seed + " below " + m_folder + " (overlayfs): " + std::strerror(errno);
    }
    ~SeededFolder() {
        if (m_error.isEmpty())
            ::umount2(qPrintable(m_folder), MNT_DETACH);
    }
    SeededFolder(const SeededFolder&) = delete;
    SeededFolder& operator=(const SeededFolder&) = delete;

    QString error() const { return m_error; }

    /// Whether temporary folders can be seeded; empty, or why not.
    static QString whyNot() {
        static const QString why = [] {
            const QTemporaryDir seed, own;
            return SeededFolder(own.filePath("folder"), seed.path(), own.filePath("changes"))
                .error();
        }();
        return why;
    }

private:
    QString m_folder;
    QString m_error;
};

} // namespace rm
