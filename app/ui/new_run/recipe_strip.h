// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/launch/recipes.h"

#include <QWidget>

#include <vector>

class QButtonGroup;
class QGridLayout;
class QPushButton;

namespace rm {

/// The recipes side by side: as many as fit, and a button for the others.
class RecipeStrip : public QWidget {
    Q_OBJECT
public:
    explicit RecipeStrip(const std::vector<Recipe>& recipes, QWidget* parent = nullptr);

    void choose(int recipe); ///< -1: none; does not emit chosen()

    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void chosen(int recipe);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QPushButton* makeCard(const Recipe& recipe);
    void arrange();

    std::vector<QPushButton*> m_cards;
    QButtonGroup* m_group;
    QPushButton* m_more;
    QGridLayout* m_grid;
    bool m_isOpen = false; ///< all are shown, in rows
    int m_columns = 0;
};

} // namespace rm
