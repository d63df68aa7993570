// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/page_header.h"

#include "app/ui/look/theme.h"
#include "app/ui/widgets/label.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QPushButton>

#include <algorithm>
#include <memory>
#include <vector>

namespace rm {

namespace {

constexpr int kSpacing = 10;
constexpr int kLeastFacts = 120; ///< likewise of the line of facts
constexpr int kLeastTitle = 160; ///< a longer one is cut before the actions go below it

/// Rows of as many items as fit, each ending at the right.
class RightRows : public QLayout {
public:
    void addItem(QLayoutItem* item) override { m_items.emplace_back(item); }
    int count() const override { return static_cast<int>(m_items.size()); }
    QLayoutItem* itemAt(int at) const override {
        return at >= 0 && at < count() ? m_items[static_cast<size_t>(at)].get() : nullptr;
    }
    QLayoutItem* takeAt(int at) override {
        if (!itemAt(at))
            return nullptr;
        QLayoutItem* item = m_items[static_cast<size_t>(at)].release();
        m_items.erase(m_items.begin() + at);
        return item;
    }
    Qt::Orientations expandingDirections() const override { return {}; }
    QSize sizeHint() const override {
        QSize all(-kSpacing, 0);
        for (const QLayoutItem* item : shown())
            all = {all.width() + kSpacing + item->sizeHint().width(),
                   std::max(all.height(), item->sizeHint().height())};
        return all.expandedTo({0, 0});
    }
    QSize minimumSize() const override {
        QSize least;
        for (const QLayoutItem* item : shown())
            least = least.expandedTo(item->sizeHint());
        return least;
    }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override {
        const int rows = static_cast<int>(rowsIn(width).size());
        return std::max(0, rows * (minimumSize().height() + kSpacing) - kSpacing);
    }
    void setGeometry(const QRect& place) override {
        QLayout::setGeometry(place);
        const int height = minimumSize().height();
        int y = place.y() + std::max(0, (place.height() - heightForWidth(place.width())) / 2);
        for (const Row& row : rowsIn(place.width())) {
            int right = place.x() + place.width();
            for (auto item = row.rbegin(); item != row.rend(); ++item) {
                const QSize hint = (*item)->sizeHint();
                right -= hint.width();
                (*item)->setGeometry({{right, y + (height - hint.height()) / 2}, hint});
                right -= kSpacing;
            }
            y += height + kSpacing;
        }
    }

private:
    using Row = std::vector<QLayoutItem*>;

    Row shown() const {
        Row items;
        for (const auto& item : m_items)
            if (!item->isEmpty())
                items.push_back(item.get());
        return items;
    }
    std::vector<Row> rowsIn(int width) const {
        std::vector<Row> rows;
        int left = 0;
        for (QLayoutItem* item : shown()) {
            const int wanted = item->sizeHint().width() + kSpacing;
            if (rows.empty() || left < wanted) {
                rows.emplace_back();
                left = width + kSpacing;
            }
            rows.back().push_back(item);
            left -= wanted;
        }
        return rows;
    }

    std::vector<std::unique_ptr<QLayoutItem>> m_items;
};

} // namespace

PageHeader::PageHeader(const QString& title, QWidget* parent)
    : QWidget(parent)
    , m_title(new ElidedLabel(title, "title"))
    , m_chip(new Chip)
    , m_facts(new ElidedLabel({}, "bodySecondary"))
    , m_parts(new QHBoxLayout(this))
    , m_actions(new RightRows) {
    m_parts->setContentsMargins(0, 0, 0, 0);
    m_parts->setSpacing(kSpacing);
    m_title->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    m_facts->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    auto* words = new QHBoxLayout;
    words->setSpacing(kSpacing);
    words->addWidget(m_title);
    words->addWidget(m_chip);
    words->addWidget(m_facts, 1);
    m_parts->addLayout(words, 1);
    m_parts->addLayout(m_actions);
    m_chip->setObjectName("stateChip");
    m_chip->hide();
    setMinimumHeight(size::kControlHeight + 2);
}

void PageHeader::setTitle(const QString& title) {
    m_title->setFullText(title);
}

void PageHeader::setFacts(const QString& facts) {
    m_facts->setFullText(facts);
}

void PageHeader::setChip(const QString& text, Tone tone) {
    m_chip->show(text, tone);
    m_chip->setVisible(!text.isEmpty());
}

QPushButton* PageHeader::addAction(const QString& text, const char* role, const char* objectName) {
    QPushButton* button = makeButton(text, role, objectName);
    m_actions->addWidget(button);
    return button;
}

bool PageHeader::event(QEvent* event) {
    const bool isHandled = QWidget::event(event);
    if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest)
        placeActions();
    return isHandled;
}

void PageHeader::placeActions() {
    const int chip = m_chip->isHidden() ? 0 : m_chip->sizeHint().width() + kSpacing;
    const int title = std::min(m_title->sizeHint().width(), kLeastTitle);
    const int facts = std::min(m_facts->sizeHint().width(), kLeastFacts);
    const bool fits =
        title + chip + facts + 3 * kSpacing + m_actions->sizeHint().width() <= width();
    m_parts->setDirection(fits ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
}

} // namespace rm
