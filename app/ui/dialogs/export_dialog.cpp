// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/export_dialog.h"

#include "app/core/answer.h"
#include "app/core/engine/engine.h"
#include "app/core/store/store_reader.h"
#include "app/ui/widgets/toast.h"
#include "shared/io/file.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QtConcurrent>

namespace rm {

namespace {

struct ExportWords {
    Q_DECLARE_TR_FUNCTIONS(Export)
};

void exportTo(const AppContext& context, const Export& what, const QString& path) {
    // Not in the store's thread, where the whole window would wait for a long run.
    const auto written =
        QtConcurrent::run([database = context.engine.databasePath(), write = what.write, path] {
            return StoreReader::open(database).and_then(
                [&](const std::unique_ptr<StoreReader>& reader) { return write(*reader, path); });
        });
    Toast& toast = context.toast; // outlives the page
    whenAnswered(written, &toast,
                 [&toast, counted = what.counted, path](const Result<int64_t>& rows) {
                     toast.say(rows ? ExportWords::tr("%1 written to %2").arg(counted(*rows), path)
                                    : QString::fromStdString(rows.error().message));
                 });
}

} // namespace

void askExport(const AppContext& context, QWidget* window, Export what) {
    auto* dialog = new QFileDialog(window, what.title);
    dialog->setObjectName(what.objectName);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->selectFile(what.fileName);
    dialog->setDefaultSuffix(QFileInfo(what.fileName).suffix());
    QObject::connect(
        dialog, &QFileDialog::fileSelected, &context.toast,
        [context, what = std::move(what)](const QString& path) { exportTo(context, what, path); });
    dialog->open();
}

Export pictureExport(const QString& title, const char* objectName, const QString& fileName,
                     const QByteArray& bytes) {
    return {title, objectName, fileName,
            [bytes](StoreReader&, const QString& path) -> Result<int64_t> {
                const auto written = writeFileAtomically(path.toStdString(), bytes.toStdString());
                return written ? Result<int64_t>(1) : tl::unexpected<Error>(written.error());
            },
            [](int64_t) { return ExportWords::tr("1 picture"); }};
}

QString exportFileName(const QString& whose, QString what, const QString& ending) {
    for (QChar& c : what)
        if (!c.isLetterOrNumber() && c != '_')
            c = '-';
    return whose + '-' + what + '.' + ending;
}

} // namespace rm
