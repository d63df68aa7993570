// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/too_large_dialog.h"

#include "app/ui/widgets/label.h"

#include <QVBoxLayout>

namespace rm {

TooLargeDialog::TooLargeDialog(const QString& why, QWidget* parent)
    : Sheet(tr("Too little memory"), {}, "tooLargeDialog", parent) {
    content()->addWidget(makeText(why, "body"));
    content()->addWidget(makeText(
        tr("Nothing was started. What was sent to the nodes stays there."), "bodySecondary"));
    QPushButton* launch = addButton(tr("Launch all the same"), "", "launchAnyway");
    QPushButton* back = addButton(tr("Go back"), "primary", "goBack");
    back->setDefault(true);
    connect(launch, &QPushButton::clicked, this, &QDialog::accept);
    connect(back, &QPushButton::clicked, this, &QDialog::reject);
}

} // namespace rm
