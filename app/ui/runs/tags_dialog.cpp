// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/runs/tags_dialog.h"

#include "app/core/runs/run_tags.h"
#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"

#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

constexpr int kTagListHeight = 180;

QString titleFor(const std::vector<RunSummary>& runs) {
    return runs.size() == 1 ? TagsDialog::tr("Tags of %1").arg(runs.front().name)
                            : TagsDialog::tr("Tags of %1 runs").arg(runs.size());
}

} // namespace

TagsDialog::TagsDialog(const std::vector<RunSummary>& runs, QWidget* parent)
    : Sheet(titleFor(runs), {}, "tagsDialog", parent)
    , m_new(new QLineEdit)
    , m_tags(new QListWidget) {
    m_new->setObjectName("newTags");
    m_new->setAccessibleName(tr("New tags"));
    m_new->setPlaceholderText(tr("New tags, with commas between"));
    m_tags->setObjectName("tagList");
    m_tags->setAccessibleName(tr("Tags"));
    m_tags->setFixedHeight(kTagListHeight);
    content()->addWidget(m_new);
    content()->addWidget(m_tags);
    addTags(runs);
    m_tags->setVisible(m_tags->count() > 0);
    addCancel();
    QPushButton* apply = addButton(tr("Tag"), "primary", "tagsConfirm");
    connect(apply, &QPushButton::clicked, this, &TagsDialog::choose);
    connect(m_new, &QLineEdit::returnPressed, this, &TagsDialog::choose);
}

void TagsDialog::addTags(const std::vector<RunSummary>& runs) {
    QStringList tags;
    for (const RunSummary& run : runs)
        for (const QString& tag : run.tags)
            if (!tags.contains(tag))
                tags << tag;
    tags.sort(Qt::CaseInsensitive);
    for (const QString& tag : tags) {
        const auto count = std::ranges::count_if(
            runs, [&](const RunSummary& run) { return run.tags.contains(tag); });
        const bool haveAll = count == static_cast<std::ptrdiff_t>(runs.size());
        auto* item = new QListWidgetItem(tag, m_tags);
        item->setFlags(item->flags() | Qt::ItemIsUserCheckable);
        item->setCheckState(haveAll ? Qt::Checked : Qt::PartiallyChecked);
        item->setToolTip(asPlain(haveAll ? tr("All of them have it")
                                         : tr("%1 of %2 have it").arg(count).arg(runs.size())));
    }
}

void TagsDialog::choose() {
    QStringList add = tagsIn(m_new->text()), remove;
    for (int row = 0; row < m_tags->count(); ++row) {
        const QListWidgetItem* item = m_tags->item(row);
        if (item->checkState() == Qt::Checked)
            add << item->text();
        else if (item->checkState() == Qt::Unchecked)
            remove << item->text();
    }
    Q_EMIT chosen(add, remove);
    accept();
}

} // namespace rm
