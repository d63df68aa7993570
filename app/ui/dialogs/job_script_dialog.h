// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/engine/engine.h"
#include "app/ui/dialogs/sheet.h"

#include <QTimer>

#include <string>
#include <vector>

class QLabel;
class QPlainTextEdit;

namespace rm {

/// The script that a launch hands to Slurm, as it will be submitted, and the lines that a person
/// adds to it: options for sbatch (launch.sbatch) and srun (launch.srun), and commands
/// (launch.job_setup).
class JobScriptDialog : public Sheet {
    Q_OBJECT
public:
    /// `command`: prints the script in a terminal.
    JobScriptDialog(Engine& engine, RunSpec spec, std::vector<Placement> nodes,
                    const QString& command, QWidget* parent);

Q_SIGNALS:
    void linesChosen(const RunSpec::Launch& launch); ///< its sbatch, srun and jobSetup

private:
    void buildUi();
    void readLines();
    void ask();
    void showAnswer(const Result<QString>& script);

    Engine& m_engine;
    RunSpec m_spec;
    std::vector<Placement> m_nodes;
    QPlainTextEdit* m_script;
    QPlainTextEdit* m_lines;
    QLabel* m_problem;
    QPushButton* m_use;
    QTimer m_soon;
    int m_requests = 0; ///< answers to earlier questions are stale
};

} // namespace rm
