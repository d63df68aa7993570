// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/node_dialog.h"

#include "app/core/fleet/ssh_aliases.h"
#include "app/core/fleet/ssh_offers.h"
#include "app/ui/dialogs/environment_list.h"
#include "app/ui/dialogs/gpu_choice.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/fold.h"
#include "app/ui/widgets/label.h"
#include "shared/spec/toml_fields.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
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
        setRange(0, 999'999); // what is none can be typed, and is refused with words
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

QString titleOf(const Node& node) {
    return isThisComputer(node) ? NodeDialog::tr("Edit this computer")
                                : NodeDialog::tr("Edit %1").arg(QString::fromStdString(node.name));
}

QString textOf(const Node& node) {
    return isThisComputer(node)
               ? NodeDialog::tr("How it is used. It is reached without SSH.")
               : NodeDialog::tr("How it is reached and used. Its runs know it by its "
                                "name, which stays.");
}

/// What stands between commas.
QStringList listIn(const QLineEdit* edit) {
    QStringList items;
    for (const QString& item : edit->text().split(','))
        if (!item.trimmed().isEmpty())
            items << item.trimmed();
    return items;
}

constexpr int kNotesHeight = 2 * size::kControlHeight;

} // namespace

NodeDialog::NodeDialog(Fleet& fleet, QWidget* parent)
    : Sheet(tr("Add a node"),
            tr("Any machine that “ssh NAME” reaches. Nothing has to be installed there."),
            "addNodeDialog", parent)
    , m_fleet(fleet)
    , m_isNew(true) {
    buildUi();
    wire();
    restore();
}

NodeDialog::NodeDialog(Fleet& fleet, const Node& edited, QWidget* parent)
    : Sheet(titleOf(edited), textOf(edited), "editNodeDialog", parent)
    , m_fleet(fleet)
    , m_before(edited)
    , m_isNew(false) {
    buildUi();
    wire();
    fill(edited);
}

void NodeDialog::buildUi() {
    m_problem = makeText({}, "bad");
    m_problem->setObjectName("addNodeProblem");
    // Its place stays, so that the form does not move while somebody types.
    QSizePolicy stays = m_problem->sizePolicy();
    stays.setRetainSizeWhenHidden(true);
    m_problem->setSizePolicy(stays);
    m_problem->setMinimumHeight(2 * m_problem->fontMetrics().lineSpacing());
    m_problem->hide();
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(size::kCardGap);
    grid->setVerticalSpacing(2 * size::kGrid);
    grid->setColumnStretch(1, 1);
    addWay(grid);
    content()->addLayout(grid);
    addUse();
    content()->addWidget(m_more);
    content()->addWidget(m_problem);
    addCancel();
    m_confirm = m_isNew ? addButton(tr("Add and check"), "primary", "addNodeConfirm")
                        : addButton(tr("Save and check"), "primary", "editNodeConfirm");
    m_confirm->setDefault(true);
}

void NodeDialog::addWay(QGridLayout* grid) {
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
    m_slurm = new QCheckBox(tr("the login node of a Slurm cluster"), this);
    m_slurm->setObjectName("nodeSlurm");
    m_slurm->setAccessibleName(tr("Slurm"));
    m_slurm->setToolTip(tr("A launch becomes one job there, and the cluster's nodes train. Without "
                           "a host, this computer is the login node."));
    m_sbatch = makeEdit("nodeSbatch", tr("Options for sbatch"),
                        tr("such as --partition=gpu --account=mine"));
    m_jump = makeEdit("nodeJump", tr("Jump host"), tr("from ssh config; or USER@HOST:PORT"));
    m_jump->setToolTip(tr("A machine that is passed on the way, as with ssh -J; of several, "
                          "separated by commas, the first one is reached from here. Each must let "
                          "you in by key, without a question."));
    if (m_isNew)
        addRow(grid, tr("From ssh config"), m_alias);
    const std::pair<QString, QWidget*> rows[] = {
        {tr("Host"), m_host},    {tr("Name"), m_name},
        {tr("User"), m_user},    {tr("Port"), m_port},
        {tr("Key file"), m_key}, {tr("Jump host"), m_jump},
        {tr("Slurm"), m_slurm},  {tr("Options for sbatch"), m_sbatch}};
    QWidget* before = m_alias;
    for (const auto& [label, field] : rows) {
        field->setParent(this);
        setTabOrder(std::exchange(before, field), field);
        field->setVisible(!isThisComputer(m_before));
        if (!isThisComputer(m_before))
            addRow(grid, label, field);
    }
}

