// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/node_dialog.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QRegularExpression>
#include <QSpinBox>

namespace rm {

namespace {

QLineEdit* makeEdit(const char* objectName, const QString& name, const QString& placeholder) {
    auto* edit = new QLineEdit;
    edit->setObjectName(objectName);
    edit->setAccessibleName(name);
    edit->setPlaceholderText(placeholder);
    return edit;
}

void addRow(QGridLayout* grid, const QString& label, QWidget* field) {
    const int row = grid->rowCount();
    QLabel* caption = makeLabel(label, "bodySecondary");
    caption->setBuddy(field);
    grid->addWidget(caption, row, 0);
    grid->addWidget(field, row, 1);
}

/// A spin box for a port. When empty, it shows where the port comes from, as the other fields do.
class PortBox : public QSpinBox {
public:
    explicit PortBox(const QString& placeholder) {
        setRange(0, 65535);
        lineEdit()->setPlaceholderText(placeholder);
    }

protected:
    QString textFromValue(int value) const override {
        return value == 0 ? QString() : QString::number(value);
    }
    int valueFromText(const QString& text) const override { return text.toInt(); }
    QValidator::State validate(QString& text, int& at) const override {
        return text.isEmpty() ? QValidator::Acceptable : QSpinBox::validate(text, at);
    }
};

} // namespace

NodeDialog::NodeDialog(Fleet& fleet, QWidget* parent)
    : Sheet(tr("Add a node"),
            tr("Any machine that “ssh NAME” reaches. Nothing has to be installed there."),
            "addNodeDialog", parent)
    , m_fleet(fleet) {
    buildUi();
    wire();
    restore();
}

NodeDialog::NodeDialog(Fleet& fleet, const Node& edited, QWidget* parent)
    : Sheet(tr("Edit %1").arg(QString::fromStdString(edited.name)),
            tr("How it is reached. Its runs know it by its name, which stays."), "editNodeDialog",
            parent)
    , m_fleet(fleet)
    , m_edited(edited) {
    buildUi();
    wire();
    fill(edited);
}

void NodeDialog::buildUi() {
    m_alias = new QComboBox(this);
    m_alias->setObjectName("sshAlias");
    m_alias->setAccessibleName(tr("Name in ssh config"));
    m_host = makeEdit("nodeHost", tr("Host"), tr("name in ssh config, or an address"));
    m_name = makeEdit("nodeName", tr("Name"), tr("as the host"));
    m_user = makeEdit("nodeUser", tr("User"), tr("from ssh config, or yours"));
    m_port = new PortBox(tr("from ssh config, or 22"));
    m_port->setObjectName("nodePort");
    m_port->setAccessibleName(tr("Port"));
    m_key = makeEdit("nodeKey", tr("Key file"), tr("from ssh agent and ssh config"));
    m_problem = makeText({}, "bad");
    m_problem->setObjectName("addNodeProblem");
    m_problem->hide();
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(size::kCardGap);
    grid->setVerticalSpacing(2 * size::kGrid);
    grid->setColumnStretch(1, 1);
    if (!m_edited)
        addRow(grid, tr("From ssh config"), m_alias);
    addRow(grid, tr("Host"), m_host);
    addRow(grid, tr("Name"), m_name);
    addRow(grid, tr("User"), m_user);
    addRow(grid, tr("Port"), m_port);
    addRow(grid, tr("Key file"), m_key);
    content()->addLayout(grid);
    content()->addWidget(m_problem);
    addCancel();
    m_confirm = m_edited ? addButton(tr("Save and check"), "primary", "editNodeConfirm")
                         : addButton(tr("Add and check"), "primary", "addNodeConfirm");
    m_confirm->setDefault(true);
}

void NodeDialog::wire() {
    connect(m_alias, &QComboBox::activated, this, [this](int index) {
        if (index > 0)
            useAlias(m_alias->itemText(index));
    });
    connect(m_host, &QLineEdit::textChanged, this,
            [this](const QString& host) { m_confirm->setEnabled(!host.trimmed().isEmpty()); });
    connect(m_confirm, &QPushButton::clicked, this, &NodeDialog::submit);
}

void NodeDialog::restore() {
    m_confirm->setEnabled(false);
    m_alias->addItem(tr("choose a name"));
    for (const std::string& alias : Fleet::sshConfigAliases())
        if (!m_fleet.find(QString::fromStdString(alias)))
            m_alias->addItem(QString::fromStdString(alias));
    if (m_alias->count() == 1) {
        m_alias->setItemText(0, tr("no other names in ~/.ssh/config"));
        m_alias->setEnabled(false);
    }
    m_host->setFocus();
}

void NodeDialog::fill(const Node& node) {
    m_alias->hide();
    m_name->setText(QString::fromStdString(node.name));
    m_name->setEnabled(false);
    m_host->setText(QString::fromStdString(node.sshHost));
    m_user->setText(QString::fromStdString(node.user));
    m_port->setValue(node.port);
    m_key->setText(QString::fromStdString(node.identityFile));
    m_host->setFocus();
}

void NodeDialog::useAlias(const QString& alias) {
    m_host->setText(alias);
    m_name->setText(alias);
    m_user->clear();
    m_port->setValue(0);
    m_key->clear();
}

Node NodeDialog::node() const {
    const QString host = m_host->text().trimmed();
    const QString name = m_name->text().trimmed();
    Node node;
    // Addresses of IPv6 hold what a name may not.
    const QString asHost = QString(host).replace(QRegularExpression("[:%]"), "-");
    node.name = (name.isEmpty() ? asHost : name).toStdString();
    node.sshHost = host.toStdString();
    node.user = m_user->text().trimmed().toStdString();
    node.port = m_port->value();
    node.identityFile = m_key->text().trimmed().toStdString();
    return node;
}

void NodeDialog::submit() {
    const Node wanted = node();
    if (const auto done = m_edited ? m_fleet.change(wanted) : m_fleet.add(wanted); !done) {
        m_problem->setText(QString::fromStdString(done.error().message));
        m_problem->show();
        return;
    }
    Q_EMIT saved(QString::fromStdString(wanted.name));
    accept();
}

} // namespace rm
