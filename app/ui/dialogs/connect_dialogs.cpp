// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/connect_dialogs.h"

#include "app/ui/data/run_words.h"
#include "app/ui/widgets/label.h"

#include <QCheckBox>
#include <QLineEdit>
#include <QVBoxLayout>

namespace rm {

HostKeyDialog::HostKeyDialog(const Node& node, const QString& fingerprint, QWidget* parent)
    : Sheet(tr("First contact with %1").arg(nodeTitle(node.name)),
            tr("This computer has not seen the key of %1 before. Trust it if this command, run "
               "on the machine itself, prints the same fingerprint in one of its lines.")
                .arg(QString::fromStdString(node.sshHost)),
            "hostKeyDialog", parent)
    , m_nodes{node}
    , m_others(makeText({}, "bodySecondary")) {
    content()->addWidget(makeText("cat /etc/ssh/ssh_host_*_key.pub | ssh-keygen -lf -", "mono"));
    QLabel* shown = makeText(fingerprint, "monoStrong");
    shown->setObjectName("fingerprint");
    shown->setAccessibleName(tr("Fingerprint"));
    content()->addWidget(shown);
    m_others->setObjectName("sameKey");
    m_others->hide();
    content()->addWidget(m_others);
    addCancel();
    QPushButton* trust = addButton(tr("Trust this key"), "primary", "trustKey");
    connect(trust, &QPushButton::clicked, this, &QDialog::accept);
}

void HostKeyDialog::add(const Node& node) {
    m_nodes.push_back(node);
    QStringList others;
    for (auto other = m_nodes.begin() + 1; other != m_nodes.end(); ++other)
        others << tr("%1 (%2)").arg(nodeTitle(other->name), QString::fromStdString(other->sshHost));
    m_others->setText(
        tr("The same key is shown by %1. Your answer is for all of them.").arg(others.join(", ")));
    m_others->show();
}

PasswordDialog::PasswordDialog(const Node& node, const QString& problem, QWidget* parent,
                               Request request)
    : Sheet((request == Request::kPassword ? tr("Password for %1") : tr("Passphrase for %1"))
                .arg(nodeTitle(node.name)),
            problem, "passwordDialog", parent)
    , m_password(new QLineEdit)
    , m_keep(new QCheckBox(tr("Keep it in the desktop's keyring"))) {
    m_password->setEchoMode(QLineEdit::Password);
    m_password->setObjectName("password");
    const QString word = request == Request::kPassword ? tr("Password") : tr("Passphrase");
    m_password->setAccessibleName(word);
    m_password->setPlaceholderText(word);
    m_keep->setObjectName("keepPassword");
    m_keep->setAccessibleName(m_keep->text());
    content()->addWidget(m_password);
    content()->addWidget(m_keep);
    m_keep->setVisible(request == Request::kPassword);
    addCancel();
    QPushButton* connectButton = addButton(tr("Connect"), "primary", "connect");
    connectButton->setEnabled(false);
    connectButton->setDefault(true);
    connect(m_password, &QLineEdit::textChanged, connectButton,
            [connectButton](const QString& text) { connectButton->setEnabled(!text.isEmpty()); });
    connect(connectButton, &QPushButton::clicked, this, &QDialog::accept);
    m_password->setFocus();
}

Secret PasswordDialog::password() const {
    return Secret(m_password->text());
}

bool PasswordDialog::keepInKeyring() const {
    return m_keep->isChecked();
}

} // namespace rm
