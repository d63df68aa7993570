// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run_page.h"

#include "app/core/answer.h"
#include "app/core/launch/plan.h"
#include "app/ui/data/node_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/dialogs/too_large_dialog.h"
#include "app/ui/format.h"
#include "app/ui/launch_progress.h"
#include "app/ui/placement_list.h"
#include "app/ui/spec_form.h"
#include "app/ui/theme.h"
#include "app/ui/widgets/banner.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/toast.h"
#include "shared/spec/toml_edit.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <QShortcut>
#include <QTextCursor>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr int kLeftWidth = 292;
constexpr int kParseMs = 150;

QScrollArea* scrolled(QWidget* content) {
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidget(content);
    return scroll;
}

} // namespace

NewRunPage::NewRunPage(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_recipes(loadRecipes()) {
    buildUi();
    wire();
    restore();
}

void NewRunPage::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kPageX, size::kPageY, size::kPageX, size::kPageY);
    column->setSpacing(size::kCardGap);
    m_header = new PageHeader(tr("New run"));
    m_launch = m_header->addAction(tr("Launch"), "primary", "launch");
    m_launch->setToolTip(tr("Ctrl+Return"));
    m_cancel = m_header->addAction(tr("Cancel launch"), "", "cancelLaunch");
    m_cancel->setToolTip(
        tr("End what was started on the nodes; what was sent to them stays there"));
    m_cancel->hide();
    column->addWidget(m_header);
    m_banner = new Banner("launchBanner");
    column->addWidget(m_banner);
    m_progress = new LaunchProgress;
    m_progress->hide();
    column->addWidget(m_progress);
    auto* panes = new QHBoxLayout;
    panes->setSpacing(size::kCardGap);
    panes->addWidget(buildLeft());
    m_form = new SpecForm;
    panes->addWidget(scrolled(m_form), 6);
    panes->addWidget(buildEditor(), 5);
    column->addLayout(panes, 1);
}

QWidget* NewRunPage::buildLeft() {
    auto* left = new QWidget;
    auto* column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    buildRecipes(column);
    auto* nodes = new Card;
    nodes->body()->addWidget(makeLabel(tr("Nodes and ranks"), "cardTitle"));
    m_nodes = new PlacementList(m_context);
    nodes->body()->addSpacing(2);
    nodes->body()->addWidget(m_nodes);
    column->addWidget(nodes);
    auto* checks = new Card;
    checks->body()->addWidget(makeLabel(tr("Check"), "cardTitle"));
    m_checks = new QVBoxLayout;
    m_checks->setSpacing(2 * size::kGrid);
    checks->body()->addSpacing(2);
    checks->body()->addLayout(m_checks);
    column->addWidget(checks);
    column->addStretch(1);
    QScrollArea* scroll = scrolled(left);
    scroll->setFixedWidth(kLeftWidth);
    return scroll;
}

void NewRunPage::buildRecipes(QVBoxLayout* column) {
    auto* card = new Card;
    card->body()->addWidget(makeLabel(tr("Recipe"), "cardTitle"));
    card->body()->addSpacing(2);
    m_recipeButtons = new QButtonGroup(this);
    for (size_t at = 0; at < m_recipes.size(); ++at) {
        const RecipeText& recipe = m_recipes[at];
        auto* button = makeButton({}, "choice", "recipe");
        button->setObjectName("recipe." + recipe.name);
        button->setAccessibleName(recipe.name);
        button->setAccessibleDescription(recipe.description);
        button->setToolTip(recipe.description);
        button->setCheckable(true);
        auto* texts = new QVBoxLayout(button);
        texts->setContentsMargins(size::kCardGap, 2 * size::kGrid, size::kCardGap, 2 * size::kGrid);
        texts->setSpacing(0);
        texts->addWidget(new ElidedLabel(recipe.name, "strong"));
        texts->addWidget(new ElidedLabel(recipe.description, "secondary"));
        for (QWidget* child : button->findChildren<QWidget*>())
            child->setAttribute(Qt::WA_TransparentForMouseEvents);
        m_recipeButtons->addButton(button, static_cast<int>(at));
        card->body()->addWidget(button);
    }
    if (m_recipes.empty())
        card->body()->addWidget(makeText(tr("No recipes came with this program; the form starts "
                                            "from the defaults."),
                                         "bodySecondary"));
    column->addWidget(card);
}

QWidget* NewRunPage::buildEditor() {
    auto* card = new Card;
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("As a file"), "cardTitle"));
    head->addStretch(1);
    head->addWidget(makeLabel(tr("form and text follow each other"), "caption"));
    card->body()->addLayout(head);
    m_toml = new QPlainTextEdit;
    m_toml->setObjectName("specToml");
    m_toml->setAccessibleName(tr("Run spec as TOML"));
    m_toml->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_toml->setTabChangesFocus(true);
    card->body()->addWidget(m_toml, 1);
    m_tomlError = makeText({}, "bad");
    m_tomlError->setObjectName("specError");
    m_tomlError->hide();
    card->body()->addWidget(m_tomlError);
    return card;
}

