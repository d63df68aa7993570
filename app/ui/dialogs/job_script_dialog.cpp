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
constexpr int kOptionsHeight = 84;
constexpr int kSoonMs = 300;
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
    , m_options(new QPlainTextEdit)
    , m_problem(makeText({}, "bad")) {
    setWantedWidth(size::kTableDialogWidth);
    buildUi();
    m_soon.setSingleShot(true);
    m_soon.setInterval(kSoonMs);
    connect(&m_soon, &QTimer::timeout, this, &JobScriptDialog::ask);
    connect(m_options, &QPlainTextEdit::textChanged, this, [this] {
        ++m_asked;
        m_use->setEnabled(false);
        m_soon.start();
    });
    connect(m_use, &QPushButton::clicked, this, [this] {
        accept();
        Q_EMIT optionsChosen(options());
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
    content()->addWidget(makeLabel(tr("Your #SBATCH lines, one option a line"), "bodySecondary"));
    QStringList lines;
    for (const std::string& option : m_spec.launch.sbatch)
        lines << QString::fromStdString(option);
    m_options->setPlainText(lines.join('\n'));
    m_options->setObjectName("jobOptions");
    m_options->setPlaceholderText(tr("--time=4:00:00\n--account=NAME"));
    m_options->setFixedHeight(kOptionsHeight);
    m_options->setTabChangesFocus(true);
    m_options->setAccessibleName(tr("Options for sbatch"));
    content()->addWidget(m_options);
    m_problem->setObjectName("jobProblem");
    m_problem->hide();
    content()->addWidget(m_problem);
    addCancel();
    m_use = addButton(tr("Use these options"), "primary", "useOptions");
    m_use->setToolTip(tr("They become launch.sbatch of the run spec"));
}

std::vector<std::string> JobScriptDialog::options() const {
    std::vector<std::string> options;
    for (QString line : m_options->toPlainText().split('\n')) {
        line = line.trimmed();
        if (line.startsWith("#SBATCH")) // as people have them in scripts
            line = line.mid(7).trimmed();
        if (!line.isEmpty())
            options.push_back(line.toStdString());
    }
    return options;
}

void JobScriptDialog::ask() {
    m_spec.launch.sbatch = options();
    const int question = ++m_asked;
    const auto checked = check(m_spec);
    if (!checked)
        return showAnswer(tl::unexpected<Error>(checked.error()));
    m_use->setEnabled(false);
    m_script->setPlaceholderText(tr("Asking the cluster"));
    whenAnswered(m_engine.batchScript(*checked, m_nodes), this,
                 [this, question](const Result<QString>& script) {
                     if (question == m_asked)
                         showAnswer(script);
                 });
}

void JobScriptDialog::showAnswer(const Result<QString>& script) {
    m_script->setPlainText(script.value_or(QString()));
    m_problem->setText(script ? QString() : QString::fromStdString(script.error().message));
    m_problem->setVisible(!script);
    m_use->setEnabled(script.has_value());
}

} // namespace rm
