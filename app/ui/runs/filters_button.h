// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/settings/saved_filters.h"
#include "app/ui/data/app_context.h"

#include <QPushButton>

class QMenu;

namespace rm {

/// The filters that a person keeps, in a menu: chosen, saved, renamed, deleted with one Undo.
class FiltersButton : public QPushButton {
    Q_OBJECT
public:
    explicit FiltersButton(const AppContext& context, QWidget* parent = nullptr);
    /// What is filtered by now; `isGood`: it can be saved.
    void setFilter(const QString& text, bool isGood);

Q_SIGNALS:
    void chosen(const QString& text);

private:
    void showMenu();
    void addNamed(QMenu& menu, const QString& title,
                  void (FiltersButton::*act)(const SavedFilter&));
    void askName();
    void askOtherName(const SavedFilter& filter);
    void remove(const SavedFilter& filter);
    void report(const Error& error);

    AppContext m_context;
    QString m_text;
    bool m_isGood = false;
};

} // namespace rm
