// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run/recipe_strip.h"

#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QButtonGroup>
#include <QGridLayout>
#include <QPushButton>
#include <QResizeEvent>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {
constexpr int kCardMin = 138;
constexpr int kMoreWidth = 68;
} // namespace

RecipeStrip::RecipeStrip(const std::vector<Recipe>& recipes, QWidget* parent)
    : QWidget(parent)
    , m_group(new QButtonGroup(this))
    , m_more(makeButton({}, "link", "moreRecipes"))
    , m_grid(new QGridLayout(this)) {
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(2 * size::kGrid);
    for (const Recipe& recipe : recipes) {
        m_cards.push_back(makeCard(recipe));
        m_group->addButton(m_cards.back(), static_cast<int>(m_cards.size()) - 1);
    }
    m_more->setParent(this);
    connect(m_group, &QButtonGroup::idClicked, this, &RecipeStrip::chosen);
    connect(m_more, &QPushButton::clicked, this, [this] {
        m_isOpen = !m_isOpen;
        arrange();
    });
}

QPushButton* RecipeStrip::makeCard(const Recipe& recipe) {
    auto* card = makeButton({}, "choice", "recipe", this);
    card->setObjectName("recipe." + recipe.name);
    card->setAccessibleName(recipe.name);
    card->setAccessibleDescription(recipe.description);
    card->setToolTip(asPlain(recipe.description));
    card->setCheckable(true);
    card->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    auto* texts = new QVBoxLayout(card);
    texts->setContentsMargins(size::kCardGap, 6, size::kCardGap, 6);
    texts->setSpacing(0);
    texts->addWidget(new ElidedLabel(recipe.name, "strong"));
    texts->addWidget(new ElidedLabel(recipe.brief, "caption"));
    for (QWidget* child : card->findChildren<QWidget*>())
        child->setAttribute(Qt::WA_TransparentForMouseEvents);
    return card;
}

void RecipeStrip::choose(int recipe) {
    m_group->setExclusive(false); // an exclusive group keeps one checked
    for (size_t at = 0; at < m_cards.size(); ++at)
        m_cards[at]->setChecked(static_cast<int>(at) == recipe);
    m_group->setExclusive(true);
    arrange();
}

QSize RecipeStrip::minimumSizeHint() const {
    return {2 * kCardMin, QWidget::minimumSizeHint().height()};
}

void RecipeStrip::arrange() {
    const int gap = m_grid->spacing(), count = static_cast<int>(m_cards.size());
    const auto fitting = [&](int room) { return std::max(1, (room + gap) / (kCardMin + gap)); };
    const bool allFit = fitting(width()) >= count;
    const int columns = allFit ? count : fitting(width() - kMoreWidth - gap);
    const int chosen = m_group->checkedId();
    const bool isOpen = m_isOpen || chosen >= columns;
    for (int column = 0; column <= std::max(columns, m_columns); ++column)
        m_grid->setColumnStretch(column, column < columns ? 1 : 0);
    for (int at = 0; at < count; ++at) {
        m_cards[static_cast<size_t>(at)]->setVisible(isOpen || at < columns);
        m_grid->addWidget(m_cards[static_cast<size_t>(at)], at / columns, at % columns);
    }
    m_more->setVisible(!allFit && chosen < columns);
    m_more->setText(isOpen ? tr("Fewer") : tr("%1 more").arg(count - columns));
    m_more->setAccessibleName(isOpen ? tr("Fewer recipes") : tr("More recipes"));
    m_grid->addWidget(m_more, 0, columns, Qt::AlignVCenter);
    m_columns = columns;
}

void RecipeStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    if (event->size().width() != event->oldSize().width())
        arrange();
}

} // namespace rm
