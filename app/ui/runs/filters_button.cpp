// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/filters_button.h"

#include "app/ui/dialogs/name_dialog.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/widgets/toast.h"

#include <QMenu>

namespace rm {

FiltersButton::FiltersButton(const AppContext& context, QWidget* parent)
    : QPushButton(tr("Filters"), parent)
    , m_context(context) {
    setObjectName("runFilters");
    setAccessibleName(tr("Saved filters"));
    setToolTip(tr("Filters that are kept under a name; the terminal knows them, too: ringmaster "
                  "runs --filter @NAME"));
    connect(this, &QPushButton::clicked, this, &FiltersButton::showMenu);
}

void FiltersButton::setFilter(const QString& text, bool isGood) {
    m_text = text.trimmed();
    m_isGood = isGood && !m_text.isEmpty() && !m_text.startsWith('@');
}

void FiltersButton::showMenu() {
    auto* menu = new QMenu(this);
    menu->setObjectName("filtersMenu");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setToolTipsVisible(true);
    const auto filters = savedFilters(m_context.paths);
    for (const SavedFilter& filter : filters) {
        QAction* action = menu->addAction(inMenu(filter.name), this,
                                          [this, filter] { Q_EMIT chosen(filter.text); });
        action->setToolTip(asPlain(filter.text));
        action->setCheckable(true);
        action->setChecked(filter.text == m_text);
    }
    if (!filters.empty())
        menu->addSeparator();
    QAction* save = menu->addAction(tr("Save this filter"), this, &FiltersButton::askName);
    save->setEnabled(m_isGood);
    save->setToolTip(m_isGood ? asPlain(m_text) : tr("Type words or conditions first"));
    if (!filters.empty()) {
        addNamed(*menu, tr("Rename"), &FiltersButton::askOtherName);
        addNamed(*menu, tr("Delete"), &FiltersButton::remove);
    }
    menu->popup(mapToGlobal(QPoint(0, height())));
}

void FiltersButton::addNamed(QMenu& menu, const QString& title,
                             void (FiltersButton::*act)(const SavedFilter&)) {
    QMenu* names = menu.addMenu(title);
    for (const SavedFilter& filter : savedFilters(m_context.paths))
        names->addAction(inMenu(filter.name), this, [this, act, filter] { (this->*act)(filter); });
}

void FiltersButton::askName() {
    const QString text = m_text;
    auto* dialog = new NameDialog(
        tr("Save this filter"), tr("A filter of that name is replaced."), "filterName", {},
        [this, text](const QString& name) {
            return saveFilter(m_context.paths, {name, text});
        },
        window());
    dialog->open();
}

void FiltersButton::askOtherName(const SavedFilter& filter) {
    auto* dialog = new NameDialog(
        tr("Rename %1").arg(filter.name), {}, "filterName", filter.name,
        [this, filter](const QString& name) {
            return renameFilter(m_context.paths, filter.name, name);
        },
        window());
    dialog->open();
}

void FiltersButton::remove(const SavedFilter& filter) {
    if (const auto removed = removeFilter(m_context.paths, filter.name); !removed)
        return report(removed.error());
    m_context.toast.offerUndo(tr("The filter %1 is deleted").arg(filter.name), [this, filter] {
        if (const auto kept = saveFilter(m_context.paths, filter); !kept)
            report(kept.error());
    });
}

void FiltersButton::report(const Error& error) {
    m_context.toast.say(QString::fromStdString(error.message));
}

} // namespace rm
