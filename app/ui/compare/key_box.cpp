// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/compare/key_box.h"

#include "app/core/runs/run_values.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/widgets/label.h"

#include <QCompleter>
#include <QLineEdit>

namespace rm {

namespace {
constexpr int kKeyCharacters = 20;
}

KeyBox::KeyBox(const QString& accessibleName, const char* objectName, QWidget* parent)
    : QComboBox(parent) {
    setObjectName(objectName);
    setAccessibleName(accessibleName);
    setEditable(true);
    setInsertPolicy(QComboBox::NoInsert);
    setMinimumContentsLength(kKeyCharacters);
    setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    completer()->setCompletionMode(QCompleter::PopupCompletion);
    completer()->setFilterMode(Qt::MatchContains);
    lineEdit()->setAccessibleName(accessibleName);
    connect(this, &QComboBox::activated, this, &KeyBox::choose);
    connect(lineEdit(), &QLineEdit::editingFinished, this, &KeyBox::choose);
}

void KeyBox::setKeys(const std::vector<std::string>& keys) {
    if (keys == m_keys)
        return;
    m_keys = keys;
    const QSignalBlocker blocker(this);
    const QString typed = currentText();
    clear();
    for (const std::string& key : keys)
        addItem(QString::fromStdString(key));
    setEditText(typed);
}

void KeyBox::setKey(const std::string& key) {
    if (key == m_key)
        return;
    m_key = key;
    setEditText(QString::fromStdString(key));
}

void KeyBox::choose() {
    const std::string typed = currentText().trimmed().toStdString();
    const auto known = parseValueKey(typed);
    setStyleProperty(this, "invalid", !typed.empty() && !known);
    setToolTip(known || typed.empty() ? QString()
                                      : asPlain(QString::fromStdString(known.error().message)));
    if (!known || typed == m_key)
        return;
    m_key = typed;
    Q_EMIT chosen(m_key);
}

} // namespace rm
