// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/compare/run_table.h"

#include <QDialog>

namespace rm {

class RunStyles;

/// A plot of runs as a table of text, a row a run. A click on a header sorts. Enter or a double
/// click opens the run.
class RunTableDialog : public QDialog {
    Q_OBJECT
public:
    RunTableDialog(const RunTable& table, const RunStyles& styles, QWidget* parent);

Q_SIGNALS:
    void opened(const QString& run);
};

} // namespace rm
