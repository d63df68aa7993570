// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/layout_button.h"

#include "app/ui/dialogs/name_dialog.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/run/layout_keeper.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/toast.h"

#include <QMenu>

namespace rm {

LayoutButton::LayoutButton(const AppContext& context, LayoutKeeper& keeper, QWidget* parent)
    : QPushButton(tr("layout"), parent)
    , m_context(context)
    , m_keeper(keeper) {
    setObjectName("chartsLayout");
    setAccessibleName(tr("Layout of the charts"));
    setToolTip(tr("Add charts, bring back hidden ones, keep this layout under a name. Drag a chart "
                  "by its title, size it by its corner; a right click has the rest."));
    setStyleProperty(this, "role", "quiet");
    connect(this, &QPushButton::clicked, this, &LayoutButton::showMenu);
}

void LayoutButton::setHidden(std::vector<std::pair<std::string, QString>> hidden) {
    m_hidden = std::move(hidden);
}

void LayoutButton::setCompact(bool compact) {
    setText(compact ? QString(QChar(0x2026)) : tr("layout"));
}

void LayoutButton::showMenu() {
    auto* menu = new QMenu(this);
    menu->setObjectName("layoutMenu");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fill(*menu);
    menu->popup(mapToGlobal(QPoint(0, height())));
}

void LayoutButton::fill(QMenu& menu) {
    const auto add = [this](QMenu& to, const QString& text, const char* name, auto act) {
        QAction* action = to.addAction(text, this, act);
        action->setObjectName(name);
        return action;
    };
    add(menu, tr("Add a chart…"), "addChart", [this] { Q_EMIT addRequested(); });
    fillHidden(menu);
    menu.addSeparator();
    fillNames(menu);
    menu.addSeparator();
    QAction* undo = add(menu, tr("Undo layout change"), "undoLayout", [this] { m_keeper.undo(); });
    undo->setEnabled(m_keeper.canUndo());
    QAction* redo = add(menu, tr("Redo layout change"), "redoLayout", [this] { m_keeper.redo(); });
    redo->setEnabled(m_keeper.canRedo());
    QAction* reset = add(menu, tr("Reset the layout"), "resetLayout",
                         [this] { m_keeper.change([](ChartLayout& layout) { layout = {}; }); });
    reset->setEnabled(m_keeper.layout() != ChartLayout());
}

void LayoutButton::fillHidden(QMenu& menu) {
    QMenu* hidden = menu.addMenu(tr("Hidden charts"));
    hidden->setObjectName("hiddenCharts");
    hidden->setEnabled(!m_hidden.empty());
    for (const auto& [key, title] : m_hidden)
        hidden->addAction(inMenu(title), this, [this, key = key] {
            m_keeper.changeStyle(key, [](ChartStyle& style) { style.isHidden = false; });
        });
}

void LayoutButton::fillNames(QMenu& menu) {
    const QStringList names = m_keeper.names();
    for (const QString& name : names) {
        QAction* action = menu.addAction(inMenu(name), this, [this, name] { m_keeper.use(name); });
        action->setCheckable(true);
        action->setChecked(m_keeper.isInUse(name));
    }
    QAction* save = menu.addAction(tr("Save this layout…"), this, &LayoutButton::askName);
    save->setObjectName("saveLayout");
    if (names.isEmpty())
        return;
    QMenu* remove = menu.addMenu(tr("Delete a saved layout"));
    remove->setObjectName("deleteLayout");
    for (const QString& name : names)
        remove->addAction(inMenu(name), this, [this, name] { forget(name); });
}

void LayoutButton::askName() {
    (new NameDialog(
         tr("Save this layout"),
         tr("It can then be chosen for any run. A layout of that name is replaced."), "layoutName",
         {}, [this](const QString& name) { return m_keeper.keep(name); }, window()))
        ->open();
}

void LayoutButton::forget(const QString& name) {
    const ChartLayouts before = m_keeper.kept();
    const auto say = [this](const Result<void>& done) {
        if (!done)
            m_context.toast.say(QString::fromStdString(done.error().message));
        return done.has_value();
    };
    const auto layout = before.kept.find(name.toStdString());
    if (say(m_keeper.forget(name)) && layout != before.kept.end())
        m_context.toast.offerUndo(
            tr("The layout %1 is deleted").arg(name),
            [this, say, name, layout = layout->second] { say(m_keeper.keep(name, layout)); });
}

} // namespace rm
