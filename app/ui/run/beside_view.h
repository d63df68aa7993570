// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/sample_rows.h"

#include <QTextEdit>

namespace rm {

/// Texts that a model made of the same inputs at several validations, a column each; words that
/// differ from the first column's are marked. With a single column: translations between their
/// source and their reference.
class BesideView : public QTextEdit {
    Q_OBJECT
public:
    explicit BesideView(QWidget* parent = nullptr);
    void show(const std::vector<SampleRow>& rows, const QStringList& titles);
    using QTextEdit::show;

private:
    void rebuild();

    std::vector<SampleRow> m_rows;
    QStringList m_titles;
};

} // namespace rm
