// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/rail.h"

#include "app/core/store/run_summary.h"
#include "app/ui/data/run_words.h"
#include "app/ui/data/runs_feed.h"
#include "app/ui/look/format.h"
#include "app/ui/look/icons.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/chip.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {
constexpr size_t kMostLive = 8;

QString wordsOf(Theme::Mode mode) {
    switch (mode) {
    case Theme::Mode::kLight:
        return Rail::tr("Light");
    case Theme::Mode::kDark:
        return Rail::tr("Dark");
    case Theme::Mode::kSystem:
        return Rail::tr("As the desktop");
    }
    Q_UNREACHABLE();
}

/// "railNewRun" has "newrun".
QString iconNameOf(const QPushButton& button) {
    const QString name = button.objectName();
    return name.startsWith("rail") ? name.mid(4).toLower() : QString();
}
} // namespace

Rail::Rail(const RunsFeed& runs, QWidget* parent)
    : QWidget(parent)
    , m_runs(runs) {
    buildUi();
    wire();
    restore();
}

void Rail::buildUi() {
    setProperty("role", "rail");
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Navigation"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kCardGap, size::kPageY, size::kCardGap, size::kCardGap);
    column->setSpacing(2);
    column->addWidget(makeLabel(tr("Ringmaster"), "brand"));
    column->addSpacing(size::kCardGap);
    addPlace(tr("Runs"), "railRuns", Place::kRuns, column);
    addPlace(tr("New run"), "railNewRun", Place::kNewRun, column);
    addPlace(tr("Nodes"), "railNodes", Place::kNodes, column);
    addPlace(tr("Compare"), "railCompare", Place::kCompare, column);
    addPlace(tr("Machines"), "railMachines", Place::kMachines, column);
    column->addSpacing(size::kPageY);
    m_liveTitle = makeLabel(tr("LIVE"), "section");
    m_liveTitle->setObjectName("railLiveTitle");
    column->addWidget(m_liveTitle);
    m_live = new QVBoxLayout;
    m_live->setSpacing(0);
    column->addLayout(m_live);
    m_moreLive = makeButton({}, "live", "railMoreLive");
    m_moreLive->hide();
    column->addWidget(m_moreLive);
    column->addStretch(1);
    buildFoot(column);
    setFixedWidth(std::max(size::kRailWidth, sizeHint().width())); // some languages need more
}

void Rail::addPlace(const QString& text, const char* objectName, Place place, QVBoxLayout* column) {
    QPushButton* button = makeButton(text, "nav", objectName);
    button->setCheckable(true);
    // No QButtonGroup: Tab would reach only one button of it.
    m_places.emplace_back(place, button);
    connect(button, &QPushButton::clicked, this, [this, place] { Q_EMIT placeChosen(place); });
    column->addWidget(button);
}

void Rail::buildFoot(QVBoxLayout* column) {
    m_theme = makeButton({}, "foot", "railTheme");
    m_theme->setToolTip(tr("Light or dark colours, or as the desktop has them"));
    m_palette = makeButton(tr("Ctrl+K  go to anything"), "foot", "railPalette");
    m_manual = makeButton(tr("F1  manual"), "foot", "railManual");
    column->addWidget(m_palette);
    column->addWidget(m_manual);
    column->addWidget(m_theme);
}

void Rail::wire() {
    connect(m_palette, &QPushButton::clicked, this, &Rail::paletteRequested);
    connect(m_manual, &QPushButton::clicked, this, &Rail::manualRequested);
    connect(m_theme, &QPushButton::clicked, this, &Rail::openThemes);
    connect(m_moreLive, &QPushButton::clicked, this, [this] { Q_EMIT placeChosen(Place::kRuns); });
    connect(&Theme::instance(), &Theme::changed, this, &Rail::applyTheme);
    connect(&m_runs, &RunsFeed::changed, this, &Rail::showLive);
}

void Rail::restore() {
    applyTheme();
    showLive();
}

/// A choice by hand stays, whatever the desktop does later.
void Rail::openThemes() {
    auto* menu = new QMenu(m_theme);
    menu->setObjectName("themes");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (const Theme::Mode mode : {Theme::Mode::kLight, Theme::Mode::kDark, Theme::Mode::kSystem}) {
        QAction* action =
            menu->addAction(wordsOf(mode), this, [mode] { Theme::instance().setMode(mode); });
        action->setObjectName("theme." + modeName(mode));
        action->setCheckable(true);
        action->setChecked(Theme::instance().mode() == mode);
    }
    menu->popup(m_theme->mapToGlobal(QPoint(0, -menu->sizeHint().height())));
}

void Rail::applyTheme() {
    m_theme->setText(tr("Colours: %1").arg(wordsOf(Theme::instance().mode()).toLower()));
    m_theme->setAccessibleName(m_theme->text());
    for (auto* button : findChildren<QPushButton*>())
        if (const QIcon icon = themedIcon(iconNameOf(*button)); !icon.isNull())
            button->setIcon(icon);
}

void Rail::setPlace(Place place) {
    for (const auto& [each, button] : m_places)
        button->setChecked(each == place);
}

QPushButton* Rail::makeLiveButton(const RunSummary& run) {
    QPushButton* button = makeButton({}, "live", "railLiveRun");
    const StateWords words = stateWords(run);
    auto* row = new QHBoxLayout(button);
    row->setContentsMargins(6, 0, 6, 0);
    row->setSpacing(2 * size::kGrid);
    auto* dot = new Dot;
    dot->setTone(words.tone, words.text);
    row->addWidget(dot);
    row->addWidget(new ElidedLabel(run.name, "secondary"), 1);
    for (QWidget* child : button->findChildren<QWidget*>())
        child->setAttribute(Qt::WA_TransparentForMouseEvents);
    button->setAccessibleName(run.name + ", " + words.text);
    button->setToolTip(asPlain(words.text));
    connect(button, &QPushButton::clicked, this, [this, id = run.id] { Q_EMIT runChosen(id); });
    return button;
}

void Rail::showLive() {
    std::vector<RunSummary> live;
    for (const RunSummary& run : m_runs.runs())
        if (isLive(run.state))
            live.push_back(run);
    const auto count = static_cast<int64_t>(live.size());
    m_liveTitle->setText(tr("LIVE · %1").arg(count));
    m_liveTitle->setAccessibleName(counted(count, tr("1 live run"), tr("%1 live runs")));
    const auto rest = count - static_cast<int64_t>(std::min(live.size(), kMostLive));
    m_moreLive->setText(tr("%1 more").arg(rest));
    m_moreLive->setAccessibleName(tr("%1 more live runs").arg(rest));
    m_moreLive->setVisible(rest > 0);
    live.resize(std::min(live.size(), kMostLive));
    const auto same = [](const RunSummary& a, const RunSummary& b) {
        return a.id == b.id && a.name == b.name && a.state == b.state && a.held == b.held &&
               a.lostNodes == b.lostNodes;
    };
    m_liveTitle->setVisible(!live.empty());
    if (std::ranges::equal(live, m_shown, same))
        return;
    m_shown = live;
    while (QLayoutItem* item = m_live->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (const RunSummary& run : live)
        m_live->addWidget(makeLiveButton(run));
}

} // namespace rm
