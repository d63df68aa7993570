// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/widgets/label.h"
#include "tests/gui/support/widget_audit.h"

#include <QHBoxLayout>
#include <QScrollArea>
#include <QTest>

#include <memory>

using namespace rm;
using namespace rm::test;

/// What the audit of pages finds, and what it lets pass.
class TestWidgetAudit : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init();
    void aPageInOrderPasses();
    void aWidgetThatItsParentCutsIsFound();
    void whatIsWiderThanItsScrollerIsFound();
    void whatIsHigherThanItsScrollerPasses();
    void aTextElidedBesideRoomIsFound();
    void aCutTextWithoutATooltipIsFound();
    void aTextElidedForWantOfRoomPasses();

private:
    bool finds(const QString& problem) const {
        return !clippedTexts(*m_page).filter(problem).isEmpty();
    }
    QScrollArea* addScroller(QSize content);

    std::unique_ptr<QWidget> m_page;
};

void TestWidgetAudit::init() {
    m_page = std::make_unique<QWidget>();
    m_page->resize(400, 300);
    m_page->show();
}

QScrollArea* TestWidgetAudit::addScroller(QSize content) {
    auto* scroll = new QScrollArea(m_page.get());
    scroll->setGeometry(m_page->rect());
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* inside = new QWidget;
    inside->setFixedSize(content);
    scroll->setWidget(inside);
    scroll->show();
    return scroll;
}

void TestWidgetAudit::aPageInOrderPasses() {
    auto* row = new QHBoxLayout(m_page.get());
    row->addWidget(makeLabel("All of it", "body"));
    row->addWidget(makeButton("Do it", "", "act"));
    row->activate();
    QCOMPARE(clippedTexts(*m_page), QStringList());
}

void TestWidgetAudit::aWidgetThatItsParentCutsIsFound() {
    auto* child = new QWidget(m_page.get());
    child->setGeometry(350, 10, 100, 20);
    child->show();
    QVERIFY(finds("is cut by"));
    child->setGeometry(300, 10, 100, 20);
    QCOMPARE(clippedTexts(*m_page), QStringList());
}

void TestWidgetAudit::whatIsWiderThanItsScrollerIsFound() {
    addScroller({500, 100});
    QVERIFY(finds("wider than what scrolls it"));
}

void TestWidgetAudit::whatIsHigherThanItsScrollerPasses() {
    addScroller({300, 2000});
    QCOMPARE(clippedTexts(*m_page), QStringList());
}

void TestWidgetAudit::aTextElidedBesideRoomIsFound() {
    auto* label = new ElidedLabel("a text that is a good deal longer than its label", "body");
    label->setParent(m_page.get());
    label->setGeometry(0, 0, 60, 20);
    label->show();
    label->resize(label->sizeHint().width() - 30, 20);
    m_page->resize(800, 300);
    QVERIFY(finds("that are free"));
}

void TestWidgetAudit::aCutTextWithoutATooltipIsFound() {
    auto* label = new ElidedLabel("a text that is a good deal longer than its label", "body");
    label->setParent(m_page.get());
    label->show();
    label->setGeometry(0, 0, 100, 20);
    label->setToolTip({});
    m_page->resize(100, 300);
    QVERIFY(finds("no tooltip"));
}

void TestWidgetAudit::aTextElidedForWantOfRoomPasses() {
    auto* label = new ElidedLabel("a text that is a good deal longer than its label", "body");
    label->setParent(m_page.get());
    label->show();
    label->setGeometry(0, 0, 100, 20);
    m_page->resize(100, 300);
    QCOMPARE(clippedTexts(*m_page), QStringList());
}

QTEST_MAIN(TestWidgetAudit)
#include "tst_widget_audit.moc"
