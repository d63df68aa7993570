// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/palette_dialog.h"

#include "app/ui/look/theme.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {
constexpr int kHeight = 380;
constexpr int kTop = 90;
constexpr int kKindRole = Qt::UserRole + 1;

/// Draws the title, and its kind at the right.
class EntryDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        QStyledItemDelegate::paint(painter, option, index);
        painter->save();
        painter->setFont(Theme::instance().font(FontRole::kSecondary));
        painter->setPen(colours().secondary);
        painter->drawText(option.rect.adjusted(0, 0, -size::kCardGap, 0),
                          Qt::AlignVCenter | Qt::AlignRight, index.data(kKindRole).toString());
        painter->restore();
    }
};

} // namespace

int paletteScore(const QString& title, const QString& typed) {
    if (typed.isEmpty())
        return 0;
    const qsizetype whole = title.indexOf(typed, 0, Qt::CaseInsensitive);
    if (whole >= 0)
        return 1000 - static_cast<int>(whole);
    qsizetype at = -1;
    int gaps = 0;
    for (const QChar letter : typed) {
        const qsizetype next = title.indexOf(letter, at + 1, Qt::CaseInsensitive);
        if (next < 0)
            return -1;
        gaps += static_cast<int>(next - at - 1);
        at = next;
    }
    return std::max(0, 500 - gaps);
}

PaletteDialog::PaletteDialog(std::vector<PaletteEntry> entries, QWidget* parent)
    : QDialog(parent, Qt::Dialog | Qt::FramelessWindowHint)
    , m_entries(std::move(entries)) {
    buildUi();
    wire();
    filter({});
}

void PaletteDialog::buildUi() {
    setObjectName("palette");
    setAccessibleName(tr("Go to anything"));
    setAttribute(Qt::WA_DeleteOnClose);
    m_input = new QLineEdit;
    m_input->setObjectName("paletteInput");
    m_input->setAccessibleName(tr("Go to"));
    m_input->setPlaceholderText(tr("Go to a page, run or node, or do something"));
    m_list = new QListWidget;
    m_list->setObjectName("paletteList");
    m_list->setAccessibleName(tr("Matches"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setItemDelegate(new EntryDelegate(m_list));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kCardGap, size::kCardGap, size::kCardGap, size::kCardGap);
    column->setSpacing(2 * size::kGrid);
    column->addWidget(m_input);
    column->addWidget(m_list);
    resize(size::kReadingWidth, kHeight);
    if (const QWidget* over = parentWidget())
        move(over->mapToGlobal(QPoint((over->width() - width()) / 2, kTop)));
    m_input->setFocus();
}

void PaletteDialog::wire() {
    connect(m_input, &QLineEdit::textChanged, this, &PaletteDialog::filter);
    connect(m_list, &QListWidget::itemActivated, this, &PaletteDialog::run);
    connect(m_list, &QListWidget::itemClicked, this, &PaletteDialog::run);
    m_input->installEventFilter(this);
}

void PaletteDialog::filter(const QString& typed) {
    std::vector<std::pair<int, int>> scored;
    for (size_t at = 0; at < m_entries.size(); ++at)
        if (const int score = paletteScore(m_entries[at].title, typed.trimmed()); score >= 0)
            scored.emplace_back(-score, static_cast<int>(at));
    std::ranges::stable_sort(scored, {}, &std::pair<int, int>::first);
    m_list->clear();
    for (const auto& [score, at] : scored) {
        const PaletteEntry& entry = m_entries[static_cast<size_t>(at)];
        auto* item = new QListWidgetItem(entry.title, m_list);
        item->setData(Qt::UserRole, at);
        item->setData(kKindRole, entry.kind);
        item->setData(Qt::AccessibleTextRole, entry.title + ", " + entry.kind);
    }
    if (scored.empty())
        (new QListWidgetItem(tr("Nothing found"), m_list))->setFlags(Qt::NoItemFlags);
    m_list->setCurrentRow(scored.empty() ? -1 : 0);
}

void PaletteDialog::run() {
    const QListWidgetItem* item = m_list->currentItem();
    if (!item)
        return;
    const auto act = m_entries[static_cast<size_t>(item->data(Qt::UserRole).toInt())].act;
    close();
    act();
}

bool PaletteDialog::event(QEvent* event) {
    if (event->type() == QEvent::WindowDeactivate)
        close();
    return QDialog::event(event);
}

bool PaletteDialog::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const int last = m_list->count() - 1;
        if (key->key() == Qt::Key_Down || key->key() == Qt::Key_Up) {
            const int step = key->key() == Qt::Key_Down ? 1 : -1;
            m_list->setCurrentRow(std::clamp(m_list->currentRow() + step, 0, std::max(0, last)));
            return true;
        }
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            run();
            return true;
        }
    }
    return QDialog::eventFilter(watched, event);
}

} // namespace rm