void NodeDialog::addUse() {
    m_more = new Fold(tr("More"), "nodeMore");
    const auto check = m_fleet.lastCheck(QString::fromStdString(m_before.name));
    m_gpus = new GpuChoice(m_before.gpus, check && check->report ? &*check->report : nullptr);
    m_environment = new EnvironmentList;
    m_groups = makeEdit("nodeGroups", tr("Groups"), tr("such as lab, a100"));
    m_groups->setToolTip(tr("Names, with commas between them, by which it is chosen together with "
                            "others: in New run, and as @NAME in the terminal."));
    m_price = makeEdit("nodePrice", tr("Price an hour"), tr("such as 2.49, in any currency"));
    m_price->setToolTip(tr("A run tells what it has cost by the prices of its nodes: on its tab "
                           "Spec, and where runs are compared. Of a Slurm cluster: of all that a "
                           "job has there."));
    m_notes = new QPlainTextEdit;
    m_notes->setObjectName("nodeNotes");
    m_notes->setAccessibleName(tr("Notes"));
    m_notes->setTabChangesFocus(true);
    m_notes->setFixedHeight(kNotesHeight);
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(size::kCardGap);
    grid->setVerticalSpacing(2 * size::kGrid);
    grid->setColumnStretch(1, 1);
    addRow(grid, tr("GPUs"), m_gpus);
    addRow(grid, tr("Environment"), m_environment);
    addRow(grid, tr("Groups"), m_groups);
    addRow(grid, tr("Price an hour"), m_price);
    addRow(grid, tr("Notes"), m_notes);
    m_more->content()->addLayout(grid);
}

void NodeDialog::wire() {
    // The problem is about what stood there before.
    for (const QLineEdit* field : findChildren<QLineEdit*>())
        connect(field, &QLineEdit::textChanged, m_problem, &QWidget::hide);
    connect(m_alias, &QComboBox::activated, this, [this](int index) {
        if (index > 0)
            useAlias(m_alias->itemText(index));
    });
    m_sbatch->setEnabled(false);
    connect(m_slurm, &QCheckBox::toggled, m_sbatch, &QWidget::setEnabled);
    connect(m_slurm, &QCheckBox::toggled, this, &NodeDialog::offerConfirm);
    for (QLineEdit* edit : {m_host, m_name})
        connect(edit, &QLineEdit::textChanged, this, &NodeDialog::offerConfirm);
    connect(m_gpus, &GpuChoice::changed, this, &NodeDialog::showSummary);
    connect(m_environment, &EnvironmentList::changed, this, &NodeDialog::showSummary);
    connect(m_groups, &QLineEdit::textChanged, this, &NodeDialog::showSummary);
    connect(m_price, &QLineEdit::textChanged, this, &NodeDialog::showSummary);
    connect(m_notes, &QPlainTextEdit::textChanged, this, &NodeDialog::showSummary);
    connect(m_confirm, &QPushButton::clicked, this, &NodeDialog::submit);
}

void NodeDialog::offerConfirm() {
    const bool isHere =
        isThisComputer(m_before) || (m_slurm->isChecked() && !m_name->text().trimmed().isEmpty());
    m_confirm->setEnabled(isHere || !m_host->text().trimmed().isEmpty());
}

void NodeDialog::restore() {
    m_confirm->setEnabled(false);
    m_alias->addItem(tr("choose a name"));
    for (const std::string& alias : sshAliases())
        if (!m_fleet.find(QString::fromStdString(alias)))
            m_alias->addItem(QString::fromStdString(alias));
    if (m_alias->count() == 1) {
        m_alias->setItemText(0, tr("no other names in ~/.ssh/config"));
        m_alias->setEnabled(false);
    }
    showSummary();
    m_host->setFocus();
}

