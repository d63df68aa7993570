// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/group_button.h"

#include "app/core/runs/run_groups.h"
#include "app/ui/dialogs/sheet.h"
#include "app/ui/widgets/label.h"
#include "shared/spec/schema.h"

#include <QActionGroup>
#include <QCompleter>
#include <QLineEdit>
#include <QMenu>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

GroupButton::GroupButton(QWidget* parent)
    : QPushButton(parent) {
    setObjectName("groupRuns");
    setToolTip(tr("Put runs that are alike in something under one header, with the mean of each "
                  "number"));
    connect(this, &QPushButton::clicked, this, &GroupButton::showMenu);
    show({}, {});
}

void GroupButton::show(const std::string& key, const std::vector<std::string>& columns) {
    m_key = key;
    m_columns = columns;
    setText(key.empty() ? tr("Group") : tr("By %1").arg(groupWords(key)));
    setAccessibleName(key.empty() ? tr("Group the runs")
                                  : tr("Grouped by %1").arg(groupWords(key)));
}

void GroupButton::showMenu() {
    auto* menu = new QMenu(this);
    menu->setObjectName("groupMenu");
    menu->setAttribute(Qt::WA_DeleteOnClose);
    auto* group = new QActionGroup(menu);
    const auto offer = [&](const QString& text, const std::string& key) {
        QAction* action = menu->addAction(text, this, [this, key] { Q_EMIT chosen(key); });
        action->setCheckable(true);
        action->setChecked(key == m_key);
        group->addAction(action);
    };
    offer(tr("No groups"), {});
    for (const std::string& key : summaryGroupKeys())
        offer(groupWords(key), key);
    menu->addSeparator();
    std::vector<std::string> others = m_columns;
    const auto isThere = [&](const std::vector<std::string>& keys) {
        return std::ranges::find(keys, m_key) != keys.end();
    };
    if (!m_key.empty() && !isThere(summaryGroupKeys()) && !isThere(others))
        others.push_back(m_key);
    for (const std::string& key : others)
        offer(QString::fromStdString(key), key);
    menu->addAction(tr("Another setting or metric"), this, &GroupButton::askKey);
    menu->addSeparator();
    for (const auto& [text, isFolded] :
         {std::pair(tr("Fold all"), true), {tr("Unfold all"), false}})
        menu->addAction(text, this, [this, isFolded] { Q_EMIT foldAllRequested(isFolded); })
            ->setEnabled(!m_key.empty());
    menu->popup(mapToGlobal(QPoint(0, height())));
}

void GroupButton::askKey() {
    auto* sheet =
        new Sheet(tr("Group by"), tr("A setting as in a spec, such as optimizer.lr, or a metric."),
                  "groupDialog", window());
    auto* key = new QLineEdit;
    key->setObjectName("groupKey");
    key->setAccessibleName(tr("Setting or metric"));
    QStringList settings;
    for (const SchemaRow& row : schemaRows())
        settings << QString::fromUtf8(row.key.data(), static_cast<qsizetype>(row.key.size()));
    auto* completer = new QCompleter(settings, key);
    completer->setFilterMode(Qt::MatchContains);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    key->setCompleter(completer);
    auto* problem = makeText(QString(), "bad");
    problem->hide();
    sheet->content()->addWidget(key);
    sheet->content()->addWidget(problem);
    sheet->addCancel();
    QPushButton* confirm = sheet->addButton(tr("Group"), "primary", "groupConfirm");
    confirm->setDefault(true);
    connect(confirm, &QPushButton::clicked, sheet, [this, sheet, key, problem] {
        const std::string text = key->text().trimmed().toStdString();
        if (const auto known = checkGroupKey(text); !known) {
            problem->setText(QString::fromStdString(known.error().message));
            problem->show();
            return;
        }
        Q_EMIT chosen(text);
        sheet->accept();
    });
    sheet->open();
}

QString groupWords(const std::string& key) {
    return key == "state"    ? GroupButton::tr("State")
           : key == "tag"    ? GroupButton::tr("Tags")
           : key == "node"   ? GroupButton::tr("Nodes")
           : key == "branch" ? GroupButton::tr("Branch of")
           : key == "sweep"  ? GroupButton::tr("Sweep")
           : key == "model"  ? GroupButton::tr("Model")
                             : QString::fromStdString(key);
}

} // namespace rm
