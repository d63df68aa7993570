// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run/path_rows.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

PathRows::PathRows(const QString& addText, QWidget* parent)
    : QWidget(parent)
    , m_column(new QVBoxLayout(this))
    , m_add(makeButton(addText, "link", "addRow")) {
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(6);
    m_column->addWidget(m_add, 0, Qt::AlignLeft);
    connect(m_add, &QPushButton::clicked, this, [this] {
        addRow({})->setFocus();
        nameRows();
    });
    addRow({});
    nameRows();
}

QLineEdit* PathRows::addRow(const QString& text) {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(size::kGrid);
    auto* edit = new QLineEdit(text);
    edit->setProperty("role", "mono"); // Inter draws the x between digits as a multiplication sign
    QPushButton* remove = makeButton(QStringLiteral("×"), "quiet", "removeRow");
    remove->setFixedWidth(remove->sizeHint().height());
    row->addWidget(edit, 1);
    row->addWidget(remove);
    m_column->insertWidget(static_cast<int>(m_rows.size()), line);
    connect(edit, &QLineEdit::textEdited, this, &PathRows::edited);
    connect(remove, &QPushButton::clicked, this, [this, line] { removeRow(line); });
    setStyleProperty(edit, "changed", m_changed);
    m_rows.push_back({line, edit, remove});
    Q_EMIT rowAdded(edit);
    return edit;
}

/// Moves the following texts up and drops the last row, so that the first, the field's own control,
/// stays.
void PathRows::removeRow(QWidget* line) {
    for (auto row = std::ranges::find(m_rows, line, &Row::line); row + 1 != m_rows.end(); ++row)
        row->edit->setText((row + 1)->edit->text());
    dropLast();
    nameRows();
    Q_EMIT edited();
}

void PathRows::dropLast() {
    m_rows.back().line->hide();
    m_rows.back().line->deleteLater();
    m_rows.pop_back();
}

void PathRows::nameRows() {
    for (size_t at = 0; at < m_rows.size(); ++at) {
        const Row& row = m_rows[at];
        if (at > 0)
            row.edit->setObjectName(m_rows[0].edit->objectName() + '.' + QString::number(at));
        row.remove->setVisible(m_rows.size() > 1);
        row.remove->setAccessibleName(tr("Remove row %1").arg(at + 1));
        row.remove->setToolTip(tr("Remove this row"));
    }
}

void PathRows::setTexts(const QStringList& wanted) {
    if (wanted == texts())
        return;
    const auto rows = static_cast<size_t>(std::max<qsizetype>(1, wanted.size()));
    while (m_rows.size() > rows)
        dropLast();
    while (m_rows.size() < rows)
        addRow({});
    for (size_t at = 0; at < rows; ++at)
        m_rows[at].edit->setText(wanted.value(static_cast<qsizetype>(at)));
    nameRows();
}

QStringList PathRows::texts() const {
    QStringList out;
    for (const Row& row : m_rows)
        if (const QString text = row.edit->text().trimmed(); !text.isEmpty())
            out << text;
    return out;
}

void PathRows::setProblems(const std::map<QString, QString>& whyByText, const QString& toolTip) {
    for (const Row& row : m_rows) {
        const auto why = whyByText.find(row.edit->text().trimmed());
        const bool isWrong = why != whyByText.end();
        setStyleProperty(row.edit, "invalid", isWrong);
        row.edit->setToolTip(isWrong ? asPlain(why->second) : toolTip);
    }
}

void PathRows::frame(bool changed) {
    m_changed = changed;
    for (const Row& row : m_rows)
        setStyleProperty(row.edit, "changed", changed);
}

} // namespace rm
