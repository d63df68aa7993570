// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

#include <map>
#include <vector>

class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace rm {

/// A list of texts, one per row, with buttons to add and to remove rows. There is always at least
/// one row.
class PathRows : public QWidget {
    Q_OBJECT
public:
    explicit PathRows(const QString& addText, QWidget* parent = nullptr);

    void setTexts(const QStringList& texts); ///< does not emit edited()
    QStringList texts() const;               ///< trimmed, without the empty ones
    QLineEdit* firstRow() const { return m_rows.front().edit; }
    void frame(bool changed); ///< marks a value that a person has changed
    /// Marks the rows of these texts as wrong, with why as the tooltip; the others are right.
    void setProblems(const std::map<QString, QString>& whyByText, const QString& toolTip);

Q_SIGNALS:
    void edited();
    void rowAdded(QLineEdit* edit);

private:
    struct Row {
        QWidget* line;
        QLineEdit* edit;
        QPushButton* remove;
    };
    QLineEdit* addRow(const QString& text);
    void removeRow(QWidget* line);
    void dropLast();
    void nameRows();

    std::vector<Row> m_rows;
    QVBoxLayout* m_column;
    QPushButton* m_add;
    bool m_changed = false;
};

} // namespace rm
