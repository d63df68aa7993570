// SPDX-License-Identifier: Apache-2.0
#include "tests/support/own_files.h"

#include <QDir>
#include <QFile>
#include <QProcess>

#include <crypt.h>

namespace rm {
namespace {

constexpr int kStepMs = 5000;

QString placeIn(const QString& folder, const QString& path) {
    return folder + '/' + QString(path).mid(1).replace('/', '-');
}

/// Holds what is kept by other names while an empty folder is mounted over it.
QString scriptOf(const OwnTemporary& temporary) {
    const QString place = QDir::tempPath();
    QString held = "held=$(mktemp -d /run/own-temporary.XXXXXX) && ", back;
    for (int i = 0; i < temporary.kept.size(); ++i) {
        const QString name = QString("\"$held/%1\"").arg(i), path = '\'' + temporary.kept[i] + '\'';
        held += "mkdir " + name + " && mount --rbind " + path + ' ' + name + " && ";
        back += "mkdir -p " + path + " && mount --rbind " + name + ' ' + path + " && umount -l " +
                name + " && rmdir " + name + " && ";
    }
    return held + "mount -t tmpfs -o mode=1777 own-temporary '" + place + "' && " + back +
           "rmdir \"$held\" && ";
}

} // namespace

Result<void> canMountOwnFiles() {
    QProcess probe;
    probe.start("unshare", {"--mount", "mount", "--bind", "/etc/passwd", "/etc/passwd"});
    if (probe.waitForFinished(kStepMs) && probe.exitCode() == 0)
        return {};
    return fail(ErrorCode::kDenied,
                "make a mount namespace: " + probe.readAllStandardError().trimmed().toStdString());
}

// In place, as a mount refers to the file and not to its name.
Result<void> rewriteOwnFile(const OwnFile& file, const QString& folder) {
    QFile out(placeIn(folder, file.path));
    if (!out.open(QIODevice::WriteOnly) || out.write(file.content) != file.content.size())
        return fail(ErrorCode::kDenied, "write " + out.fileName().toStdString());
    auto mode = QFile::ReadOwner | QFile::WriteOwner | QFile::ReadGroup | QFile::ReadOther;
    if (file.executable)
        mode |= QFile::ExeOwner | QFile::ExeGroup | QFile::ExeOther;
    out.setPermissions(mode);
    return {};
}

Result<QStringList> commandSeeing(const std::vector<OwnFile>& files, const QString& folder,
                                  const QStringList& command, const std::vector<OwnDrive>& drives,
                                  const std::optional<OwnTemporary>& temporary) {
    if (files.empty() && drives.empty() && !temporary)
        return command;
    QDir().mkpath(folder);
    QString script;
    for (const OwnFile& file : files) {
        if (auto written = rewriteOwnFile(file, folder); !written)
            return tl::unexpected(written.error());
        script += "mount --bind '" + placeIn(folder, file.path) + "' '" + file.path + "' && ";
    }
    for (const OwnDrive& drive : drives)
        script += "mount --bind '" + drive.folder + "' '" + drive.path + "' && ";
    if (temporary)
        script += scriptOf(*temporary);
    return QStringList{"unshare", "--mount", "sh", "-c", script + "exec \"$@\"", "sh"} + command;
}

OwnFile shadowWith(const QString& password, bool mustChange) {
    crypt_data data = {};
    const QByteArray hash = ::crypt_r(qPrintable(password), "$6$ofthetest$", &data);
    const QByteArray changedOnDay = mustChange ? "0" : "19000";
    return {"/etc/shadow", "root:" + hash + ':' + changedOnDay + ":0:99999:7:::\n"};
}

OwnFile passwdWith(const QString& home) {
    return {"/etc/passwd", "root:x:0:0:root:" + home.toUtf8() + ":/bin/sh\n"};
}

OwnFile passwdOfRoot(const QString& home, const QByteArray& shell) {
    QFile real("/etc/passwd");
    QByteArray text = "root:x:0:0:root:" + home.toUtf8() + ':' + shell + '\n';
    if (real.open(QIODevice::ReadOnly))
        for (const QByteArray& line : real.readAll().split('\n'))
            if (!line.isEmpty() && !line.startsWith("root:"))
                text += line + '\n';
    return {"/etc/passwd", text};
}

OwnFile pamOfShadow() {
    return {"/etc/pam.d/sshd", "auth required pam_unix.so\n"
                               "account required pam_unix.so\n"
                               "password required pam_unix.so\n"
                               "session required pam_permit.so\n"};
}

} // namespace rm
