// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run/new_run_page.h"

#include "app/core/answer.h"
#include "app/core/launch/launch_rows.h"
#include "app/core/launch/plan.h"
#include "app/core/runs/branch_name.h"
#include "app/core/runs/same_name.h"
#include "app/core/runs/steps_left.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/launch_preflight.h"
#include "app/ui/data/node_words.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/data/spec_words.h"
#include "app/ui/dialogs/enqueue_dialog.h"
#include "app/ui/dialogs/forecast_dialog.h"
#include "app/ui/dialogs/job_script_dialog.h"
#include "app/ui/dialogs/node_connector.h"
#include "app/ui/dialogs/placement_list.h"
#include "app/ui/dialogs/plan_dialog.h"
#include "app/ui/dialogs/too_large_dialog.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/new_run/launch_bar.h"
#include "app/ui/new_run/recipe_strip.h"
#include "app/ui/new_run/spec_form.h"
#include "app/ui/new_run/toml_drawer.h"
#include "app/ui/run/launch_progress.h"
#include "app/ui/widgets/banner.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/page_header.h"
#include "app/ui/widgets/toast.h"
#include "shared/spec/toml_edit.h"

#include <QApplication>
#include <QBoxLayout>
#include <QScrollArea>
#include <QScrollBar>
#include <QShortcut>

#include <algorithm>

namespace rm {

namespace {

constexpr int kTwoColumns = 900; ///< page width; if narrower, the side column moves below the form
constexpr int kFormMost = 1100;
constexpr int kSideMost = 640;
constexpr int kDrawerLeast = 460;
constexpr int kParseMs = 150;
constexpr int kAgeMs = 1000;

} // namespace

NewRunPage::NewRunPage(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context)
    , m_recipes(recipes())
    , m_preflight(new LaunchPreflight(context, this)) {
    buildUi();
    wire();
    wireLaunch();
    restore();
}

void NewRunPage::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, size::kPageY, 0, 0);
    column->setSpacing(size::kCardGap);
    auto* top = new QVBoxLayout;
    top->setContentsMargins(size::kPageX, 0, size::kPageX, 0);
    top->setSpacing(size::kCardGap);
    m_header = new PageHeader(tr("New run"));
    m_asFile = m_header->addAction(tr("As a file"), "", "asFile");
    m_asFile->setCheckable(true);
    m_asFile->setToolTip(tr("The run spec as TOML"));
    top->addWidget(m_header);
    m_banner = new Banner("launchBanner");
    top->addWidget(m_banner);
    m_progress = new LaunchProgress;
    m_progress->hide();
    top->addWidget(m_progress);
    column->addLayout(top);
    m_scroll = new QScrollArea(this);
    m_scroll->setFocusPolicy(Qt::NoFocus); // a stop of Tab that nobody sees
    m_scroll->setObjectName("newRunScroll");
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setWidget(buildBody(m_scroll->viewport()));
    column->addWidget(m_scroll, 1);
    m_bar = new LaunchBar;
    column->addWidget(m_bar);
    m_drawer = new TomlDrawer(this);
}

/// What holds many widgets has its parent from the start, see MainWindow::buildUi().
QWidget* NewRunPage::buildBody(QWidget* parent) {
    auto* body = new QWidget(parent);
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(size::kPageX, 0, size::kPageX, size::kPageY);
    column->setSpacing(size::kCardGap);
    m_strip = new RecipeStrip(m_recipes);
    if (m_recipes.empty())
        column->addWidget(makeText(tr("No recipes came with this program; the form starts from "
                                      "the defaults."),
                                   "bodySecondary"));
    column->addWidget(m_strip);
    m_unreadable = makeText({}, "bad");
    m_unreadable->setObjectName("formWaits");
    m_unreadable->hide();
    column->addWidget(m_unreadable);
    m_columns = new QBoxLayout(QBoxLayout::LeftToRight);
    m_columns->setSpacing(size::kCardGap);
    m_form = new SpecForm(body);
    m_form->setMaximumWidth(kFormMost);
    m_columns->addWidget(m_form, 3);
    m_side = buildSide(body);
    m_columns->addWidget(m_side, 2);
    column->addLayout(m_columns, 1);
    return body;
}