void NewRunPage::wire() {
    m_parseTimer.setSingleShot(true);
    m_parseTimer.setInterval(kParseMs);
    connect(m_recipeButtons, &QButtonGroup::idClicked, this, [this](int at) {
        endBranch();
        useToml(m_recipes[static_cast<size_t>(at)].toml);
    });
    connect(m_form, &SpecForm::edited, this, &NewRunPage::onFormEdited);
    connect(m_form, &SpecForm::refused, this, &NewRunPage::refreshChecks);
    connect(m_toml, &QPlainTextEdit::textChanged, &m_parseTimer, qOverload<>(&QTimer::start));
    connect(&m_parseTimer, &QTimer::timeout, this, &NewRunPage::onTomlEdited);
    connect(m_nodes, &PlacementList::changed, this, &NewRunPage::refreshChecks);
    const auto launchIfItFits = [this] { launch(IfTooLarge::kRefuse); };
    connect(m_launch, &QPushButton::clicked, this, launchIfItFits);
    connect(m_cancel, &QPushButton::clicked, this, &NewRunPage::cancel);
    connect(&m_context.engine, &Engine::progressed, this, &NewRunPage::showLaunch);
    connect(&m_context.engine, &Engine::liveChanged, this, &NewRunPage::showLaunch);
    auto* shortcut = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_Return), this);
    shortcut->setContext(Qt::WidgetWithChildrenShortcut);
    connect(shortcut, &QShortcut::activated, this, launchIfItFits);
    connect(&m_context.engine, &Engine::tooLarge, this,
            [this](const QString& run, const QString& why) {
                if (run == m_launching)
                    m_tooLarge = why;
            });
}

void NewRunPage::restore() {
    if (m_recipes.empty())
        useToml(QString::fromStdString(toToml(RunSpec())));
    else
        prepare(m_recipes.front().name, {});
}

void NewRunPage::prepare(const QString& recipe, const std::vector<Placement>& nodes) {
    endBranch();
    for (size_t at = 0; at < m_recipes.size(); ++at)
        if (m_recipes[at].name == recipe) {
            m_recipeButtons->button(static_cast<int>(at))->setChecked(true);
            useToml(m_recipes[at].toml);
        }
    if (!nodes.empty())
        m_nodes->choose(nodes);
}

void NewRunPage::prepareBranch(const QString& run, int64_t step, const QString& toml,
                               const std::vector<Placement>& nodes) {
    m_branch = Branch{run, step};
    const RunSummary* parent = m_context.runs.find(run);
    m_header->setTitle(tr("Branch of %1").arg(parent ? parent->name : run));
    m_header->setFacts(tr("starts from step %1, on the same nodes").arg(formatCount(step)));
    m_nodes->choose(nodes);
    m_nodes->setEnabled(false);
    useToml(toml);
}

void NewRunPage::endBranch() {
    m_branch.reset();
    m_nodes->setEnabled(true);
    m_header->setTitle(tr("New run"));
    m_header->setFacts({});
}

void NewRunPage::useToml(const QString& toml) {
    m_toml->setPlainText(toml);
    m_parseTimer.stop();
    onTomlEdited();
}

// What a person wrote around the value stays: comments, order, layout.
void NewRunPage::onFormEdited(const SpecField& field) {
    RunSpec spec = m_form->spec();
    const auto toml =
        setTomlField(m_toml->toPlainText().toStdString(), "spec", {field.key, field.ref(spec)});
    if (!toml) {
        onTomlEdited();
        return;
    }
    showText(QString::fromStdString(*toml));
    m_parseTimer.stop();
    refreshChecks();
}

/// Changes what differs, so that it can be undone and the text does not jump.
void NewRunPage::showText(const QString& toml) {
    const QSignalBlocker quiet(m_toml);
    const QString before = m_toml->toPlainText();
    const auto shorter = std::min(before.size(), toml.size());
    qsizetype head = 0, tail = 0;
    while (head < shorter && before[head] == toml[head])
        ++head;
    while (tail < shorter - head &&
           before[before.size() - 1 - tail] == toml[toml.size() - 1 - tail])
        ++tail;
    QTextCursor cursor(m_toml->document());
    cursor.setPosition(static_cast<int>(head));
    cursor.setPosition(static_cast<int>(before.size() - tail), QTextCursor::KeepAnchor);
    cursor.insertText(toml.mid(head, toml.size() - tail - head));
}

void NewRunPage::onTomlEdited() {
    const auto spec = parseRunSpec(m_toml->toPlainText().toStdString(), "spec");
    m_parseError.reset();
    if (spec)
        m_form->setSpec(*spec);
    else
        m_parseError = spec.error();
    enableForm();
    refreshChecks();
}

