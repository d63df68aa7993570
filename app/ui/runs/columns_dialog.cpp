// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/columns_dialog.h"

#include "app/core/answer.h"
#include "app/ui/data/store_thread.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"
#include "app/ui/widgets/toast.h"

#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kListHeight = 320;
constexpr size_t kMostColumns = 12; ///< that a table has room for

Qt::CheckState ticked(bool is) {
    return is ? Qt::Checked : Qt::Unchecked;
}

} // namespace

ColumnsDialog::ColumnsDialog(const AppContext& context, std::vector<RunSummary> runs,
                             std::shared_ptr<RunValues> values, std::vector<std::string> keys,
                             QWidget* parent)
    : Sheet(tr("Columns"),
            tr("Settings as in a spec, and metrics: their last value, or with best: before it the "
               "best one."),
            "columnsDialog", parent)
    , m_context(context)
    , m_runs(std::move(runs))
    , m_values(std::move(values))
    , m_keys(std::move(keys)) {
    buildUi();
    addKeys(m_keys);
    pullKeys();
}

void ColumnsDialog::buildUi() {
    m_find = new QLineEdit;
    m_find->setObjectName("findColumn");
    m_find->setAccessibleName(tr("Find a column"));
    m_find->setPlaceholderText(tr("Find: lr, batch, validation"));
    m_find->setClearButtonEnabled(true);
    m_list = new QListWidget;
    m_list->setObjectName("columnList");
    m_list->setAccessibleName(tr("Columns"));
    m_list->setFixedHeight(kListHeight);
    content()->addWidget(m_find);
    content()->addWidget(m_list);
    QPushButton* differing = addButton(tr("What differs"), "", "tickDiffering");
    differing->setToolTip(tr("Tick the settings that are not alike in the runs in sight"));
    QPushButton* none = addButton(tr("None"), "", "tickNone");
    QPushButton* reset = addButton(tr("Reset order"), "", "resetColumns");
    reset->setToolTip(tr("Order and widths of the columns as they were at first"));
    connect(reset, &QPushButton::clicked, this, &ColumnsDialog::resetRequested);
    addCancel();
    QPushButton* apply = addButton(tr("Show"), "primary", "showColumns");
    connect(m_find, &QLineEdit::textChanged, this, &ColumnsDialog::find);
    connect(differing, &QPushButton::clicked, this, &ColumnsDialog::tickDiffering);
    connect(none, &QPushButton::clicked, this, [this] {
        for (int row = 0; row < m_list->count(); ++row)
            m_list->item(row)->setCheckState(Qt::Unchecked);
    });
    connect(apply, &QPushButton::clicked, this, &ColumnsDialog::choose);
}

void ColumnsDialog::pullKeys() {
    whenAnswered(
        m_context.store.ask([runs = m_runs](StoreReader& reader) { return keysOf(reader, runs); }),
        this, [this](const std::vector<std::string>& keys) { addKeys(keys); });
}

/// Behind those that are there, without what is there already.
void ColumnsDialog::addKeys(const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        const QString text = QString::fromStdString(key);
        if (!m_list->findItems(text, Qt::MatchExactly).isEmpty())
            continue;
        auto* item = new QListWidgetItem(text, m_list);
        item->setFlags(item->flags() | Qt::ItemIsUserCheckable);
        item->setCheckState(ticked(std::ranges::count(m_keys, key) > 0));
    }
    find(m_find->text());
}

void ColumnsDialog::find(const QString& words) {
    const QStringList all = words.split(' ', Qt::SkipEmptyParts);
    for (int row = 0; row < m_list->count(); ++row)
        m_list->item(row)->setHidden(!std::ranges::all_of(all, [&](const QString& word) {
            return m_list->item(row)->text().contains(word, Qt::CaseInsensitive);
        }));
}

void ColumnsDialog::tickDiffering() {
    whenAnswered(m_context.store.ask([runs = m_runs, values = m_values](StoreReader& reader) {
        return values->differingSettings(reader, runs);
    }),
                 this, [this](const std::vector<std::string>& keys) {
                     addKeys(keys);
                     for (int row = 0; row < m_list->count(); ++row) {
                         const std::string key = m_list->item(row)->text().toStdString();
                         if (std::ranges::count(keys, key) > 0)
                             m_list->item(row)->setCheckState(Qt::Checked);
                     }
                 });
}

void ColumnsDialog::choose() {
    std::vector<std::string> keys;
    for (int row = 0; row < m_list->count(); ++row)
        if (m_list->item(row)->checkState() == Qt::Checked)
            keys.push_back(m_list->item(row)->text().toStdString());
    if (keys.size() > kMostColumns) {
        m_context.toast.say(
            tr("The first %1 of %2 columns are shown").arg(kMostColumns).arg(keys.size()));
        keys.resize(kMostColumns);
    }
    Q_EMIT chosen(keys);
    accept();
}

} // namespace rm