QWidget* NewRunPage::buildSide(QWidget* parent) {
    auto* side = new QWidget(parent);
    side->setMaximumWidth(kSideMost);
    auto* column = new QVBoxLayout(side);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    auto* nodes = new Card;
    nodes->body()->addWidget(makeLabel(tr("Nodes and ranks"), "cardTitle"));
    nodes->body()->addSpacing(2);
    m_nodes = new PlacementList(m_context);
    nodes->body()->addWidget(m_nodes);
    column->addWidget(nodes);
    m_checks = new CheckCard;
    column->addWidget(m_checks);
    column->addStretch(1);
    return side;
}

void NewRunPage::wire() {
    m_parseTimer.setSingleShot(true);
    m_parseTimer.setInterval(kParseMs);
    m_ageTimer.setInterval(kAgeMs);
    connect(m_strip, &RecipeStrip::chosen, this, &NewRunPage::chooseRecipe);
    connect(m_form, &SpecForm::edited, this, &NewRunPage::onFormEdited);
    connect(m_form, &SpecForm::refused, this, &NewRunPage::refreshChecks);
    connect(m_asFile, &QPushButton::toggled, this, &NewRunPage::openDrawer);
    connect(m_drawer, &TomlDrawer::edited, &m_parseTimer, qOverload<>(&QTimer::start));
    connect(m_drawer, &TomlDrawer::closeRequested, m_asFile, [this] {
        m_asFile->setFocus(Qt::OtherFocusReason); // or Qt would pass it on to anything
        m_asFile->setChecked(false);
    });
    connect(&m_parseTimer, &QTimer::timeout, this, &NewRunPage::onTomlEdited);
    connect(m_nodes, &PlacementList::changed, this, [this] {
        if (m_nodes->placements() != m_refused)
            m_banner->hide(); // it was about others
        refreshChecks();
    });
    connect(m_checks, &CheckCard::againRequested, m_preflight, &LaunchPreflight::askAgain);
    connect(m_preflight, &LaunchPreflight::changed, this, &NewRunPage::refreshChecks);
    connect(&m_ageTimer, &QTimer::timeout, this, &NewRunPage::refreshChecks);
    const QScrollBar* bar = m_scroll->verticalScrollBar();
    connect(bar, &QScrollBar::valueChanged, this, &NewRunPage::followScroll);
    connect(bar, &QScrollBar::rangeChanged, this, &NewRunPage::restoreView);
}

void NewRunPage::wireLaunch() {
    const auto launchIfItFits = [this] { launch(IfTooLarge::kRefuse); };
    connect(m_bar, &LaunchBar::launchRequested, this, launchIfItFits);
    connect(m_bar, &LaunchBar::cancelRequested, this, &NewRunPage::cancel);
    connect(&m_context.runs, &RunsFeed::changed, this, [this] {
        showAgainState();
        if (sameName() != m_sameName)
            refreshChecks();
    });
    connect(m_bar, &LaunchBar::planRequested, this, &NewRunPage::showPlan);
    connect(m_bar, &LaunchBar::queueRequested, this, &NewRunPage::askQueue);
    connect(m_bar, &LaunchBar::scriptRequested, this, &NewRunPage::showScript);
    connect(&m_context.connector, &NodeConnector::checkingChanged, this, &NewRunPage::launchOnceIn);
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
        useToml(QString::fromStdString(toToml(RunSpec())), tr("default"));
    else
        prepare(m_recipes.front().name, {});
}

void NewRunPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    const bool isNarrow = width() < kTwoColumns;
    m_columns->setDirection(isNarrow ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
    // As wide as the form: a layout asks for the height of wrapped texts without minding the most.
    m_side->setMaximumWidth(isNarrow ? kFormMost : kSideMost);
    m_side->setMinimumHeight(0); // of another width, see keepView()
    placeDrawer();
}

void NewRunPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_preflight->setActive(true);
    m_ageTimer.start();
    placeDrawer();
}

void NewRunPage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    m_preflight->setActive(false);
    m_ageTimer.stop();
}

void NewRunPage::openDrawer(bool open) {
    placeDrawer();
    m_drawer->setVisible(open);
    m_drawer->raise();
}

