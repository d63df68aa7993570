// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/ui/data/app_context.h"

#include <QPushButton>

#include <utility>
#include <vector>

class QMenu;

namespace rm {

class LayoutKeeper;

/// What a person does with the charts as a whole: adds one, brings back what is hidden, keeps the
/// layout under a name, chooses a kept one, undoes, and has all as it comes.
class LayoutButton : public QPushButton {
    Q_OBJECT
public:
    LayoutButton(const AppContext& context, LayoutKeeper& keeper, QWidget* parent = nullptr);

    /// Keys and titles of the charts that are hidden.
    void setHidden(std::vector<std::pair<std::string, QString>> hidden);
    void setCompact(bool compact); ///< little room
    /// The part of the menu that charts have, too.
    void fill(QMenu& menu);

Q_SIGNALS:
    void addRequested();

private:
    void showMenu();
    void fillHidden(QMenu& menu);
    void fillNames(QMenu& menu);
    void askName();
    void forget(const QString& name);

    AppContext m_context;
    LayoutKeeper& m_keeper;
    std::vector<std::pair<std::string, QString>> m_hidden;
};

} // namespace rm
