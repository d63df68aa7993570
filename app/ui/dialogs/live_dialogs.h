// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/store/store.h"
#include "app/ui/dialogs/sheet.h"
#include "shared/spec/live_settings.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace rm {

/// The live settings of a run as they are now: those of its spec, with what was set since.
LiveSettings liveSettingsOf(const RunSpec& spec, const std::vector<AskedCommand>& newestFirst);

/// Asks which setting of a live run is to be changed, and to what.
class SetDialog : public Sheet {
    Q_OBJECT
public:
    SetDialog(const QString& run, LiveSettings now, QWidget* parent);

Q_SIGNALS:
    void chosen(const std::string& key, const std::string& value);

private:
    void showKey();
    void check();

    LiveSettings m_now;
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
};

} // namespace rm