/// Places the drawer over the right column, but at least kDrawerLeast wide; over the whole width if
/// there is no such column. As much of the recipes as is in sight stays above it.
void NewRunPage::placeDrawer() {
    layout()->activate();
    m_scroll->widget()->layout()->activate();
    const QRect room =
        m_scroll->geometry().adjusted(size::kPageX, 0, -size::kPageX, -size::kCardGap);
    const bool hasSide = width() >= kTwoColumns;
    const int side = hasSide ? room.width() * 2 / 5 : room.width();
    const int wanted = std::min(room.width(), std::max(side, kDrawerLeast));
    const int recipes = m_strip->mapTo(this, QPoint(0, m_strip->height())).y() + size::kCardGap;
    const int top = m_recipes.empty() ? room.top() : std::max(room.top(), recipes);
    m_drawer->setGeometry(room.right() + 1 - wanted, top, wanted, room.bottom() + 1 - top);
}

/// Also after restoreView(), which scrolls to where it was.
void NewRunPage::followScroll() {
    keepView();
    placeDrawer();
}

/// Before checks are shown, which come and go above and below what a person looks at. Where they
/// are the last of the page, it does not end above what is in sight, as it would scroll then.
void NewRunPage::keepView() {
    const QWidget* form = m_scroll->widget();
    QWidget* focused = QApplication::focusWidget();
    m_seen = focused && form->isAncestorOf(focused) && !focused->visibleRegion().isEmpty()
                 ? focused
                 : nullptr;
    if (m_seen)
        m_seenAt = m_seen->mapTo(m_scroll->viewport(), QPoint()).y();
    if (width() >= kTwoColumns)
        return;
    const int end = m_scroll->verticalScrollBar()->value() + m_scroll->viewport()->height();
    m_side->setMinimumHeight(std::clamp(end - size::kPageY - m_side->y(), 0, m_side->height()));
}

/// Once the form has its new height: what had the focus stays where it was on the screen.
void NewRunPage::restoreView() {
    if (m_seen && m_seen == QApplication::focusWidget()) {
        const int moved = m_seen->mapTo(m_scroll->viewport(), QPoint()).y() - m_seenAt;
        m_scroll->verticalScrollBar()->setValue(m_scroll->verticalScrollBar()->value() + moved);
    }
    placeDrawer();
}

/// With what a person changed of it before, as long as this page lives.
void NewRunPage::chooseRecipe(int recipe) {
    const auto back = wayBack();
    const RunSummary* before = m_context.runs.find(m_branch ? m_branch->from.run : m_again);
    useRecipe(recipe);
    const auto kept = m_changed.find(recipe);
    if (kept != m_changed.end()) {
        m_drawer->setText(kept->second);
        m_parseTimer.stop();
        onTomlEdited();
    }
    if (back)
        m_context.toast.offer(before
                                  ? tr("What was prepared from %1 is set aside").arg(before->name)
                                  : tr("What was prepared is set aside"),
                              tr("Bring it back"), back);
    else if (kept != m_changed.end())
        m_context.toast.offer(
            tr("%1 with your changes").arg(m_recipes[static_cast<size_t>(recipe)].name),
            tr("Discard them"), [this, recipe] {
                if (m_recipe == recipe)
                    useRecipe(recipe);
                m_changed.erase(recipe);
            });
}

/// As it is.
void NewRunPage::useRecipe(int recipe) {
    const Recipe& chosen = m_recipes[static_cast<size_t>(recipe)];
    keepChanges();
    endBranch();
    m_recipe = recipe;
    m_header->setFacts(tr("from the recipe %1").arg(chosen.name));
    useToml(chosen.toml, tr("recipe"));
}

/// To the branch or the further launch that is being prepared, with what was changed of it; null: a
/// recipe is.
std::function<void()> NewRunPage::wayBack() {
    if (!m_branch && m_again.isEmpty())
        return nullptr;
    return [this, branch = m_branch, again = m_again, first = m_firstText, text = m_drawer->text(),
            nodes = m_nodes->placements()] {
        if (branch)
            prepareBranch(branch->from, first, nodes);
        else
            prepareAgain(again, first, nodes);
        m_branch = branch; // with the name that it proposed last
        m_drawer->setText(text);
        m_parseTimer.stop();
        onTomlEdited();
    };
}

