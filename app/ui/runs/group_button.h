// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPushButton>

#include <string>
#include <vector>

namespace rm {

/// Chooses by what the runs are put in groups: a menu, and for any other setting or metric a field.
class GroupButton : public QPushButton {
    Q_OBJECT
public:
    explicit GroupButton(QWidget* parent = nullptr);
    /// The key now (empty: none), and the columns that a person has added.
    void show(const std::string& key, const std::vector<std::string>& columns);
    using QPushButton::show;

Q_SIGNALS:
    void chosen(const std::string& key); ///< a key of checkGroupKey(), or empty
    void foldAllRequested(bool isFolded);

private:
    void showMenu();
    void askKey();

    std::string m_key;
    std::vector<std::string> m_columns;
};

/// "State", "Tags", "Nodes", "Branch of", "Sweep", "Model", or the key itself.
QString groupWords(const std::string& key);

} // namespace rm
