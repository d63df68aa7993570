// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/installation.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <QDir>
#include <QFile>

namespace rm {

Result<void> installForCpus(const QString& folder) {
    const QString built = qEnvironmentVariable("RINGMASTER_BIN");
    RM_ASSIGN_OR_RETURN(const auto files,
                        readFile((built + "/../share/ringmaster/bundle-cpu.txt").toStdString()));
    const QDir installed(folder);
    if (!installed.mkpath("bin") || !installed.mkpath("share/ringmaster"))
        return fail(ErrorCode::kInternal, "make folders in " + folder.toStdString());
    for (const QString name : {"ringmaster", "ringmaster-agent", "ringmaster-trainer"})
        if (!QFile::copy(built + '/' + name, installed.filePath("bin/" + name)))
            return fail(ErrorCode::kInternal,
                        "copy " + name.toStdString() + " to " + folder.toStdString());
    QString own; // with the libraries of the build
    for (const QString& line : QString::fromStdString(files).split('\n', Qt::SkipEmptyParts)) {
        const QString path = line.section('\t', 0, 0);
        const bool isTrainer = path == "bin/ringmaster-trainer";
        const QString local = isTrainer ? installed.filePath(path)
                                        : QDir(built + "/..").filePath(line.section('\t', 1));
        own += path + '\t' + QDir::cleanPath(local) + '\n';
    }
    return writeFileAtomically(installed.filePath("share/ringmaster/bundle-cpu.txt").toStdString(),
                               own.toStdString());
}

} // namespace rm