/// Keeps what was changed in the recipe that the text is from.
void NewRunPage::keepChanges() {
    if (!m_recipe)
        return;
    const QString text = m_drawer->text();
    if (text == m_recipes[static_cast<size_t>(*m_recipe)].toml)
        m_changed.erase(*m_recipe);
    else
        m_changed[*m_recipe] = text;
}

void NewRunPage::prepare(const QString& recipe, const std::vector<Placement>& nodes) {
    for (size_t at = 0; at < m_recipes.size(); ++at)
        if (m_recipes[at].name == recipe) {
            m_strip->choose(static_cast<int>(at));
            useRecipe(static_cast<int>(at));
        }
    if (!nodes.empty())
        m_nodes->choose(nodes);
}

void NewRunPage::prepareBranch(const BranchPoint& from, const QString& toml,
                               const std::vector<Placement>& nodes) {
    keepChanges();
    endBranch();
    const RunSpec spec = parseRunSpec(toml.toStdString(), "spec").value_or(RunSpec());
    m_branch = Branch{from, spec, spec.name};
    const RunSummary* parent = m_context.runs.find(from.run);
    m_header->setTitle(tr("Branch of %1").arg(parent ? parent->name : from.run));
    m_header->setFacts(tr("starts from step %1").arg(formatCount(from.step)));
    m_nodes->choose(nodes);
    m_strip->choose(-1);
    useToml(toml, tr("parent"));
}

void NewRunPage::prepareAgain(const QString& run, const QString& toml,
                              const std::vector<Placement>& nodes) {
    keepChanges();
    endBranch();
    m_again = run;
    showAgainState();
    m_nodes->choose(nodes);
    m_strip->choose(-1);
    useToml(toml, tr("then"));
}

/// Tells the state of the run with these settings, also when the list of runs learns it later.
void NewRunPage::showAgainState() {
    const RunSummary* before = m_again.isEmpty() ? nullptr : m_context.runs.find(m_again);
    if (!before)
        return;
    const bool isByItself =
        before->state == RunStateKind::kFailed || before->state == RunStateKind::kFinished;
    const QString state = QString::fromLatin1(runStateName(*before));
    m_header->setFacts(isByItself ? tr("as %1, which %2").arg(before->name, state)
                                  : tr("as %1, which was %2").arg(before->name, state));
}

void NewRunPage::endBranch() {
    m_recipe.reset();
    m_branch.reset();
    m_again.clear();
    m_banner->hide();
    m_header->setTitle(tr("New run"));
    m_header->setFacts({});
}

/// Updates the name of a branch unless a person has changed it.
void NewRunPage::proposeName() {
    RunSpec spec = m_form->spec();
    if (!m_branch || m_parseError || spec.name != m_branch->proposed)
        return;
    m_branch->proposed = branchName(m_branch->parent, spec, m_branch->from.step);
    if (spec.name == m_branch->proposed)
        return;
    const auto toml =
        setTomlField(m_drawer->text().toStdString(), "spec", {"name", &m_branch->proposed});
    if (!toml)
        return;
    m_drawer->amend(QString::fromStdString(*toml));
    onTomlEdited();
}

void NewRunPage::useToml(const QString& toml, const QString& baseName) {
    if (const auto base = parseRunSpec(toml.toStdString(), "spec"))
        m_form->setBase(*base, baseName);
    m_firstText = toml;
    m_drawer->setText(toml);
    m_parseTimer.stop();
    onTomlEdited();
}

// Changes only the value in the text; comments, order and layout stay.
void NewRunPage::onFormEdited(const SpecField& field) {
    RunSpec spec = m_form->spec();
    const auto toml =
        setTomlField(m_drawer->text().toStdString(), "spec", {field.key, field.ref(spec)});
    if (!toml) {
        onTomlEdited();
        return;
    }
    m_drawer->amend(QString::fromStdString(*toml));
    m_parseTimer.stop();
    proposeName();
    refreshChecks();
}

void NewRunPage::onTomlEdited() {
    const auto spec = parseRunSpec(m_drawer->text().toStdString(), "spec");
    m_parseError.reset();
    if (spec)
        m_form->setSpec(*spec);
    else
        m_parseError = spec.error();
    enableForm();
    proposeName();
    refreshChecks();
}

