// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run_page.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractButton>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTest>

using namespace rm;
using namespace rm::test;

namespace {

const QString kText = R"(# what I want to find out
name = "mine"   # until Friday

[data]
train = ["/usr/share/common-licenses"]

[optimizer]     # as in the paper
lr = 2e-3       # try half of it, too
# clip = 2.0
)";

} // namespace

/// The form and the text of a new run.
class TestNewRun : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();

    void anEditOfTheFormKeepsWhatAPersonWrote();
    void anEditOfTheFormCanBeUndoneInTheText();
    void aFieldThatIsNotThereYetIsAdded();
    void theFormRestsWhileTheTextDoesNotParse();
    void aRefusedFieldHoldsTheLaunchBack();
    void theFormShowsWhatTheModelUses();

private:
    template <class T>
    T* find(const QString& name) const {
        return m_window->window().newRunPage().findChild<T*>(name);
    }
    QPlainTextEdit* text() const { return find<QPlainTextEdit>("specToml"); }
    bool canLaunch() const { return find<QAbstractButton>("launch")->isEnabled(); }
    void type(const QString& field, const QString& value) const;
    void choose(const QString& field, const QString& value) const;

    std::unique_ptr<WindowFixture> m_window;
};

void TestNewRun::initTestCase() {
    m_window = std::make_unique<WindowFixture>(WindowFixture::Content::kEmpty);
    QVERIFY2(m_window->isGood(), qPrintable(m_window->problem()));
    m_window->window().showNewRun();
}

void TestNewRun::init() {
    text()->setPlainText(kText);
    QTRY_COMPARE(find<QLineEdit>("field.name")->text(), QString("mine"));
    QTRY_COMPARE(find<QLineEdit>("field.optimizer.lr")->text(), QString("0.002"));
    QTRY_VERIFY(canLaunch());
}

void TestNewRun::type(const QString& field, const QString& value) const {
    auto* edit = find<QLineEdit>("field." + field);
    edit->selectAll();
    QTest::keyClicks(edit, value);
}

void TestNewRun::choose(const QString& field, const QString& value) const {
    auto* box = find<QComboBox>("field." + field);
    box->setCurrentText(value);
    Q_EMIT box->activated(box->currentIndex());
}

void TestNewRun::anEditOfTheFormKeepsWhatAPersonWrote() {
    type("optimizer.lr", "5e-4");
    QCOMPARE(text()->toPlainText(), QString(kText).replace("2e-3  ", "0.0005"));
    type("name", "yours");
    QCOMPARE(text()->toPlainText(),
             QString(kText).replace("2e-3  ", "0.0005").replace("\"mine\" ", "\"yours\""));
    QVERIFY(canLaunch());
}

void TestNewRun::anEditOfTheFormCanBeUndoneInTheText() {
    text()->document()->clearUndoRedoStacks();
    choose("schedule.type", "constant");
    QVERIFY(text()->toPlainText() != kText);
    text()->undo();
    QCOMPARE(text()->toPlainText(), kText);
    QTRY_COMPARE(find<QComboBox>("field.schedule.type")->currentText(), QString("cosine"));
}

void TestNewRun::aFieldThatIsNotThereYetIsAdded() {
    choose("schedule.type", "constant");
    QVERIFY2(text()->toPlainText().startsWith(kText), qPrintable(text()->toPlainText()));
    QVERIFY(text()->toPlainText().endsWith("\n[schedule]\ntype = \"constant\"\n"));
    type("optimizer.clip", "2");
    QVERIFY(text()->toPlainText().contains("too\nclip = 2.0\n# clip = 2.0\n"));
}

void TestNewRun::theFormRestsWhileTheTextDoesNotParse() {
    text()->setPlainText(QString(kText).replace("lr = 2e-3", "lr = = 2e-3"));
    auto* lr = find<QLineEdit>("field.optimizer.lr");
    QTRY_VERIFY(!lr->isEnabled());
    QVERIFY(!canLaunch());
    text()->setPlainText(kText);
    QTRY_VERIFY(lr->isEnabled());
    QVERIFY(canLaunch());
}

void TestNewRun::aRefusedFieldHoldsTheLaunchBack() {
    type("train.steps", "many");
    QVERIFY(!canLaunch());
    QCOMPARE(text()->toPlainText(), kText);
    type("train.steps", "20");
    QVERIFY(canLaunch());
    QVERIFY(text()->toPlainText().contains("steps = 20"));
}

void TestNewRun::theFormShowsWhatTheModelUses() {
    QVERIFY(find<QLineEdit>("field.validation.prompt")->isVisible());
    QVERIFY(!find<QLineEdit>("field.model.image_size")->isVisible());
    choose("model.type", "resnet50");
    QVERIFY(!find<QLineEdit>("field.validation.prompt")->isVisible());
    QVERIFY(find<QLineEdit>("field.model.image_size")->isVisible());
    choose("model.type", "translation");
    QVERIFY(find<QLineEdit>("field.validation.beams")->isVisible());
    QVERIFY(!find<QLineEdit>("field.model.image_size")->isVisible());
}

QTEST_MAIN(TestNewRun)
#include "tst_new_run.moc"
