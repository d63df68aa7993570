// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QComboBox>

#include <string>
#include <vector>

namespace rm {

/// Chooses a setting or metric, as parseValueKey() takes them: from a list, or typed, with what
/// contains the letters offered.
class KeyBox : public QComboBox {
    Q_OBJECT
public:
    KeyBox(const QString& accessibleName, const char* objectName, QWidget* parent = nullptr);

    void setKeys(const std::vector<std::string>& keys);
    void setKey(const std::string& key);
    std::string key() const { return m_key; }

Q_SIGNALS:
    void chosen(const std::string& key);

private:
    void choose();

    std::vector<std::string> m_keys;
    std::string m_key;
};

} // namespace rm