/// A form beside a text that does not parse would show what the text does not say.
void NewRunPage::enableForm() {
    m_form->setEnabled(!m_parseError && m_launching.isEmpty());
}

void NewRunPage::addCheckLine(const QString& text, bool good) {
    auto* line = new QWidget;
    auto* row = new QHBoxLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2 * size::kGrid);
    row->addWidget(new VerdictMark(good ? Tone::kGood : Tone::kBad, good ? tr("good") : tr("bad")),
                   0, Qt::AlignTop);
    row->addWidget(makeText(text, "body"), 1);
    m_checks->addWidget(line);
}

void NewRunPage::refreshChecks() {
    while (QLayoutItem* item = m_checks->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    bool good = !m_parseError;
    m_tomlError->setVisible(m_parseError.has_value());
    m_tomlError->setText(m_parseError ? QString::fromStdString(m_parseError->message) : QString());
    setStyleProperty(m_toml, "invalid", m_parseError.has_value());
    if (m_parseError) {
        addCheckLine(tr("The text does not parse: see below it"), false);
    } else if (m_form->hasRefused()) {
        good = false;
        addCheckLine(tr("A field holds what it cannot: it is framed in red"), false);
    } else if (const auto checked = check(m_form->spec()); checked) {
        addCheckLine(tr("The spec is complete and within bounds"), true);
    } else {
        good = false;
        for (const QString& problem :
             QString::fromStdString(checked.error().message).split('\n', Qt::SkipEmptyParts))
            addCheckLine(problem, false);
    }
    const std::vector<Placement> placements = m_nodes->placements();
    if (placements.empty()) {
        good = false;
        addCheckLine(tr("Choose at least one node"), false);
    }
    for (const Placement& placement : placements) {
        const auto last = m_context.fleet.lastCheck(placement.node);
        if (last && !last->ready)
            addCheckLine(
                tr("%1 has problems: see Nodes").arg(nodeTitle(placement.node.toStdString())),
                false);
        else if (last)
            addCheckLine(tr("%1 is ready").arg(nodeTitle(placement.node.toStdString())), true);
    }
    m_launch->setEnabled(good && m_launching.isEmpty());
}

void NewRunPage::launch(IfTooLarge ifTooLarge) {
    if (!m_launch->isEnabled())
        return;
    m_parseTimer.stop();
    onTomlEdited();
    const auto checked = check(m_form->spec());
    if (m_parseError || !checked)
        return;
    const QString run = QString::fromStdString(newRunId((*checked)->name));
    setLaunching(run);
    m_cancelled = false;
    m_tooLarge.clear();
    Engine& engine = m_context.engine;
    const auto answer =
        m_branch ? engine.branch(m_branch->run, m_branch->step, *checked, run, ifTooLarge)
                 : engine.launch(*checked, m_nodes->placements(), run, ifTooLarge);
    whenAnswered(answer, this, [this](const Result<QString>& started) { onLaunched(started); });
}

// Nothing was trained yet, so nothing is lost by ending it at once.
void NewRunPage::cancel() {
    m_context.engine.command(m_launching, CommandKind::kKill);
}

void NewRunPage::showLaunch(const QString& run) {
    const LiveState live = m_context.engine.live(run);
    if (run != m_launching || !live.launching)
        return;
    m_cancelled = live.pending.has_value();
    m_cancel->setEnabled(!m_cancelled);
    m_header->setChip(m_cancelled ? tr("Cancelling launch") : tr("Preparing"),
                      m_cancelled ? Tone::kWarn : Tone::kAccent);
    m_progress->show(live);
}

void NewRunPage::onLaunched(const Result<QString>& answer) {
    setLaunching({});
    m_context.runs.refresh();
    if (answer) {
        endBranch();
        Q_EMIT launched(*answer);
    } else if (m_cancelled) {
        m_context.toast.say(tr("Launch cancelled; nothing of it runs any more"));
    } else if (!m_tooLarge.isEmpty()) {
        askAboutTooLarge();
    } else {
        m_banner->show(Tone::kBad, tr("The run did not start"),
                       QString::fromStdString(answer.error().message));
    }
}

void NewRunPage::askAboutTooLarge() {
    auto* dialog = new TooLargeDialog(m_tooLarge, window());
    connect(dialog, &QDialog::accepted, this, [this] { launch(IfTooLarge::kLaunch); });
    dialog->open();
}

void NewRunPage::setLaunching(const QString& run) {
    m_launching = run;
    const bool busy = !run.isEmpty();
    m_launch->setVisible(!busy);
    m_cancel->setVisible(busy);
    if (busy) {
        m_banner->hide();
    } else {
        m_progress->hide();
        m_header->setChip({}, Tone::kNeutral);
    }
    enableForm();
    m_toml->setReadOnly(busy);
    refreshChecks();
}

} // namespace rm
