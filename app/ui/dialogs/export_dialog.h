// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store_reader.h"
#include "app/ui/data/app_context.h"

#include <QString>

#include <functional>

class QWidget;

namespace rm {

/// Something of a run that is written to a file.
struct Export {
    QString title;          ///< of the dialog
    const char* objectName; ///< likewise
    QString fileName;       ///< proposed
    /// Returns how many rows it wrote. Called in a thread of its own.
    std::function<Result<int64_t>(StoreReader& reader, const QString& path)> write;
    std::function<QString(int64_t rows)> counted; ///< "3 lines"
};

/// Asks for the file and writes it; a toast tells how that went.
void askExport(const AppContext& context, QWidget* window, Export what);

/// An Export of bytes that are there, of one picture.
Export pictureExport(const QString& title, const char* objectName, const QString& fileName,
                     const QByteArray& bytes);

/// "my-run-grad_norm.svg"; `what`: a panel, say, whose name may have signs that no file has.
QString exportFileName(const QString& whose, QString what, const QString& ending);

} // namespace rm