/// Disables the form while the text does not parse, as the two would not agree.
void NewRunPage::enableForm() {
    m_form->setEnabled(!m_parseError && m_launching.isEmpty());
    m_unreadable->setVisible(m_parseError.has_value());
    if (m_parseError)
        m_unreadable->setText(
            tr("The form waits until its text can be read; As a file, above, shows it. %1")
                .arg(QString::fromStdString(m_parseError->message)));
}

std::vector<CheckLine> NewRunPage::specLines() const {
    QStringList problems = m_form->problems();
    const auto checked = check(m_form->spec());
    if (m_parseError)
        problems = QString::fromStdString(m_parseError->message).split('\n');
    else if (problems.isEmpty() && !checked)
        problems = QString::fromStdString(checked.error().message).split('\n');
    else if (problems.isEmpty() && m_branch)
        if (const auto left = stepsLeft(**checked, m_branch->from.step); !left)
            problems << QString::fromStdString(left.error().message);
    std::vector<CheckLine> lines;
    for (const QString& problem : problems)
        lines.push_back({Tone::kBad, problem});
    if (lines.empty())
        lines.push_back({Tone::kGood, tr("The spec is complete and within bounds")});
    if (!m_sameName.isEmpty())
        lines.push_back({Tone::kWarn, m_sameName});
    return lines;
}

/// But for the one that is being launched. A launch that resumes goes on as that run.
QString NewRunPage::sameName() const {
    const RunSpec& spec = m_form->spec();
    if (!m_branch && spec.checkpoint.onExisting == "resume")
        return {};
    std::vector<RunSummary> runs = m_context.runs.runs();
    std::erase_if(runs, [this](const RunSummary& run) { return run.id == m_launching; });
    const std::string words = sameNameWords(std::move(runs), spec.name);
    return words.empty() ? QString() : capitalized(words);
}

std::vector<CheckLine> NewRunPage::nodeLines() const {
    std::vector<CheckLine> lines;
    const std::vector<Placement> placements = m_nodes->placements();
    if (placements.empty())
        lines.push_back({Tone::kBad, tr("Choose at least one node")});
    bool haveAnswered = !placements.empty();
    for (const Placement& placement : placements) {
        const QString title = nodeTitle(placement.node.toStdString());
        const auto answer = m_preflight->of(placement.node);
        haveAnswered = haveAnswered && answer && *answer;
        if (!answer)
            lines.push_back({Tone::kNeutral, tr("Asking %1 about its data").arg(title)});
        else if (!*answer)
            lines.push_back(
                {Tone::kWarn, tr("%1 did not answer: %2")
                                  .arg(title, QString::fromStdString(answer->error().message))});
        else if ((*answer)->problems.empty())
            lines.push_back({Tone::kGood, tr("%1: the data is there").arg(title)});
        else
            for (const LaunchProblem& problem : (*answer)->problems)
                lines.push_back(
                    {Tone::kBad, title + ": " + QString::fromStdString(problemWords(problem))});
    }
    const auto ranks = m_preflight->ranks();
    const bool isSaid =
        ranks || ranks.error().code == ErrorCode::kNotFound || !check(m_form->spec());
    if (haveAnswered && !isSaid)
        lines.push_back({Tone::kBad, QString::fromStdString(ranks.error().message)});
    for (CheckLine& line : togetherLines(ranks.has_value()))
        lines.push_back(std::move(line));
    return lines;
}

/// At the fields that name it, and at the nodes that answered.
void NewRunPage::showWhatNodesFound() {
    SpecForm::Found found;
    for (const Placement& placement : m_nodes->placements()) {
        const auto answer = m_preflight->of(placement.node);
        const bool hasAnswered = answer && *answer;
        m_nodes->showReport(placement.node, hasAnswered ? &(*answer)->report : nullptr);
        if (!hasAnswered)
            continue;
        for (const LaunchProblem& problem : (*answer)->problems)
            if (!problem.key.empty())
                found[problem.key][QString::fromStdString(problem.path)] =
                    nodeTitle(placement.node.toStdString()) + ": " +
                    QString::fromStdString(problemWords(problem));
    }
    m_form->setFound(found);
}

