// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/welcome_page.h"

#include "app/core/runs/run_filter.h"
#include "app/core/store/run_summary.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/look/format.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/label.h"
#include "shared/io/clock.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr int kColumn = 760;
constexpr size_t kMostRecent = 5;

void addStep(QHBoxLayout* row, int number, const QString& title, const QString& text) {
    auto* column = new QVBoxLayout;
    column->setSpacing(2);
    column->addWidget(makeLabel(QString("%1  %2").arg(number).arg(title), "strong"));
    column->addWidget(makeText(text, "secondary"));
    row->addLayout(column, 1);
}

} // namespace

WelcomePage::WelcomePage(const AppContext& context, QWidget* parent)
    : QWidget(parent)
    , m_context(context) {
    buildUi();
    wire();
    showRecent();
}

void WelcomePage::buildUi() {
    auto* outer = new QHBoxLayout(this);
    outer->setContentsMargins(size::kPageX, size::kPageY, size::kPageX, size::kPageY);
    auto* middle = new QWidget;
    middle->setMaximumWidth(kColumn);
    auto* column = new QVBoxLayout(middle);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    outer->addStretch(1);
    outer->addWidget(middle, 20);
    outer->addStretch(1);

    column->addStretch(2);
    column->addWidget(makeLabel(tr("Train on the machines you have"), "title"));
    column->addWidget(makeText(tr("Any machine that SSH reaches becomes part of one training run: "
                                  "no account, no server, no container, no Python on it."),
                               "bodySecondary"));
    column->addSpacing(size::kGrid);
    auto* ways = new QHBoxLayout;
    ways->setSpacing(size::kCardGap);
    QHBoxLayout* here = addWay(ways, tr("Train on this computer"),
                               tr("A small GPT learns to write from the texts that every Linux "
                                  "has. Two ranks, under three minutes."));
    addAction(here, tr("Start with gpt-tiny"), "primary", "welcomeTrain",
              &WelcomePage::trainHereRequested);
    addAction(here, tr("Change it first"), "", "welcomeForm", &WelcomePage::formRequested);
    QHBoxLayout* there =
        addWay(ways, tr("Add a node"),
               tr("By its name in your ssh config, or by address. Ringmaster looks at it and says "
                  "whether it is ready to train."));
    addAction(there, tr("Add a node"), "", "welcomeAddNode", &WelcomePage::addNodeRequested);
    column->addLayout(ways);

    auto* steps = new QHBoxLayout;
    steps->setSpacing(size::kPageX);
    addStep(steps, 1, tr("Choose"), tr("a recipe and the nodes that take part"));
    addStep(steps, 2, tr("Launch"), tr("the trainer is sent and every rank starts"));
    addStep(steps, 3, tr("Watch"), tr("every rank live; pause, resume, branch"));
    column->addSpacing(size::kCardGap);
    column->addLayout(steps);

    auto* card = new Card;
    m_recentCard = card;
    card->body()->addWidget(makeLabel(tr("Recent runs"), "cardTitle"));
    m_recent = new QVBoxLayout;
    m_recent->setSpacing(0);
    card->body()->addLayout(m_recent);
    column->addSpacing(size::kCardGap);
    column->addWidget(card);
    column->addStretch(3);
}

/// The row for its actions.
QHBoxLayout* WelcomePage::addWay(QHBoxLayout* ways, const QString& title, const QString& text) {
    auto* card = new Card;
    card->body()->setSpacing(2 * size::kGrid);
    card->body()->addWidget(makeLabel(title, "cardTitle"));
    card->body()->addWidget(makeText(text, "bodySecondary"));
    card->body()->addStretch(1);
    auto* actions = new QHBoxLayout;
    actions->setSpacing(2 * size::kGrid);
    actions->addStretch(1);
    card->body()->addLayout(actions);
    ways->addWidget(card);
    return actions;
}

void WelcomePage::addAction(QHBoxLayout* row, const QString& text, const char* role,
                            const char* objectName, void (WelcomePage::*signal)()) {
    QPushButton* button = makeButton(text, role, objectName);
    row->insertWidget(row->count() - 1, button); // before the stretch
    connect(button, &QPushButton::clicked, this, signal);
    if (!focusProxy())
        setFocusProxy(button);
}

void WelcomePage::wire() {
    connect(&m_context.runs, &RunsFeed::changed, this, &WelcomePage::showRecent);
}

void WelcomePage::showRecent() {
    while (QLayoutItem* item = m_recent->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    std::vector<RunSummary> runs = m_context.runs.runs();
    std::erase_if(runs, &isPutAway);
    m_recentCard->setVisible(!runs.empty());
    for (size_t at = 0; at < std::min(runs.size(), kMostRecent); ++at) {
        const RunSummary& run = runs[at];
        QPushButton* button = makeButton({}, "nav", "welcomeRun");
        button->setAccessibleName(run.name + ", " + stateWords(run).text);
        auto* row = new QHBoxLayout(button);
        row->setContentsMargins(2 * size::kGrid, 0, 2 * size::kGrid, 0);
        row->setSpacing(size::kCardGap);
        auto* dot = new Dot;
        dot->setTone(stateWords(run).tone, stateWords(run).text);
        row->addWidget(dot);
        row->addWidget(new ElidedLabel(run.name, "body"), 3);
        row->addWidget(new ElidedLabel(stateWords(run).text, "bodySecondary"), 2);
        row->addWidget(new ElidedLabel(formatRelative(run.createdNs, wallNowNs()), "bodySecondary"),
                       1);
        for (QWidget* child : button->findChildren<QWidget*>())
            child->setAttribute(Qt::WA_TransparentForMouseEvents);
        connect(button, &QPushButton::clicked, this, [this, id = run.id] { Q_EMIT runChosen(id); });
        m_recent->addWidget(button);
    }
}

} // namespace rm
