// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/holder_place.h"

#include "app/core/findings/text.h"
#include "shared/return_if_error.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace rm {

namespace {

constexpr int kNameDigits = 16; ///< a path of a socket has at most 107 bytes

/// In a folder that is writable for everybody, another user may have created it first.
Result<void> makeOwn(const std::string& folder) {
    const auto failed = [&folder](const char* attempt) {
        const int why = errno; // before a look into the tables of texts changes it
        return failErrno(say(attempt, {{"folder", folder}}), why);
    };
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
        return failed("gpu.node-make-folder");
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0)
        return failed("engine.look-at-folder");
    if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid())
        return failAs(say("engine.listen-in", {{"folder", folder}}),
                      {ErrorCode::kDenied, say("engine.not-your-folder")});
    if ((status.st_mode & 0777) != 0700 && ::chmod(folder.c_str(), 0700) != 0)
        return failed("engine.protect-folder");
    return {};
}

Result<QString> folderOfUser() {
    const QString runtime = qEnvironmentVariable("XDG_RUNTIME_DIR");
    const QString own = QDir::cleanPath(runtime + "/ringmaster");
    // It may belong to another user, as under sudo; then the folder for temporary files is used.
    if (QDir::isAbsolutePath(runtime) && makeOwn(own.toStdString()))
        return own;
    const QString temporary = QDir::tempPath() + "/ringmaster-" + QString::number(::geteuid());
    RM_RETURN_IF_ERROR(makeOwn(temporary.toStdString()));
    return temporary;
}

} // namespace

Result<QString> socketFor(const QString& database) {
    const auto folder = folderOfUser();
    if (!folder)
        return folder;
    const QFileInfo file(database);
    const QString place =
        QFileInfo(file.absolutePath()).canonicalFilePath() + '/' + file.fileName();
    const QByteArray digest =
        QCryptographicHash::hash(place.toUtf8(), QCryptographicHash::Sha256).toHex();
    return *folder + '/' + QString::fromLatin1(digest.left(kNameDigits)) + ".sock";
}

} // namespace rm