/// What the nodes say together: device, disks, checkpoints, data, address. `hasRanks`: that no rank
/// finds its place was not said before.
std::vector<CheckLine> NewRunPage::togetherLines(bool hasRanks) const {
    const auto answer = m_preflight->together();
    if (!answer)
        return {};
    if (!*answer)
        return {{Tone::kWarn, QString::fromStdString(answer->error().message)}};
    std::vector<CheckLine> lines;
    for (const CheckRow& row : **answer)
        if (hasRanks || row.id != kLaunchRuntimeRow)
            lines.push_back({rowTone(row), rowWords(row)});
    return lines;
}

void NewRunPage::refreshChecks() {
    keepView();
    m_drawer->setProblem(m_parseError ? QString::fromStdString(m_parseError->message) : QString());
    RunSpec spec = m_form->spec();
    if (m_branch) { // it goes on, and may begin where its parent saved
        spec.checkpoint.onExisting = "resume";
        spec.checkpoint.directory.clear();
    }
    m_preflight->set(spec, m_nodes->placements());
    m_sameName = sameName();
    showWhatNodesFound();
    std::vector<CheckLine> lines = specLines();
    for (CheckLine& line : nodeLines())
        lines.push_back(std::move(line));
    m_checks->show(lines, m_preflight->isAsking() ? tr("asking") : m_preflight->age());
    const auto bad = std::ranges::find(lines, Tone::kBad, &CheckLine::tone);
    const bool good = bad == lines.end();
    m_bar->setReady(good && m_launching.isEmpty());
    m_bar->setMayQueue(!m_branch);
    m_bar->setHasJob(std::ranges::any_of(m_nodes->placements(), [this](const Placement& each) {
        const auto node = m_context.fleet.find(each.node);
        return node && node->isSlurm;
    }));
    const auto warnings = std::ranges::count(lines, Tone::kWarn, &CheckLine::tone);
    const QString warned = warnings > 0
                               ? counted(warnings, tr("1 warning"), tr("%1 warnings")) + kSeparator
                               : QString();
    m_bar->setForecast(good ? warned + forecast() : bad->text);
}

/// "4 ranks on node-a, node-b · sends 3 MB · about 9 min"
QString NewRunPage::forecast() const {
    QStringList names, parts;
    int64_t bytes = 0;
    bool haveAnswered = true;
    for (const Placement& placement : m_nodes->placements()) {
        names << nodeTitle(placement.node.toStdString());
        const auto answer = m_preflight->of(placement.node);
        haveAnswered = haveAnswered && answer && *answer && (*answer)->bytesToSend;
        bytes += haveAnswered ? (*answer)->bytesToSend.value_or(0) : 0;
    }
    int count = 0;
    if (const auto ranks = m_preflight->ranks())
        for (const int each : ranks->byNode)
            count += each;
    const QString where = names.join(", ");
    parts << (count > 0 ? tr("%1 on %2").arg(counted(count, tr("1 rank"), tr("%1 ranks")), where)
                        : tr("On %1").arg(where));
    if (haveAnswered)
        parts << (bytes > 0 ? tr("sends up to %1").arg(formatBytes(static_cast<double>(bytes)))
                            : tr("nothing to send"));
    const auto all = knownSteps(m_form->spec());
    const int64_t steps = all.value_or(0) - (m_branch ? m_branch->from.step : 0);
    const double share = all ? static_cast<double>(steps) / static_cast<double>(*all) : 1;
    const auto seconds = m_preflight->seconds();
    if (seconds && (all || !m_branch))
        parts << tr("about %1, as the last one like it").arg(formatDuration(*seconds * share));
    else if (all)
        parts
            << tr("%1 steps; how long they take is known after the first").arg(formatCount(steps));
    else
        parts << tr("%1; how long is known after the first step")
                     .arg(counted(m_form->spec().train.epochs, tr("1 epoch"), tr("%1 epochs")));
    return parts.join(kSeparator);
}

/// " --node node-a:2 --node node-b:1"
QString NewRunPage::nodesOption() const {
    const auto ranks = m_preflight->ranks();
    const std::vector<Placement> placements = m_nodes->placements();
    QString option;
    for (size_t at = 0; at < placements.size(); ++at) {
        const int count = ranks ? ranks->byNode[at] : placements[at].ranks;
        option +=
            " --node " + placements[at].node + (count > 0 ? ':' + QString::number(count) : "");
    }
    return option;
}

