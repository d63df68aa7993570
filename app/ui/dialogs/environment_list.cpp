// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/environment_list.h"

#include "app/ui/data/environment_words.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QStandardItemModel>

namespace rm {

EnvironmentList::EnvironmentList(QWidget* parent)
    : QWidget(parent)
    , m_column(new QVBoxLayout(this)) {
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(size::kGrid);
    addLine({}, {});
}

void EnvironmentList::addLine(const QString& name, const QString& value) {
    const size_t at = m_lines.size();
    const QByteArray number = QByteArray::number(qlonglong(at));
    auto* names = new QComboBox;
    names->setObjectName("variable." + number);
    names->setAccessibleName(tr("Variable %1").arg(at + 1));
    names->setEditable(true);
    names->setInsertPolicy(QComboBox::NoInsert);
    names->setMinimumContentsLength(16);
    for (const KnownVariable& known : knownVariables()) {
        names->addItem(known.name);
        names->setItemData(names->count() - 1, asPlain(known.meaning), Qt::ToolTipRole);
        if (known.isSetElsewhere) // whoever looks for it reads where
            static_cast<QStandardItemModel*>(names->model())
                ->item(names->count() - 1)
                ->setEnabled(false);
    }
    names->setCurrentIndex(-1);
    names->setEditText(name);
    names->lineEdit()->setPlaceholderText("NCCL_…");
    auto* values = new QLineEdit(value);
    values->setObjectName("value." + number);
    values->setAccessibleName(tr("Value %1").arg(at + 1));
    values->setPlaceholderText(tr("value"));
    auto* row = new QHBoxLayout;
    row->setSpacing(size::kGrid);
    row->addWidget(names, 3);
    row->addWidget(values, 2);
    m_column->addLayout(row);
    if (at > 0)
        setTabOrder(m_lines.back().value, names);
    setTabOrder(names, values);
    m_lines.push_back({names, values});
    const auto notify = [this, at] { onEdited(at); };
    connect(names, &QComboBox::editTextChanged, this, notify);
    connect(values, &QLineEdit::textChanged, this, notify);
    names->setToolTip(asPlain(variableWords(name)));
}

void EnvironmentList::onEdited(size_t line) {
    const QString name = m_lines[line].name->currentText().trimmed();
    m_lines[line].name->setToolTip(asPlain(variableWords(name)));
    if (line + 1 == m_lines.size() && !name.isEmpty())
        addLine({}, {});
    Q_EMIT changed();
}

void EnvironmentList::show(const std::vector<std::string>& environment) {
    for (const std::string& entry : environment) {
        const QString text = QString::fromStdString(entry);
        const Line& last = m_lines.back();
        last.value->setText(text.section('=', 1));
        last.name->setEditText(text.section('=', 0, 0)); // adds the next line
    }
}

std::vector<std::string> EnvironmentList::environment() const {
    std::vector<std::string> environment;
    for (const Line& line : m_lines) {
        const QString name = line.name->currentText().trimmed(), value = line.value->text();
        if (!name.isEmpty() || !value.isEmpty())
            environment.push_back((name + '=' + value).toStdString());
    }
    return environment;
}

} // namespace rm
