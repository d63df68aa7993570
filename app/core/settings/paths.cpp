// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"

#include "app/core/settings/private_files.h"
#include "shared/return_if_error.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

namespace rm {

namespace {

// The XDG specification: unset, empty and relative values are ignored.
QString baseFolder(const char* variable, const QString& fallbackBelowHome) {
    const QString value = qEnvironmentVariable(variable);
    const QString base =
        QDir::isAbsolutePath(value) ? value : QDir::homePath() + '/' + fallbackBelowHome;
    return QDir::cleanPath(base + "/ringmaster");
}

} // namespace

Paths Paths::fromEnvironment() {
    return {baseFolder("XDG_CONFIG_HOME", ".config"), baseFolder("XDG_DATA_HOME", ".local/share"),
            baseFolder("XDG_STATE_HOME", ".local/state"), baseFolder("XDG_CACHE_HOME", ".cache")};
}

Result<void> Paths::prepare() const {
    for (const QString& folder : {config, data, state, cache}) {
        RM_RETURN_IF_ERROR(makePrivateFolder(folder.toStdString()));
        for (const QFileInfo& file : QDir(folder).entryInfoList(QDir::Files | QDir::Hidden))
            protectFile(file.filePath().toStdString());
    }
    return {};
}

QString installPrefix() {
    return QDir::cleanPath(QCoreApplication::applicationDirPath() + "/..");
}

QString resourceDir() {
    for (const char* place : {"/share/ringmaster", "/resources"}) {
        const QString candidate = installPrefix() + place;
        if (QFileInfo(candidate + "/recipes").isDir())
            return candidate;
    }
    return QStringLiteral(RINGMASTER_RESOURCES);
}

} // namespace rm
