// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <string>
#include <vector>

class QComboBox;
class QLineEdit;
class QVBoxLayout;

namespace rm {

/// Variables for the ranks of a node, a line each, and an empty line for one more. The known ones
/// can be chosen and say what they do; one that another field sets is listed and says so.
class EnvironmentList : public QWidget {
    Q_OBJECT
public:
    explicit EnvironmentList(QWidget* parent = nullptr);

    void show(const std::vector<std::string>& environment);
    /// "NAME=value", without the lines that have neither.
    std::vector<std::string> environment() const;

Q_SIGNALS:
    void changed();

private:
    struct Line {
        QComboBox* name;
        QLineEdit* value;
    };
    void addLine(const QString& name, const QString& value);
    void onEdited(size_t line);

    QVBoxLayout* m_column;
    std::vector<Line> m_lines;
};

} // namespace rm
