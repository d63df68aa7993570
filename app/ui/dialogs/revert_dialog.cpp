// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/revert_dialog.h"

#include "app/core/checkpoints/checkpoint_words.h"
#include "app/ui/look/format.h"
#include "app/ui/widgets/label.h"
#include "shared/spec/toml_fields.h"

#include <QPushButton>
#include <QVBoxLayout>

namespace rm {

namespace {

QString goBackWords(const RunSummary& run, const LiveChange& change, const Retirement& retires) {
    QString words =
        hasEnded(run.state)
            ? RevertDialog::tr("Go back to before it: the next attempt starts from the checkpoint "
                               "of step %1, with the weights and settings of then.")
            : RevertDialog::tr("Go back to before it: the run is paused, and its next attempt "
                               "starts from the checkpoint of step %1, with the weights and "
                               "settings of then.");
    words = words.arg(formatCount(change.step));
    if (!retires.isEmpty())
        words += ' ' + RevertDialog::tr("That sets aside %1, which stay.")
                           .arg(QString::fromStdString(retirementText(retires)));
    return words;
}

} // namespace

RevertDialog::RevertDialog(const RunSummary& run, const LiveChange& change,
                           const Retirement& retires, QWidget* parent)
    : Sheet(tr("Take a change of %1 back").arg(run.name),
            tr("%1 was changed from %2 to %3 after step %4.")
                .arg(QString::fromStdString(change.key),
                     QString::fromStdString(plainNumber(change.before)),
                     QString::fromStdString(plainNumber(change.after)), formatCount(change.step)),
            "revertDialog", parent) {
    addCancel();
    addMeaning(tr("Go back to before it"), goBackWords(run, change, retires), checkGoBack(change),
               "revertGoBack", &RevertDialog::goBackChosen);
    addMeaning(tr("Set it back"),
               tr("Set it back: all ranks go on with %1 from the next step, with the weights that "
                  "they have. A checkpoint is saved before.")
                   .arg(QString::fromStdString(plainNumber(change.before))),
               checkSetBack(run, change), "revertSetBack", &RevertDialog::setBackChosen);
}

void RevertDialog::addMeaning(const QString& button, const QString& text,
                              const Result<void>& possible, const char* objectName,
                              void (RevertDialog::*chosen)()) {
    content()->insertWidget(0, makeText(text, "body"));
    QPushButton* choose = addButton(button, "primary", objectName);
    choose->setEnabled(possible.has_value());
    if (!possible) {
        auto* why = makeText(QString::fromStdString(possible.error().message), "bodySecondary");
        why->setObjectName(QString(objectName) + "Problem");
        content()->insertWidget(1, why);
    }
    connect(choose, &QPushButton::clicked, this, [this, chosen] {
        accept();
        (this->*chosen)();
    });
}

} // namespace rm
