// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/name_dialog.h"

#include "app/ui/widgets/label.h"

#include <QLineEdit>
#include <QVBoxLayout>

#include <utility>

namespace rm {

NameDialog::NameDialog(const QString& title, const QString& text, const char* objectName,
                       const QString& name, Use use, QWidget* parent)
    : Sheet(title, text, QByteArray(objectName).append("Dialog").constData(), parent)
    , m_name(new QLineEdit(name))
    , m_problem(makeText(QString(), "bad"))
    , m_use(std::move(use)) {
    m_name->setObjectName(objectName);
    m_name->setAccessibleName(tr("Name"));
    m_name->selectAll();
    m_problem->hide();
    content()->addWidget(m_name);
    content()->addWidget(m_problem);
    addCancel();
    QPushButton* save =
        addButton(tr("Save"), "primary", QByteArray(objectName).append("Confirm").constData());
    save->setDefault(true);
    connect(save, &QPushButton::clicked, this, &NameDialog::submit);
    connect(m_name, &QLineEdit::returnPressed, this, &NameDialog::submit);
}

void NameDialog::submit() {
    if (const auto used = m_use(m_name->text().trimmed()); !used) {
        m_problem->setText(QString::fromStdString(used.error().message));
        m_problem->show();
        return;
    }
    accept();
}

} // namespace rm
