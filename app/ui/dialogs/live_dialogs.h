// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/dialogs/sheet.h"
#include "shared/spec/run_spec.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace rm {

/// Asks which setting of a live run is to be changed, and to what. `now`: see liveSpec().
class SetDialog : public Sheet {
    Q_OBJECT
public:
    SetDialog(const QString& run, RunSpec now, QWidget* parent);

Q_SIGNALS:
    void chosen(const std::string& key, const std::string& value);

private:
    void showKey();
    void check();

    RunSpec m_now;
    QComboBox* m_key;
    QLineEdit* m_value;
    QLabel* m_problem;
    QPushButton* m_confirm;
};

/// Asks how many steps a held run is to do before it holds again.
class StepDialog : public Sheet {
    Q_OBJECT
public:
    StepDialog(const QString& run, QWidget* parent);

Q_SIGNALS:
    void chosen(int steps);

private:
    QSpinBox* m_steps;
    QLabel* m_problem;
};

} // namespace rm