/// The terminal command for the same launch.
QString NewRunPage::branchCommand() const {
    QString command = QString("ringmaster restore %1 %2 --as-new")
                          .arg(m_branch->from.run, m_branch->from.checkpoint) +
                      nodesOption();
    RunSpec spec = m_form->spec();
    for (const SchemaRow* row : changedFields(spec, m_branch->parent)) {
        const auto line = setTomlField({}, "spec", {row->key, row->ref(spec)});
        if (!line)
            continue;
        QString value = QString::fromStdString(*line).section(" = ", 1).trimmed();
        command += " --set '" + QString::fromStdString(std::string(row->key)) + '=' +
                   value.replace('\'', "'\\''") + '\'';
    }
    return command;
}

/// Reads the text that was typed last, without waiting for more.
void NewRunPage::readText() {
    if (m_parseTimer.isActive()) {
        m_parseTimer.stop();
        onTomlEdited();
    }
}

void NewRunPage::showPlan() {
    readText();
    QStringList lines;
    const QString command = QStringLiteral("ringmaster run SPEC.toml") + nodesOption();
    lines << forecast();
    if (m_branch)
        lines << tr("It goes on from step %1 of %2.")
                     .arg(formatCount(m_branch->from.step), m_branch->from.run)
              << tr("In a terminal: %1").arg(branchCommand());
    else
        lines << tr("In a terminal, with the text below in SPEC.toml: %1").arg(command);
    const RunSpec spec = m_form->spec();
    std::vector<Placement> nodes = m_nodes->placements();
    if (const auto ranks = m_preflight->ranks()) // as many as a launch would start
        for (size_t at = 0; at < nodes.size(); ++at)
            nodes[at].ranks = ranks->byNode[at];
    auto* plan = new PlanDialog(lines.join('\n'), QString::fromStdString(toToml(spec)),
                                nodes.size() > 1, window());
    connect(plan, &PlanDialog::forecastRequested, this, [this, spec, nodes, plan] {
        plan->accept();
        (new ForecastDialog(m_context, spec, nodes, window()))->open();
    });
    plan->open();
}

void NewRunPage::askQueue() {
    readText();
    if (m_parseError || !m_bar->isReady())
        return;
    auto* dialog = new EnqueueDialog(m_context, m_form->spec(), m_nodes->placements(), window());
    connect(dialog, &EnqueueDialog::enqueued, this, &NewRunPage::enqueued);
    dialog->open();
}

void NewRunPage::showScript() {
    readText();
    auto* dialog = new JobScriptDialog(
        m_context.engine, m_form->spec(), m_nodes->placements(),
        QStringLiteral("ringmaster run SPEC.toml --print-sbatch") + nodesOption(), window());
    connect(dialog, &JobScriptDialog::linesChosen, this, &NewRunPage::useJobLines);
    dialog->open();
}

void NewRunPage::useJobLines(const RunSpec::Launch& launch) {
    const RunSpec::Launch before = m_form->spec().launch;
    RunSpec::Launch used = launch;
    Result<std::string> toml = m_drawer->text().toStdString();
    if (used.sbatch != before.sbatch)
        toml = setTomlField(*toml, "spec", {"launch.sbatch", &used.sbatch});
    if (toml && used.jobSetup != before.jobSetup)
        toml = setTomlField(*toml, "spec", {"launch.job_setup", &used.jobSetup});
    if (toml && used.srun != before.srun)
        toml = setTomlField(*toml, "spec", {"launch.srun", &used.srun});
    if (!toml)
        return;
    m_drawer->amend(QString::fromStdString(*toml));
    onTomlEdited();
}

QString NewRunPage::launchNow() {
    launch(IfTooLarge::kRefuse);
    return m_launching;
}

/// Whether a chosen node waits for a password, a passphrase or trust in its key, which a person is
/// asked for then.
bool NewRunPage::askToBeLetIn() {
    QStringList closed;
    for (const Placement& placement : m_nodes->placements()) {
        const auto answer = m_preflight->of(placement.node);
        if (!answer || *answer || answer->error().code != ErrorCode::kDenied)
            continue;
        closed << nodeTitle(placement.node.toStdString());
        m_context.connector.check(placement.node);
    }
    if (!closed.isEmpty())
        m_context.toast.say(tr("%1 has to let you in first: answer what is asked, and launch again")
                                .arg(closed.join(", ")));
    return !closed.isEmpty();
}

