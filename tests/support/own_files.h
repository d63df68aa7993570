// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace rm {

/// A file that a program sees instead of the machine's own.
struct OwnFile {
    QString path; ///< must exist on the machine
    QByteArray content;
    bool executable = false;
};

/// A folder that a program sees in the place of another, as a drive that is mounted there.
struct OwnDrive {
    QString path; ///< must exist on the machine
    QString folder;
};

/// Whether this process may give a program a mount namespace of its own; else why not.
Result<void> canMountOwnFiles();

/// The folder of temporary files as a program's own: of the machine's it has only these folders.
struct OwnTemporary {
    QStringList kept; ///< none lies within another
};

/// Argument list that runs `command`, and everything that it starts, in a mount namespace where
/// these files and drives replace the machine's, which are not changed. The files' contents are
/// kept in `folder`.
Result<QStringList> commandSeeing(const std::vector<OwnFile>& files, const QString& folder,
                                  const QStringList& command,
                                  const std::vector<OwnDrive>& drives = {},
                                  const std::optional<OwnTemporary>& temporary = {});

/// Changes the content of one of them; a program that was started with `folder` sees it at once.
Result<void> rewriteOwnFile(const OwnFile& file, const QString& folder);

/// An /etc/shadow with one account, root, that has this password. `mustChange`: at its next login.
OwnFile shadowWith(const QString& password, bool mustChange = false);

/// An /etc/passwd whose root lives in `home`.
OwnFile passwdWith(const QString& home);

/// The machine's own /etc/passwd, in which root has this home and login shell.
OwnFile passwdOfRoot(const QString& home, const QByteArray& shell);

/// An /etc/pam.d/sshd that asks for what /etc/shadow says and nothing else.
OwnFile pamOfShadow();

} // namespace rm
