// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/job_script_dialog.h"

#include "app/core/answer.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QPlainTextEdit>
#include <QVBoxLayout>

namespace rm {

namespace {
constexpr int kScriptHeight = 260;
constexpr int kLinesHeight = 84;
constexpr int kSoonMs = 300;
const QLatin1String kOption("#SBATCH");
const QLatin1String kStepOption("#SRUN"); // ours, and for bash a comment
} // namespace

JobScriptDialog::JobScriptDialog(Engine& engine, RunSpec spec, std::vector<Placement> nodes,
                                 const QString& command, QWidget* parent)
    : Sheet(tr("Job script"),
            tr("What Slurm gets, as it is, with the run's id for %1. In a terminal: %2")
                .arg(kRunIdInScript, command),
            "jobScriptDialog", parent)
    , m_engine(engine)
    , m_spec(std::move(spec))
    , m_nodes(std::move(nodes))
    , m_script(new QPlainTextEdit)
    , m_lines(new QPlainTextEdit)
    , m_problem(makeText({}, "bad")) {
    setWantedWidth(size::kTableDialogWidth);
    buildUi();
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &JobScriptDialog::ask);
    connect(m_lines, &QPlainTextEdit::textChanged, this, [this] {
        ++m_requests;
        m_use->setEnabled(false);
        m_soon.start();
    });
    connect(m_use, &QPushButton::clicked, this, [this] {
        accept();
        Q_EMIT linesChosen(m_spec.launch);
    });
    ask();
}

void JobScriptDialog::buildUi() {
    m_script->setObjectName("jobScript");
    m_script->setReadOnly(true);
    m_script->setMinimumHeight(kScriptHeight);
    m_script->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_script->setAccessibleName(tr("The script for sbatch"));
    content()->addWidget(m_script);
    content()->addWidget(makeLabel(
        tr("Your lines: #SBATCH options, #SRUN options of the srun below, and commands before it"),
        "bodySecondary"));
    QStringList lines;
    for (const std::string& option : m_spec.launch.sbatch)
        lines << kOption + ' ' + QString::fromStdString(option);
    for (const std::string& option : m_spec.launch.srun)
        lines << kStepOption + ' ' + QString::fromStdString(option);
    for (const std::string& line : m_spec.launch.jobSetup)
        lines << QString::fromStdString(line);
    m_lines->setPlainText(lines.join('\n'));
    m_lines->setObjectName("jobLines");
    m_lines->setPlaceholderText(tr("#SBATCH --time=4:00:00\n#SRUN --mpi=none\nmodule load cuda"));
    m_lines->setFixedHeight(kLinesHeight);
    m_lines->setTabChangesFocus(true);
    m_lines->setAccessibleName(tr("Your lines of the script"));
    content()->addWidget(m_lines);
    m_problem->setObjectName("jobProblem");
    m_problem->hide();
    content()->addWidget(m_problem);
    addCancel();
    m_use = addButton(tr("Use these lines"), "primary", "useLines");
    m_use->setToolTip(
        tr("They become launch.sbatch, launch.srun and launch.job_setup of the run spec"));
}

/// As people have them in scripts of their own, so that the head of one can be pasted.
void JobScriptDialog::readLines() {
    m_spec.launch.sbatch.clear();
    m_spec.launch.jobSetup.clear();
    m_spec.launch.srun.clear();
    std::vector<std::string>& setup = m_spec.launch.jobSetup;
    for (const QString& line : m_lines->toPlainText().split('\n')) {
        const QString text = line.trimmed();
        if (!setup.empty() && setup.back().ends_with('\\')) // the rest of that command
            setup.push_back(line.toStdString());
        else if (line.startsWith(kOption))
            m_spec.launch.sbatch.push_back(line.mid(kOption.size()).trimmed().toStdString());
        else if (line.startsWith(kStepOption))
            m_spec.launch.srun.push_back(line.mid(kStepOption.size()).trimmed().toStdString());
        else if (setup.empty() && text.startsWith('-')) // the option alone
            m_spec.launch.sbatch.push_back(text.toStdString());
        else if (!text.isEmpty() && !text.startsWith("#!"))
            setup.push_back(line.toStdString());
    }
}

void JobScriptDialog::ask() {
    readLines();
    const int question = ++m_requests;
    const auto checked = check(m_spec);
    if (!checked)
        return showAnswer(tl::unexpected<Error>(checked.error()));
    m_use->setEnabled(false);
    m_script->setPlaceholderText(tr("Asking the cluster"));
    whenAnswered(m_engine.ask(BatchScriptRequest{**checked, m_nodes}), this,
                 [this, question](const Result<QString>& script) {
                     if (question == m_requests)
                         showAnswer(script);
                 });
}

void JobScriptDialog::showAnswer(const Result<QString>& script) {
    m_script->setPlaceholderText({});
    m_script->setPlainText(script.value_or(QString()));
    m_problem->setText(script ? QString() : QString::fromStdString(script.error().message));
    m_problem->setVisible(!script);
    m_use->setEnabled(script.has_value());
}

} // namespace rm
