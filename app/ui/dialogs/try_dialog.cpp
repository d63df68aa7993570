// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/try_dialog.h"

#include "app/core/answer.h"
#include "app/core/checkpoints/checkpoint_choice.h"
#include "app/core/checkpoints/checkpoint_words.h"
#include "app/core/checkpoints/try_checkpoint.h"
#include "app/core/compare/word_diff.h"
#include "app/core/engine/engine.h"
#include "app/ui/data/run_words.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "shared/spec/model_family.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTextCursor>
#include <QTextEdit>
#include <QUuid>
#include <QVBoxLayout>

#include <limits>

namespace rm {

namespace {

constexpr int kPromptLines = 4;
constexpr int kAnswerLines = 12;
constexpr int kMostTokens = 65536;
constexpr size_t kMostTried = 200; ///< kept of a run

QSpinBox* makeSpinBox(int least, int most, int value, const char* objectName, const QString& name) {
    auto* box = new QSpinBox;
    box->setRange(least, most);
    box->setValue(value);
    box->setObjectName(objectName);
    box->setAccessibleName(name);
    return box;
}

void setLines(QWidget* text, int lines) {
    text->setMinimumHeight(text->fontMetrics().lineSpacing() * lines + 4 * size::kGrid);
}

/// The answer as a person reads it: of a picture a line for each class.
QString answerText(const TryAnswer& answer) {
    if (answer.kind != TryKind::kClasses)
        return QString::fromStdString(answer.text);
    QStringList lines;
    for (const TryAnswer::Class& each : answer.classes)
        lines << TryDialog::tr("%1 %2").arg(formatPercent(each.probability),
                                            QString::fromStdString(each.name));
    return lines.join('\n');
}

QTextCharFormat inkOf(const QColor& colour, FontRole role) {
    QTextCharFormat format;
    format.setForeground(colour);
    format.setFont(Theme::instance().font(role));
    return format;
}

} // namespace

TryDialog::TryDialog(const AppContext& context, const QString& run, const RunSpec& spec,
                     const std::vector<StoredCheckpoint>& checkpoints, const std::string& chosen,
                     std::shared_ptr<TriedInputs> tried, QWidget* parent)
    : Sheet(tr("Try a checkpoint"),
            tr("Its model answers on the node where it lies. Where a run trains on that node, it "
               "does so on the CPU, with two threads and at low priority."),
            "tryDialog", parent)
    , m_context(context)
    , m_run(run)
    , m_spec(spec)
    , m_tried(std::move(tried))
    , m_checkpoint(new QComboBox)
    , m_second(new QComboBox)
    , m_onCpu(new QCheckBox(tr("On the CPU")))
    , m_state(makeText({}, "bodySecondary"))
    , m_answers(new QTextEdit) {
    setWantedWidth(size::kTableDialogWidth);
    offer(checkpoints, chosen);
    m_onCpu->setObjectName("tryOnCpu");
    m_onCpu->setAccessibleName(m_onCpu->text());
    m_onCpu->setToolTip(tr("Also where a GPU is free"));
    auto* which = new QHBoxLayout;
    which->addWidget(m_checkpoint, 1);
    which->addWidget(m_second, 1);
    which->addWidget(m_onCpu);
    content()->addLayout(which);
    buildInput();
    buildSettings();
    m_state->setObjectName("tryState");
    content()->addWidget(m_state);
    m_answers->setObjectName("tryAnswers");
    m_answers->setAccessibleName(tr("What was tried"));
    m_answers->setReadOnly(true);
    m_answers->setAcceptRichText(false);
    setLines(m_answers, kAnswerLines);
    content()->addWidget(m_answers, 1);
    m_close = addButton(tr("Close"), "", "tryClose");
    m_try = addButton(tr("Try"), "primary", "tryNow");
    wire();
    showTried();
}

bool TryDialog::isOfPictures() const {
    return familyOf(m_spec).data == DataKind::kPictures;
}

bool TryDialog::isOfPairs() const {
    return familyOf(m_spec).data == DataKind::kPairs;
}

void TryDialog::offer(const std::vector<StoredCheckpoint>& checkpoints, const std::string& chosen) {
    m_checkpoint->setObjectName("tryCheckpoint");
    m_checkpoint->setAccessibleName(tr("Checkpoint"));
    m_second->setObjectName("trySecond");
    m_second->setAccessibleName(tr("Second checkpoint, to compare"));
    m_second->addItem(tr("Alone"));
    for (const StoredCheckpoint& each : checkpoints) {
        if (!isSomewhere(each))
            continue;
        const QString name = QString::fromStdString(checkpointNameOf(each));
        const QString step = formatCount(each.saved.step);
        m_checkpoint->addItem(tr("Step %1").arg(step), name);
        m_second->addItem(tr("Beside step %1").arg(step), name);
        if (each.saved.path == chosen)
            m_checkpoint->setCurrentIndex(m_checkpoint->count() - 1);
    }
}

void TryDialog::buildInput() {
    if (!isOfPictures()) {
        m_prompt = new QPlainTextEdit(
            QString::fromStdString(isOfPairs() ? std::string() : m_spec.validation.prompt)
                .trimmed());
        m_prompt->setObjectName("tryPrompt");
        m_prompt->setAccessibleName(isOfPairs() ? tr("Text to translate") : tr("Prompt"));
        m_prompt->setPlaceholderText(isOfPairs() ? tr("Text to translate, a sentence a line")
                                                 : tr("Text that the model continues"));
        m_prompt->setTabChangesFocus(true);
        setLines(m_prompt, kPromptLines);
        content()->addWidget(m_prompt);
        return;
    }
    m_file = new QLineEdit;
    m_file->setObjectName("tryFile");
    m_file->setAccessibleName(tr("Picture"));
    m_file->setPlaceholderText(tr("A picture on this computer: JPEG, PNG, WebP or BMP"));
    m_browse = makeButton(tr("Choose"), "", "tryBrowse");
    auto* row = new QHBoxLayout;
    row->addWidget(m_file, 1);
    row->addWidget(m_browse);
    content()->addLayout(row);
}

void TryDialog::buildSettings() {
    if (isOfPictures())
        return;
    const auto& validation = m_spec.validation;
    auto* row = new QHBoxLayout;
    const auto add = [row](const QString& label, QWidget* field) {
        row->addWidget(makeLabel(label, "bodySecondary"));
        row->addWidget(field);
    };
    const int tokens = static_cast<int>(std::max<int64_t>(1, validation.sampleTokens));
    m_maxTokens = makeSpinBox(1, kMostTokens, tokens, "tryTokens", tr("Longest answer in tokens"));
    add(tr("Tokens"), m_maxTokens);
    if (isOfPairs()) {
        m_beams = makeSpinBox(1, 64, static_cast<int>(validation.beams), "tryBeams", tr("Beams"));
        add(tr("Beams"), m_beams);
    } else {
        m_temperature = new QDoubleSpinBox;
        m_temperature->setRange(0, 100);
        m_temperature->setSingleStep(0.1);
        m_temperature->setValue(validation.temperature);
        m_temperature->setObjectName("tryTemperature");
        m_temperature->setAccessibleName(tr("Temperature"));
        add(tr("Temperature"), m_temperature);
        m_topK = makeSpinBox(0, 1048576, static_cast<int>(validation.topK), "tryTopK", tr("Top-k"));
        add(tr("Top-k"), m_topK);
        m_seed = makeSpinBox(0, std::numeric_limits<int>::max(), 0, "trySeed", tr("Seed"));
        m_seed->setToolTip(tr("Of the numbers by which tokens are drawn"));
        add(tr("Seed"), m_seed);
    }
    row->addStretch(1);
    content()->addLayout(row);
}

void TryDialog::wire() {
    connect(m_try, &QPushButton::clicked, this, &TryDialog::begin);
    connect(m_close, &QPushButton::clicked, this,
            [this] { m_waiting.empty() ? reject() : stop(); });
    connect(this, &QDialog::finished, this, &TryDialog::stop);
    if (m_browse)
        connect(m_browse, &QPushButton::clicked, this, &TryDialog::chooseFile);
    connect(&m_context.engine, &Engine::progressed, this,
            [this](const QString& id, const Progress& progress) {
                if (!m_waiting.empty() && id == tryName(m_waiting.front().id) && !m_isCancelled)
                    m_state->setText(progressWords(progress));
            });
    connect(&Theme::instance(), &Theme::changed, this, &TryDialog::showTried);
    m_try->setEnabled(m_checkpoint->count() > 0);
    if (m_checkpoint->count() == 0)
        m_state->setText(tr("The run has no checkpoint that can be reached."));
}

void TryDialog::chooseFile() {
    auto* files = new QFileDialog(this, tr("Picture to classify"));
    files->setAttribute(Qt::WA_DeleteOnClose);
    files->setFileMode(QFileDialog::ExistingFile);
    files->setNameFilters({tr("Pictures (*.jpg *.jpeg *.png *.webp *.bmp)"), tr("All files (*)")});
    connect(files, &QFileDialog::fileSelected, m_file, &QLineEdit::setText);
    files->open();
}

TryOrder TryDialog::order() const {
    TryOrder order;
    if (m_prompt)
        order.text = m_prompt->toPlainText();
    if (m_file)
        order.file = m_file->text().trimmed();
    if (m_maxTokens)
        order.maxTokens = m_maxTokens->value();
    if (m_temperature)
        order.temperature = m_temperature->value();
    if (m_topK)
        order.topK = m_topK->value();
    if (m_beams)
        order.beams = m_beams->value();
    if (m_seed)
        order.seed = m_seed->value();
    order.onCpu = m_onCpu->isChecked();
    return order;
}

void TryDialog::begin() {
    m_order = order();
    if (m_file && m_order.file.isEmpty())
        return say(tr("Choose a picture first."), false);
    m_isCancelled = false;
    for (const QComboBox* box : {m_checkpoint, m_second})
        if (const QString name = box->currentData().toString(); !name.isEmpty())
            m_waiting.push_back(
                {name, box->currentText(), QUuid::createUuid().toString(QUuid::Id128)});
    askNext();
}

/// One after another, as both may lie on the same node.
void TryDialog::askNext() {
    if (m_waiting.empty() || m_isCancelled) {
        m_waiting.clear();
        return say(m_isCancelled ? tr("Cancelled.") : QString(), false);
    }
    const Waiting& next = m_waiting.front();
    say(tr("Asking the checkpoint."), true);
    whenAnswered(
        m_context.engine.ask(TryCheckpointRequest{m_run, next.checkpoint, m_order, next.id}), this,
        [this](const Result<TriedCheckpoint>& tried) { take(tried); });
}

void TryDialog::take(const Result<TriedCheckpoint>& tried) {
    const Waiting asked = m_waiting.front();
    m_waiting.pop_front();
    if (!tried) {
        m_waiting.clear();
        return say(m_isCancelled ? tr("Cancelled.") : capitalized(tried.error().message) + '.',
                   false);
    }
    const TryAnswer& answer = tried->answer;
    const QString where = tr("%1, %2, %3 s")
                              .arg(nodeTitle(tried->node), QString::fromStdString(answer.device))
                              .arg(answer.seconds, 0, 'f', 1);
    const QString input = m_file ? m_order.file : m_order.text;
    m_tried->push_back(
        {input, answerText(answer), tr("Step %1").arg(formatCount(answer.step)), where});
    if (m_tried->size() > kMostTried)
        m_tried->erase(m_tried->begin());
    showTried();
    askNext();
    if (m_waiting.empty() && !m_isCancelled)
        m_state->setText(QString::fromStdString(tried->note));
}

void TryDialog::stop() {
    if (m_waiting.empty())
        return;
    m_isCancelled = true;
    m_state->setText(tr("Cancelling…"));
    m_context.engine.ask(StopTryRequest{m_waiting.front().id});
}

void TryDialog::say(const QString& text, bool isTrying) {
    m_state->setText(text);
    m_try->setEnabled(!isTrying);
    m_close->setText(isTrying ? tr("Cancel") : tr("Close"));
    m_close->setAccessibleName(m_close->text());
}

/// The newest first. An answer to the input of the one before it is marked where it differs.
void TryDialog::showTried() {
    m_answers->clear();
    QTextCursor cursor(m_answers->document());
    const QTextCharFormat quiet = inkOf(colours().secondary, FontRole::kSecondary);
    const QTextCharFormat plain = inkOf(colours().text, FontRole::kBody);
    QTextCharFormat own = plain;
    own.setBackground(colours().accentBack);
    own.setFontUnderline(true);
    for (size_t i = m_tried->size(); i-- > 0;) {
        const TriedInput& each = (*m_tried)[i];
        cursor.insertText(tr("%1 (%2)").arg(each.step, each.where) + '\n', quiet);
        cursor.insertText(each.input + '\n', quiet);
        const bool isBeside = i > 0 && (*m_tried)[i - 1].input == each.input;
        if (!isBeside)
            cursor.insertText(each.answer, plain);
        else
            for (const WordSpan& span :
                 wordDiff((*m_tried)[i - 1].answer.toStdString(), each.answer.toStdString()).b)
                cursor.insertText(QString::fromStdString(span.text), span.isOwn ? own : plain);
        cursor.insertText("\n\n", plain);
    }
    m_answers->moveCursor(QTextCursor::Start);
}

} // namespace rm
