// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/manual_window.h"

#include "app/ui/look/theme.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <QShortcut>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextDocument>
#include <QTextList>
#include <QTextTable>
#include <QUrl>
#include <QVBoxLayout>

namespace rm {

namespace {

constexpr QSize kFirstSize(940, 680);
constexpr QSize kSmallest(640, 420);
constexpr int kListWidth = 240;
constexpr double kLineHeight = 120; // percent
constexpr int kMostHits = 200;
constexpr qsizetype kLongestHit = 140;
constexpr int kTopicRole = Qt::UserRole;
constexpr int kAnchorRole = Qt::UserRole + 1;

} // namespace

ManualWindow::ManualWindow(Manual manual, QWidget* parent)
    : QDialog(parent)
    , m_manual(std::move(manual))
    , m_search(new QLineEdit)
    , m_list(new QListWidget)
    , m_page(new QTextBrowser) {
    buildUi();
    wire();
    search({});
}

void ManualWindow::buildUi() {
    setObjectName("manual");
    setWindowTitle(tr("Ringmaster manual"));
    setAttribute(Qt::WA_DeleteOnClose);
    setMinimumSize(kSmallest);
    resize(kFirstSize);
    m_search->setObjectName("manualSearch");
    m_search->setAccessibleName(tr("Search the manual"));
    m_search->setPlaceholderText(tr("Search the manual"));
    m_search->setClearButtonEnabled(true);
    m_list->setObjectName("manualTopics");
    m_list->setAccessibleName(tr("Topics"));
    m_list->setWordWrap(true);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_page->setObjectName("manualPage");
    m_page->setAccessibleName(tr("The topic's text"));
    m_page->setOpenLinks(false);
    auto* left = new QVBoxLayout;
    left->setSpacing(size::kCardGap);
    left->addWidget(m_search);
    left->addWidget(m_list, 1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(size::kCardGap, size::kCardGap, size::kCardGap, size::kCardGap);
    row->setSpacing(size::kCardGap);
    row->addLayout(left);
    row->addWidget(m_page, 1);
    m_search->setFixedWidth(kListWidth);
    m_list->setFixedWidth(kListWidth);
}

void ManualWindow::wire() {
    connect(m_search, &QLineEdit::textChanged, this, &ManualWindow::search);
    connect(m_search, &QLineEdit::returnPressed, this, [this] {
        if (m_list->currentRow() < 0 && m_list->count() > 0)
            m_list->setCurrentRow(0);
        choose();
    });
    connect(m_list, &QListWidget::currentRowChanged, this, &ManualWindow::choose);
    connect(m_page, &QTextBrowser::anchorClicked, this, &ManualWindow::follow);
    connect(&Theme::instance(), &Theme::changed, this, [this] {
        const int at = m_page->verticalScrollBar()->value();
        showTopic(m_topic);
        m_page->verticalScrollBar()->setValue(at);
    });
    connect(new QShortcut(QKeySequence::Find, this), &QShortcut::activated, this, [this] {
        m_search->setFocus(Qt::ShortcutFocusReason);
        m_search->selectAll();
    });
}

/// Lists all topics if there are no words to search for.
void ManualWindow::search(const QString& words) {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    const auto add = [this](const QString& text, const QString& topic, const QString& anchor) {
        auto* item = new QListWidgetItem(text, m_list);
        item->setData(kTopicRole, topic);
        item->setData(kAnchorRole, anchor);
    };
    if (words.trimmed().isEmpty()) {
        for (const ManualTopic& topic : m_manual.topics())
            add(topic.title, topic.name, {});
        showChosen();
        return;
    }
    for (const ManualHit& hit : m_manual.find(words)) {
        if (m_list->count() == kMostHits)
            break;
        const bool isLong = hit.text.size() > kLongestHit;
        add(hit.heading + '\n' + (isLong ? hit.text.left(kLongestHit) + QChar(0x2026) : hit.text),
            hit.topic, anchorOf(hit.heading));
    }
    if (m_list->count() == 0) {
        auto* none = new QListWidgetItem(tr("Nothing in the manual has these words."), m_list);
        none->setFlags(Qt::NoItemFlags);
    }
}

void ManualWindow::choose() {
    if (const QListWidgetItem* item = m_list->currentItem();
        item && item->flags() != Qt::NoItemFlags)
        showTopic(item->data(kTopicRole).toString(), item->data(kAnchorRole).toString());
}

void ManualWindow::showTopic(const QString& name, const QString& anchor) {
    const auto topic = m_manual.topic(name);
    if (!topic)
        return m_page->setPlainText(QString::fromStdString(topic.error().message));
    if (m_topic != name || anchor.isEmpty()) {
        m_page->document()->setMarkdown(topic->text, QTextDocument::MarkdownDialectGitHub);
        space();
        m_page->moveCursor(
            QTextCursor::Start); // the text's end came before it: Qt shows where it is
    }
    m_topic = name;
    if (m_search->text().trimmed().isEmpty())
        showChosen();
    scrollTo(anchor);
}

/// In the list of topics, the one that the page shows.
void ManualWindow::showChosen() {
    const QSignalBlocker quiet(m_list);
    for (int row = 0; row < m_list->count(); ++row)
        if (m_list->item(row)->data(kTopicRole) == m_topic)
            m_list->setCurrentRow(row);
}

/// Qt sets Markdown without room between paragraphs, and tables in bare frames.
void ManualWindow::space() {
    QTextDocument* document = m_page->document();
    for (QTextBlock block = document->begin(); block.isValid(); block = block.next()) {
        QTextCursor cursor(block);
        QTextBlockFormat format = block.blockFormat();
        const bool isCode = format.hasProperty(QTextFormat::BlockCodeFence);
        const bool continues =
            isCode && block.next().blockFormat().hasProperty(QTextFormat::BlockCodeFence);
        if (cursor.currentTable())
            continue;
        if (format.headingLevel() > 0)
            format.setTopMargin(format.headingLevel() == 1 ? 0 : 4 * size::kGrid);
        if (isCode) {
            format.setLeftMargin(2 * size::kGrid);
            format.setBackground(colours().neutralBack);
        }
        format.setBottomMargin(continues ? 0 : block.textList() ? size::kGrid : 2 * size::kGrid);
        format.setLineHeight(isCode ? 100 : kLineHeight, QTextBlockFormat::ProportionalHeight);
        cursor.setBlockFormat(format);
    }
    for (QTextFrame* frame : document->rootFrame()->childFrames())
        if (auto* table = qobject_cast<QTextTable*>(frame)) {
            QTextTableFormat format = table->format();
            format.setBorderCollapse(true);
            format.setBorderBrush(colours().hairline);
            format.setCellPadding(size::kGrid);
            format.setBottomMargin(2 * size::kGrid);
            table->setFormat(format);
        }
}

/// Links of the manual lead to other topics of it and to headings; there are no others.
void ManualWindow::follow(const QUrl& link) {
    const QString file = link.path();
    showTopic(file.isEmpty() ? m_topic : file.chopped(QString(".md").size()), link.fragment());
}

void ManualWindow::scrollTo(const QString& anchor) {
    m_page->verticalScrollBar()->setValue(0);
    for (QTextBlock block = m_page->document()->begin(); block.isValid() && !anchor.isEmpty();
         block = block.next()) {
        if (block.blockFormat().headingLevel() == 0 || anchorOf(block.text()) != anchor)
            continue;
        m_page->moveCursor(QTextCursor::End); // so that the heading comes to the top
        m_page->setTextCursor(QTextCursor(block));
        m_page->ensureCursorVisible();
        return;
    }
}

} // namespace rm