void NodeDialog::fill(const Node& node) {
    m_alias->hide();
    m_name->setText(QString::fromStdString(node.name));
    m_name->setCursorPosition(0); // so that a long name is cut at its end
    m_name->setEnabled(false);
    m_host->setText(QString::fromStdString(node.sshHost));
    m_user->setText(QString::fromStdString(node.user));
    m_port->setValue(node.port);
    m_key->setText(QString::fromStdString(node.identityFile));
    m_slurm->setChecked(node.isSlurm);
    QStringList options;
    for (const std::string& option : node.sbatch)
        options << QString::fromStdString(option);
    m_sbatch->setText(options.join(' '));
    m_jump->setText(QString::fromStdString(node.jumpHost));
    m_environment->show(node.environment);
    QStringList groups;
    for (const std::string& group : node.groups)
        groups << QString::fromStdString(group);
    m_groups->setText(groups.join(", "));
    if (node.pricePerHour > 0)
        m_price->setText(QString::fromStdString(plainNumber(node.pricePerHour)));
    m_notes->setPlainText(QString::fromStdString(node.notes));
    m_more->setOpen(isThisComputer(node));
    showSummary();
    if (isThisComputer(node))
        m_groups->setFocus();
    else
        m_host->setFocus();
}

void NodeDialog::useAlias(const QString& alias) {
    m_host->setText(alias);
    m_name->setText(QString::fromStdString(nodeNameFor(alias.toStdString())));
    m_user->clear();
    m_port->setValue(0);
    m_key->clear();
    m_jump->clear();
}

/// What the fold holds, while it is folded.
void NodeDialog::showSummary() {
    const auto wanted = node();
    QStringList words;
    if (wanted && !wanted->gpus.empty())
        words << counted(static_cast<int64_t>(wanted->gpus.size()), tr("1 GPU"), tr("%1 GPUs"));
    if (wanted && !wanted->environment.empty())
        words << counted(static_cast<int64_t>(wanted->environment.size()), tr("1 variable"),
                         tr("%1 variables"));
    words << listIn(m_groups);
    if (!m_price->text().trimmed().isEmpty())
        words << tr("price");
    if (!m_notes->toPlainText().isEmpty())
        words << tr("notes");
    m_more->setSummary(words.isEmpty() ? tr("GPUs, environment, groups, price, notes")
                                       : words.join(kSeparator));
}

std::vector<std::string> NodeDialog::sbatchOptions() const {
    // What an option takes may hold blanks, and every option begins with '-'.
    static const QRegularExpression kNext("\\s+(?=-)");
    const QString text = m_slurm->isChecked() ? m_sbatch->text().trimmed() : QString();
    std::vector<std::string> options;
    for (const QString& option : text.split(kNext, Qt::SkipEmptyParts))
        options.push_back(option.toStdString());
    return options;
}

Result<Node> NodeDialog::node() const {
    Node node = m_before;
    if (!isThisComputer(node)) {
        const QString host = m_host->text().trimmed(), name = m_name->text().trimmed();
        node.name = name.isEmpty() ? nodeNameFor(host.toStdString()) : name.toStdString();
        node.sshHost = host.toStdString();
        node.user = m_user->text().trimmed().toStdString();
        node.port = m_port->value();
        node.identityFile = m_key->text().trimmed().toStdString();
        node.jumpHost = m_jump->text().trimmed().toStdString();
        node.isSlurm = m_slurm->isChecked();
        node.isLocal = node.isSlurm && host.isEmpty();
        node.sbatch = sbatchOptions();
    }
    auto gpus = m_gpus->gpus();
    if (!gpus)
        return tl::unexpected(gpus.error());
    node.gpus = std::move(*gpus);
    node.environment = m_environment->environment();
    node.groups.clear();
    for (const QString& group : listIn(m_groups))
        node.groups.push_back(group.toStdString());
    bool isNumber = true;
    const QString price = m_price->text().trimmed().replace(',', '.');
    node.pricePerHour = price.isEmpty() ? 0 : price.toDouble(&isNumber);
    if (!isNumber)
        node.pricePerHour = -1; // which is refused with what a price is
    node.notes = m_notes->toPlainText().trimmed().toStdString();
    return node;
}

void NodeDialog::submit() {
    const auto wanted = node();
    const auto done = wanted.and_then(
        [this](const Node& node) { return m_isNew ? m_fleet.add(node) : m_fleet.change(node); });
    if (!done) {
        m_problem->setText(QString::fromStdString(done.error().message));
        m_problem->show();
        bringIntoSight(m_problem);
        return;
    }
    Q_EMIT saved(QString::fromStdString(wanted->name));
    accept();
}

} // namespace rm