/// The chosen nodes that are being tried with what a person has just entered.
QStringList NewRunPage::nodesLettingIn() const {
    QStringList nodes;
    for (const Placement& placement : m_nodes->placements())
        if (m_context.connector.isLettingIn(placement.node))
            nodes << nodeTitle(placement.node.toStdString());
    return nodes;
}

/// Not if one of them refused: what it waits for is asked.
void NewRunPage::launchOnceIn() {
    if (!m_launchOnceIn || !nodesLettingIn().isEmpty())
        return;
    const IfTooLarge ifTooLarge = *m_launchOnceIn;
    m_launchOnceIn.reset();
    const bool areOpen = std::ranges::none_of(m_nodes->placements(), [this](const auto& placement) {
        const auto check = m_context.fleet.lastCheck(placement.node);
        return check && check->failure;
    });
    if (areOpen && isVisible())
        launch(ifTooLarge);
}

void NewRunPage::launch(IfTooLarge ifTooLarge) {
    if (!m_bar->isReady())
        return;
    if (const QStringList nodes = nodesLettingIn(); !nodes.isEmpty()) {
        m_launchOnceIn = ifTooLarge;
        m_context.toast.say(tr("It is launched once %1 has let you in").arg(nodes.join(", ")));
        return;
    }
    if (askToBeLetIn())
        return;
    readText();
    const auto checked = check(m_form->spec());
    if (m_parseError || !checked)
        return;
    const QString run = QString::fromStdString(newRunId((*checked)->name));
    setLaunching(run);
    m_cancelled = false;
    m_tooLarge.clear();
    Engine& engine = m_context.engine;
    const auto answer =
        m_branch ? engine.ask(BranchRequest{m_branch->from.run, m_branch->from.checkpoint,
                                            **checked, run, ifTooLarge, m_nodes->placements()})
                 : engine.ask(LaunchRequest{**checked, m_nodes->placements(), run, ifTooLarge});
    whenAnswered(answer, this,
                 [this, run](const Result<QString>& started) { onLaunched(run, started); });
}

// Nothing was trained yet, so nothing is lost by ending it at once.
void NewRunPage::cancel() {
    m_context.engine.ask(CommandRequest{m_launching, CommandKind::kKill});
}

void NewRunPage::showLaunch(const QString& run) {
    const LiveState live = m_context.engine.live(run);
    if (run != m_launching || !live.launching)
        return;
    m_cancelled = live.pending.has_value();
    m_bar->setLaunching(true, m_cancelled);
    m_header->setChip(m_cancelled ? tr("Cancelling launch") : tr("Preparing"),
                      m_cancelled ? Tone::kWarn : Tone::kAccent);
    m_progress->show(live);
}

void NewRunPage::onLaunched(const QString& run, const Result<QString>& answer) {
    setLaunching({});
    m_context.runs.refresh();
    if (answer) {
        if (m_branch)
            restore(); // the next one starts from nothing, so it is not called as the branch
        Q_EMIT launched(*answer);
        return;
    }
    if (m_cancelled) {
        m_context.toast.say(tr("Launch cancelled; nothing of it runs any more"));
    } else if (!m_tooLarge.isEmpty()) {
        askAboutTooLarge();
    } else {
        m_banner->show(Tone::kBad,
                       tr("The run did not start; change what is wrong and launch again"),
                       QString::fromStdString(answer.error().message));
        m_refused = m_nodes->placements();
        m_preflight->askAgain();
    }
    Q_EMIT notLaunched(run);
}

void NewRunPage::askAboutTooLarge() {
    auto* dialog = new TooLargeDialog(m_tooLarge, window());
    connect(dialog, &QDialog::accepted, this, [this] { launch(IfTooLarge::kLaunch); });
    dialog->open();
}

void NewRunPage::setLaunching(const QString& run) {
    m_launching = run;
    const bool busy = !run.isEmpty();
    m_bar->setLaunching(busy);
    if (busy) {
        m_banner->hide();
    } else {
        m_progress->hide();
        m_header->setChip({}, Tone::kNeutral);
    }
    enableForm();
    m_drawer->setReadOnly(busy);
    refreshChecks();
}

} // namespace rm
