// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/recipes.h"
#include "app/ui/dialogs/plan_dialog.h"
#include "app/ui/look/theme.h"
#include "app/ui/new_run/launch_bar.h"
#include "app/ui/new_run/new_run_page.h"
#include "app/ui/new_run/numbered_text.h"
#include "app/ui/new_run/recipe_strip.h"
#include "app/ui/new_run/spec_form.h"
#include "tests/gui/support/demo_store.h"
#include "tests/gui/support/silent_port.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>
#include <QWheelEvent>
#include <qtestspontaneevent.h>

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

/// In PATH as long as it lives: tells of one line of partitions.
class FakeSinfo {
public:
    explicit FakeSinfo(const QByteArray& line) {
        QFile sinfo(m_tools.filePath("sinfo"));
        QVERIFY(sinfo.open(QIODevice::WriteOnly));
        sinfo.write("#!/bin/sh\ncase $1 in --version) echo slurm-wlm 22.05.8;; *) echo '" + line +
                    "';; esac\n");
        sinfo.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        qputenv("PATH", m_tools.path().toLocal8Bit() + ':' + m_path);
    }
    ~FakeSinfo() { qputenv("PATH", m_path); }
    FakeSinfo(const FakeSinfo&) = delete;
    FakeSinfo& operator=(const FakeSinfo&) = delete;

private:
    const QTemporaryDir m_tools;
    const QByteArray m_path = qgetenv("PATH");
};

/// Of the card of checks.
QStringList linesOf(const NewRunPage& page) {
    const auto* card = page.findChild<QWidget*>("checkCard");
    QStringList lines;
    for (const auto* label : card->findChildren<QLabel*>())
        if (label->isVisibleTo(card))
            lines << label->text();
    return lines;
}

/// As the window's frame does.
bool closeByHand(MainWindow& window) {
    QCloseEvent close;
    QSpontaneKeyEvent::setSpontaneous(&close);
    qApp->notify(&window, &close);
    return close.isAccepted();
}

/// This computer as its login node.
Node clusterHere() {
    Node cluster;
    cluster.name = "cluster";
    cluster.isLocal = cluster.isSlurm = true;
    cluster.sbatch = {"--partition=main"};
    return cluster;
}

/// The form of a window that has that cluster, once it shows this text, whose name is "mine".
/// nullptr: it does not.
NewRunPage* formForCluster(WindowFixture& own, const QString& text) {
    if (const auto added = own.fleet().add(clusterHere()); !added) {
        qWarning("%s", added.error().message.c_str());
        return nullptr;
    }
    own.window().showNewRun();
    NewRunPage& page = own.window().newRunPage();
    page.findChild<QPlainTextEdit*>("specToml")->setPlainText(text);
    const auto* name = page.findChild<QLineEdit*>("field.name");
    return QTest::qWaitFor([name] { return name->text() == "mine"; }) ? &page : nullptr;
}

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
    void theLineThatIsWrongIsMarkedAndScrolledTo();
    void aRefusedFieldHoldsTheLaunchBack();
    void anEmptiedCountOfRanksIsAuto();
    void aDoubleClickOnLaunchCancelsNothing();
    void aRefusedFieldIsNamed();
    void aBranchIsNamedByWhatItChanges();
    void theFormShowsWhatTheModelUses();
    void listsOfPathsAreRows();
    void whatNcclSaysIsOneClickAway();
    void epochsTakeThePlaceOfSteps();
    void foldedPartsSayWhatTheyHoldAndWhatIsChanged();
    void aChangedFieldSaysWhatItWas();
    void theWheelChangesNothingInPassing();
    void theWheelNeverGivesTheFocus();
    void launchIsInSightAtEverySize_data();
    void launchIsInSightAtEverySize();
    void theSideLiesBelowWhereItIsNarrow();
    void recipesThatDoNotFitAreOneClickAway();
    void whatIsChangedOfARecipeIsKept();
    void aBranchThatIsLeftComesBackWithItsChanges();
    void aCloseSaysOnceThatRunsGoOn();
    void theFileIsADrawerOverTheRight();
    void theFileLeavesTheRecipesInSight();
    void aNodeThatIsUntickedStaysUnderTheHand();
    void dataThatIsNotThereIsRedBeforeTheLaunch();
    void stepsThatTheRanksCannotCutAreRedBeforeTheLaunch();
    void theForecastSaysWhereAndWhatIsSent();
    void stepsAreForecastForSeveralNodes();
    void aRunThatFailedIsEditedAndLaunchedAgain();
    void aNameThatARunHasAlreadyIsTold();
    void aCloseThatWouldCancelALaunchIsAskedAbout();
    void theScriptOfAJobIsShownAndTakesOptions();
    void aClusterIsJudgedByItsPartition();

private:
    template <class T>
    T* find(const QString& name) const {
        return m_window->window().newRunPage().findChild<T*>(name);
    }
    QPlainTextEdit* text() const { return find<QPlainTextEdit>("specToml"); }
    bool canLaunch() const { return find<QAbstractButton>("launch")->isEnabled(); }
    NewRunPage& page() const { return m_window->window().newRunPage(); }
    QStringList checkLines() const;
    void turnWheelOver(QWidget* widget) const;
    void type(const QString& field, const QString& value) const;
    void choose(const QString& field, const QString& value) const;

    std::unique_ptr<WindowFixture> m_window;
};

void TestNewRun::initTestCase() {
    m_window = std::make_unique<WindowFixture>(WindowFixture::Content::kEmpty);
    QVERIFY2(m_window->isGood(), qPrintable(m_window->problem()));
    m_window->window().showNewRun();
    page().findChild<SpecForm*>()->unfoldAll();
}

void TestNewRun::init() {
    m_window->window().activateWindow(); // another test's own window may have come before
    QVERIFY(QTest::qWaitForWindowActive(&m_window->window()));
    m_window->window().resize(1440, 900);
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
    const auto* hint = find<QLabel>("specHint");
    QVERIFY2(hint->text().contains("follows"), qPrintable(hint->text()));
    text()->setPlainText(QString(kText).replace("lr = 2e-3", "lr = = 2e-3"));
    auto* lr = find<QLineEdit>("field.optimizer.lr");
    QTRY_VERIFY(!lr->isEnabled());
    QVERIFY2(!hint->text().contains("follows"), qPrintable(hint->text()));
    QVERIFY(!canLaunch());
    const auto* why = find<QLabel>("formWaits"); // the text may be out of sight
    QVERIFY2(why->isVisible() && why->text().contains("line 8"), qPrintable(why->text()));
    text()->setPlainText(kText);
    QTRY_VERIFY(lr->isEnabled());
    QVERIFY(hint->text().contains("follows"));
    QVERIFY(canLaunch());
}

void TestNewRun::theLineThatIsWrongIsMarkedAndScrolledTo() {
    find<QAbstractButton>("asFile")->click();
    auto* numbered = find<NumberedText>("specToml");
    QTRY_VERIFY(numbered->isVisible() && numbered->viewport()->height() > 0);
    QVERIFY(find<QWidget>("lineNumbers")->isVisible());
    const QString before = QString("# a note\n").repeated(200); // so that the rest is out of sight
    text()->setPlainText(before + QString(kText).replace("lr = 2e-3", "lr = = 2e-3"));
    QTRY_COMPARE(numbered->wrongLines(), std::vector<int>{208});
    QVERIFY(numbered->isInSight(208) && !numbered->isInSight(1));
    QCOMPARE(numbered->textCursor().position(), 0); // it stays where a person types
    QCOMPARE(numbered->extraSelections().size(), 1);
    QCOMPARE(numbered->extraSelections().first().cursor.blockNumber() + 1, 208);
    text()->setPlainText(QString(kText) + "[train]\nsteeps = 3\n"); // an unknown key
    const int last = static_cast<int>(QString(kText).count('\n')) + 2;
    QTRY_COMPARE(numbered->wrongLines(), std::vector<int>{last});
    text()->setPlainText(kText);
    QTRY_VERIFY(numbered->wrongLines().empty() && numbered->extraSelections().isEmpty());
    find<QAbstractButton>("closeFile")->click();
}

void TestNewRun::anEmptiedCountOfRanksIsAuto() {
    auto* ranks = find<QSpinBox>(QString("ranks.") + kLocalNodeName);
    ranks->setValue(9);
    ranks->setFocus(); // else Return would press the button that has it
    QTRY_VERIFY(ranks->hasFocus());
    ranks->selectAll();
    QTest::keyClick(ranks, Qt::Key_Delete);
    QTest::keyClick(ranks, Qt::Key_Return);
    QCOMPARE(ranks->value(), 0);
    QCOMPARE(ranks->text(), ranks->specialValueText());
}

void TestNewRun::aDoubleClickOnLaunchCancelsNothing() {
    LaunchBar bar;
    bar.show();
    bar.setReady(true);
    const auto* cancel = bar.findChild<QPushButton*>("cancelLaunch");
    bar.setLaunching(true);
    QVERIFY(cancel->isVisibleTo(&bar) && !cancel->isEnabled());
    bar.setLaunching(true); // progress is told meanwhile
    QVERIFY(!cancel->isEnabled());
    QTRY_VERIFY(cancel->isEnabled());
    bar.setLaunching(true, true);
    QVERIFY(!cancel->isEnabled());
}

void TestNewRun::aRefusedFieldHoldsTheLaunchBack() {
    type("train.steps", "many");
    QVERIFY(!canLaunch());
    QCOMPARE(text()->toPlainText(), kText);
    type("train.steps", "20");
    QVERIFY(canLaunch());
    QVERIFY(text()->toPlainText().contains("steps = 20"));
}

QStringList TestNewRun::checkLines() const {
    return linesOf(page());
}

void TestNewRun::aRefusedFieldIsNamed() {
    type("train.steps", "many");
    QTRY_VERIFY2(checkLines().contains(
                     "Steps must be a whole number from 1 to 1000000000000, but holds \"many\""),
                 qPrintable(checkLines().join('\n')));
    type("train.steps", "20");
    type("optimizer.lr", "-1");
    QTRY_VERIFY2(
        checkLines().contains("Learning rate must be a number from 0 to 1000, but holds \"-1\""),
        qPrintable(checkLines().join('\n')));
}

void TestNewRun::listsOfPathsAreRows() {
    auto* first = find<QLineEdit>("field.data.train");
    QCOMPARE(first->text(), QString("/usr/share/common-licenses"));
    QVERIFY(!find<QLineEdit>("field.data.train.1"));
    auto* add = first->parentWidget()->parentWidget()->findChild<QPushButton*>("addRow");
    QCOMPARE(add->text(), QString("+ add a path"));
    add->click();
    QTest::keyClicks(find<QLineEdit>("field.data.train.1"), "/usr/share/doc; and more");
    QVERIFY2(text()->toPlainText().contains(R"("/usr/share/doc; and more")"),
             qPrintable(text()->toPlainText()));
    for (auto* remove : first->parentWidget()->findChildren<QPushButton*>("removeRow"))
        remove->click();
    QCOMPARE(first->text(), QString("/usr/share/doc; and more"));
    QVERIFY(!text()->toPlainText().contains("common-licenses"));
}

void TestNewRun::whatNcclSaysIsOneClickAway() {
    const auto count = [this] { return text()->toPlainText().count("NCCL_DEBUG=INFO"); };
    auto* button = find<QPushButton>("ncclDebug");
    button->click();
    QCOMPARE(find<QLineEdit>("field.launch.environment")->text(), QString("NCCL_DEBUG=INFO"));
    QCOMPARE(count(), 1);
    button->click();
    QCOMPARE(count(), 1);
}

void TestNewRun::epochsTakeThePlaceOfSteps() {
    auto* steps = find<QLineEdit>("field.train.steps");
    QVERIFY(steps->isVisible());
    type("train.epochs", "3");
    QVERIFY(!steps->isVisible());
    QVERIFY(text()->toPlainText().contains("epochs = 3"));
    type("train.epochs", "0");
    QVERIFY(steps->isVisible());
}

void TestNewRun::foldedPartsSayWhatTheyHoldAndWhatIsChanged() {
    page().prepare("gpt-tiny", {});
    auto* head = find<QPushButton>("part.checkpoint.head");
    QVERIFY(!head->accessibleDescription().contains("changed"));
    type("checkpoint.every", "20");
    type("checkpoint.keep_last", "2");
    QCOMPARE(head->accessibleDescription(),
             QString("every 20 steps, last 2 and best stay · 2 changed"));
    head->click();
    QVERIFY(!find<QLineEdit>("field.checkpoint.every")->isVisible());
    head->click();
    QVERIFY(find<QLineEdit>("field.checkpoint.every")->isVisible());
}

void TestNewRun::aChangedFieldSaysWhatItWas() {
    page().prepare("gpt-tiny", {});
    auto* lr = find<QLineEdit>("field.optimizer.lr");
    const QString before = lr->text();
    QVERIFY(!lr->property("changed").toBool());
    type("optimizer.lr", "5e-4");
    QVERIFY(lr->property("changed").toBool());
    QVERIFY(lr->parentWidget()->findChild<QLabel*>()->text().contains("recipe: " + before));
    type("optimizer.lr", before);
    QVERIFY(!lr->property("changed").toBool());
}

/// As the platform delivers it, but for the pointer.
void TestNewRun::turnWheelOver(QWidget* widget) const {
    const QPointF at = widget->rect().center();
    QWheelEvent down(at, widget->mapToGlobal(at), {}, {0, -240}, Qt::NoButton, Qt::NoModifier,
                     Qt::NoScrollPhase, false);
    QSpontaneKeyEvent::setSpontaneous(&down);
    qApp->notify(widget, &down);
}

void TestNewRun::theWheelChangesNothingInPassing() {
    m_window->window().resize(1000, 700);
    auto* box = find<QComboBox>("field.model.type");
    auto* bar = find<QScrollArea>("newRunScroll")->verticalScrollBar();
    QTRY_VERIFY(bar->maximum() > 0);
    bar->setValue(0);
    const QString before = text()->toPlainText();
    page().setFocus();
    turnWheelOver(box);
    QCOMPARE(box->currentText(), QString("gpt"));
    QCOMPARE(text()->toPlainText(), before);
    QTRY_VERIFY(bar->value() > 0); // it scrolls the page instead
    box->setFocus();
    QTRY_VERIFY(box->hasFocus());
    turnWheelOver(box);
    QCOMPARE(box->currentIndex(), 1);
}

void TestNewRun::theWheelNeverGivesTheFocus() {
    for (const auto* widget : m_window->window().findChildren<QWidget*>())
        if (qobject_cast<const QComboBox*>(widget) || qobject_cast<const QAbstractSpinBox*>(widget))
            if (widget->isVisible())
                QVERIFY2(widget->focusPolicy() != Qt::WheelFocus, qPrintable(widget->objectName()));
}

void TestNewRun::launchIsInSightAtEverySize_data() {
    QTest::addColumn<QSize>("size");
    for (const QSize size : {QSize(640, 400), QSize(720, 450), QSize(1000, 700), QSize(1440, 900),
                             QSize(1600, 1000), QSize(3840, 2160)})
        QTest::addRow("%d x %d", size.width(), size.height()) << size;
}

void TestNewRun::launchIsInSightAtEverySize() {
    QFETCH(QSize, size);
    m_window->window().resize(size);
    auto* scroll = find<QScrollArea>("newRunScroll");
    QTRY_COMPARE(m_window->window().size(), size);
    const auto* launch = find<QPushButton>("launch");
    QTRY_VERIFY(m_window->window().rect().contains(
        QRect(launch->mapTo(&m_window->window(), QPoint()), launch->size())));
    QTRY_VERIFY(scroll->widget()->width() <= scroll->viewport()->width());
    for (const char* field : {"field.name", "field.optimizer.lr", "field.train.precision"}) {
        const auto* control = find<QWidget>(field);
        const int right = control->mapTo(scroll->widget(), QPoint(control->width(), 0)).x();
        QVERIFY2(control->width() >= 100 && right <= scroll->viewport()->width(), field);
    }
}

void TestNewRun::theSideLiesBelowWhereItIsNarrow() {
    const auto topOf = [this](const char* name) {
        auto* widget = find<QWidget>(name);
        return widget->mapTo(&page(), QPoint()).y();
    };
    m_window->window().resize(1159, 776);
    QTRY_VERIFY(topOf("checkCard") < topOf("part.model"));
    m_window->window().resize(1000, 700);
    QTRY_VERIFY(topOf("checkCard") > topOf("part.launch"));
}

void TestNewRun::recipesThatDoNotFitAreOneClickAway() {
    m_window->window().resize(2400, 900);
    QTRY_VERIFY(find<QWidget>("recipe.translation")->isVisible());
    QVERIFY(!find<QWidget>("moreRecipes")->isVisible());
    page().prepare("gpt-tiny", {});
    m_window->window().resize(1000, 700);
    QTRY_VERIFY(find<QWidget>("moreRecipes")->isVisible());
    QVERIFY(!find<QWidget>("recipe.translation")->isVisible());
    find<QPushButton>("moreRecipes")->click();
    QVERIFY(find<QWidget>("recipe.translation")->isVisible());
    find<QPushButton>("moreRecipes")->click();
}

void TestNewRun::whatIsChangedOfARecipeIsKept() {
    page().prepare("gpt-tiny", {});
    type("train.steps", "777");
    find<QPushButton>("recipe.translation")->click();
    QVERIFY(!text()->toPlainText().contains("steps = 777"));
    find<QPushButton>("recipe.gpt-tiny")->click();
    QVERIFY(text()->toPlainText().contains("steps = 777"));
    QCOMPARE(find<QLineEdit>("field.train.steps")->text(), QString("777"));
    m_window->window().findChild<QPushButton*>("toastAction")->click();
    QVERIFY(!text()->toPlainText().contains("steps = 777"));
    find<QPushButton>("recipe.translation")->click();
    find<QPushButton>("recipe.gpt-tiny")->click();
    QVERIFY(!text()->toPlainText().contains("steps = 777"));
    QVERIFY(!m_window->window().findChild<QWidget*>("toast")->isVisible());
}

void TestNewRun::aBranchThatIsLeftComesBackWithItsChanges() {
    page().prepareBranch({.run = kFinishedRun, .checkpoint = "step-000000100", .step = 100}, kText,
                         {});
    type("train.steps", "777");
    find<QPushButton>("recipe.gpt-tiny")->click();
    QVERIFY(!text()->toPlainText().contains("steps = 777"));
    m_window->window().findChild<QPushButton*>("toastAction")->click();
    QVERIFY(text()->toPlainText().contains("steps = 777"));
    QCOMPARE(find<QLineEdit>("field.train.steps")->text(), QString("777"));
    page().prepare("gpt-tiny", {{kLocalNodeName, 1}}); // the next test begins with no branch
}

void TestNewRun::aCloseSaysOnceThatRunsGoOn() {
    WindowFixture own(WindowFixture::Content::kDemo, WindowFixture::Access::kRead);
    QVERIFY2(own.isGood(), qPrintable(own.problem()));
    MainWindow& window = own.window();
    QTRY_VERIFY(window.findChild<QAbstractItemView*>("runsTable")->model()->rowCount() > 0);
    QVERIFY(!closeByHand(window));
    auto* dialog = window.findChild<QDialog*>("closeDialog");
    QVERIFY(dialog && dialog->isVisible());
    dialog->findChild<QPushButton*>("keepOpen")->click();
    QVERIFY(window.isVisible());
    QVERIFY(closeByHand(window));
}

void TestNewRun::theFileIsADrawerOverTheRight() {
    QVERIFY(!text()->isVisible());
    find<QPushButton>("asFile")->click();
    QVERIFY(text()->isVisible());
    const auto* drawer = find<QWidget>("tomlDrawer");
    QVERIFY(drawer->x() > find<QWidget>("field.name")->mapTo(&page(), QPoint()).x());
    QVERIFY(drawer->geometry().bottom() < find<QWidget>("launchBar")->y());
    QTest::keyClick(text(), Qt::Key_Escape);
    QVERIFY(!text()->isVisible() && !find<QPushButton>("asFile")->isChecked());
    QVERIFY(find<QPushButton>("asFile")->hasFocus());
}

void TestNewRun::theFileLeavesTheRecipesInSight() {
    page().prepare("gpt-tiny", {});
    m_window->window().resize(1000, 700);
    auto* scroll = find<QScrollArea>("newRunScroll");
    const auto* strip = page().findChild<RecipeStrip*>();
    QTRY_VERIFY(scroll->verticalScrollBar()->maximum() > 0);
    scroll->verticalScrollBar()->setValue(0);
    find<QPushButton>("asFile")->click();
    const auto* drawer = find<QWidget>("tomlDrawer");
    const auto endOfRecipes = [&] { return strip->mapTo(&page(), QPoint(0, strip->height())).y(); };
    QTRY_VERIFY2(drawer->isVisible() && drawer->y() >= endOfRecipes(),
                 qPrintable(QString("%1 < %2").arg(drawer->y()).arg(endOfRecipes())));
    const int oneRow = strip->height();
    find<QPushButton>("moreRecipes")->click();
    QTRY_VERIFY(strip->height() > oneRow && drawer->y() >= endOfRecipes());
    find<QPushButton>("moreRecipes")->click();
    // Once they are scrolled away it takes their room.
    scroll->verticalScrollBar()->setValue(scroll->verticalScrollBar()->maximum());
    QTRY_COMPARE(drawer->y(), scroll->y());
    scroll->verticalScrollBar()->setValue(0);
    QTRY_VERIFY(drawer->y() >= endOfRecipes());
    find<QPushButton>("asFile")->click();
}

/// What is checked changes below it, and its room with that.
void TestNewRun::aNodeThatIsUntickedStaysUnderTheHand() {
    m_window->window().resize(1000, 700);
    QTRY_VERIFY_WITH_TIMEOUT(checkLines().contains("This computer: the data is there"), 20'000);
    auto* scroll = find<QScrollArea>("newRunScroll");
    auto* bar = scroll->verticalScrollBar();
    auto* box = find<QCheckBox>(QString("place.") + kLocalNodeName);
    auto* part = find<QWidget>("part.launch");
    QTRY_VERIFY(box->mapTo(&page(), QPoint()).y() > part->mapTo(&page(), QPoint()).y() &&
                bar->maximum() > 0);
    bar->setValue(bar->maximum());
    QTRY_VERIFY(!box->visibleRegion().isEmpty());
    const auto at = [&] { return box->mapTo(&page(), QPoint()).y(); };
    const int before = at();
    QTest::mouseClick(box, Qt::LeftButton, {}, {8, box->height() / 2});
    QTRY_VERIFY(checkLines().contains("Choose at least one node"));
    for (int turn = 0; turn < 5; ++turn) // layouts follow each other
        QCoreApplication::processEvents();
    QCOMPARE(at(), before);
    QTest::mouseClick(box, Qt::LeftButton, {}, {8, box->height() / 2});
    QTRY_VERIFY_WITH_TIMEOUT(checkLines().contains("This computer: the data is there"), 20'000);
    for (int turn = 0; turn < 5; ++turn)
        QCoreApplication::processEvents();
    QCOMPARE(at(), before);
}

void TestNewRun::dataThatIsNotThereIsRedBeforeTheLaunch() {
    QTRY_VERIFY2_WITH_TIMEOUT(checkLines().contains("This computer: the data is there"),
                              qPrintable(checkLines().join('\n')), 20'000);
    type("data.train", "/no/such/folder");
    QTRY_VERIFY2_WITH_TIMEOUT(
        checkLines().contains(
            "This computer: data.train names /no/such/folder, which is not there"),
        qPrintable(checkLines().join('\n')), 20'000);
    QVERIFY(!canLaunch());
    const auto* field = find<QLineEdit>("field.data.train");
    QVERIFY(field->property("invalid").toBool());
    QVERIFY2(field->toolTip().contains("is not there"), qPrintable(field->toolTip()));
    type("data.train", "/usr/share/common-licenses");
    QTRY_VERIFY_WITH_TIMEOUT(checkLines().contains("This computer: the data is there"), 20'000);
    QTRY_VERIFY(canLaunch());
    QVERIFY(!field->property("invalid").toBool());
}

void TestNewRun::stepsThatTheRanksCannotCutAreRedBeforeTheLaunch() {
    const auto show = [this](const char* globalBatch) {
        text()->setPlainText(kText + "[train]\nbatch_size = 2\nglobal_batch = " + globalBatch +
                             "\n[launch]\ndevice = \"cpu\"\n");
    };
    show("7");
    const auto isReported = [this] {
        return !checkLines()
                    .filter("cut steps of 7 samples of train.global_batch: 1 rank takes 2")
                    .isEmpty();
    };
    QTRY_VERIFY2_WITH_TIMEOUT(isReported(), qPrintable(checkLines().join('\n')), 20'000);
    QVERIFY(!canLaunch());
    // Nor does what the nodes said of those stay.
    show("8");
    const auto isWhole = [this] {
        return !checkLines().filter("all ranks train on CPUs").isEmpty();
    };
    QTRY_VERIFY2_WITH_TIMEOUT(isWhole() && !isReported() && canLaunch(),
                              qPrintable(checkLines().join('\n')), 20'000);
    // What is unsound in itself is told once.
    text()->setPlainText(kText + "[train]\nbatch_size = 0\nglobal_batch = 8\n");
    QTRY_VERIFY2_WITH_TIMEOUT(checkLines().filter("train.batch_size").size() == 1 && !canLaunch(),
                              qPrintable(checkLines().join('\n')), 20'000);
    QCOMPARE(checkLines().filter("samples").size(), 0);
}

void TestNewRun::theForecastSaysWhereAndWhatIsSent() {
    const auto* forecast = find<QLabel>("forecast");
    QTRY_VERIFY2_WITH_TIMEOUT(
        forecast->text().startsWith("1 rank on This computer · nothing to send · "),
        qPrintable(forecast->text()), 20'000);
}

void TestNewRun::stepsAreForecastForSeveralNodes() {
    find<QPushButton>("whatWillRun")->click();
    auto* plan = m_window->window().findChild<PlanDialog*>();
    QVERIFY(plan);
    const auto* forecast = plan->findChild<QPushButton*>("forecastSteps");
    QVERIFY(!forecast->isEnabled()); // one node alone
    QCOMPARE(forecast->toolTip(), QString("For two nodes or more"));
    plan->close();
    auto* several = new PlanDialog("2 ranks on a, b", kText, true, &m_window->window());
    const QSignalSpy requested(several, &PlanDialog::forecastRequested);
    several->open();
    several->findChild<QPushButton*>("forecastSteps")->click();
    QCOMPARE(requested.size(), 1);
    several->close();
    QTRY_VERIFY(!m_window->window().findChild<PlanDialog*>());
}

void TestNewRun::aRunThatFailedIsEditedAndLaunchedAgain() {
    WindowFixture demo(WindowFixture::Content::kDemo);
    demo.window().showRun(kFailedRun);
    auto* edit = demo.window().findChild<QPushButton*>("editAgain");
    QTRY_VERIFY(edit->isVisible());
    const auto* spec = demo.window().findChild<QPlainTextEdit*>("specText");
    QTRY_VERIFY(!spec->toPlainText().isEmpty());
    edit->click();
    NewRunPage& page = demo.window().newRunPage();
    QVERIFY(page.isVisible());
    QCOMPARE(page.findChild<QPlainTextEdit*>("specToml")->toPlainText(), spec->toPlainText());
}

void TestNewRun::aNameThatARunHasAlreadyIsTold() {
    WindowFixture demo(WindowFixture::Content::kDemo);
    demo.window().showNewRun();
    NewRunPage& page = demo.window().newRunPage();
    auto* name = page.findChild<QLineEdit*>("field.name");
    const auto isReported = [&] {
        return std::ranges::any_of(linesOf(page), [](const QString& line) {
            return line.startsWith("A run is called gpt-tiny already, " + kFinishedRun);
        });
    };
    const auto type = [name](const QString& text) {
        name->selectAll();
        QTest::keyClicks(name, text);
    };
    type("gpt-tiny");
    QTRY_VERIFY2(isReported(), qPrintable(linesOf(page).join('\n')));
    const QString resumed =
        QString(kText).replace("mine", "gpt-tiny") + "[checkpoint]\non_existing = \"resume\"\n";
    page.prepareAgain({}, resumed, {}); // goes on as that run
    QTRY_VERIFY2(!isReported(), qPrintable(linesOf(page).join('\n')));
    QCOMPARE(name->text(), QString("gpt-tiny"));
    page.prepareBranch({.run = kFinishedRun, .checkpoint = "step-000000100", .step = 100}, resumed,
                       {}); // is a run of its own all the same
    type("gpt-tiny");
    QTRY_VERIFY2(isReported(), qPrintable(linesOf(page).join('\n')));
    type("a name of its own");
    QTRY_VERIFY2(!isReported(), qPrintable(linesOf(page).join('\n')));
}

void TestNewRun::aCloseThatWouldCancelALaunchIsAskedAbout() {
    const SilentPort silent;
    QVERIFY(silent.port() > 0);
    WindowFixture own(WindowFixture::Content::kEmpty, WindowFixture::Access::kWrite);
    QVERIFY2(own.isGood(), qPrintable(own.problem()));
    QVERIFY(own.fleet().add({"silent", false, "127.0.0.1", {}, silent.port(), {}}));
    MainWindow& window = own.window();
    QVERIFY(closeByHand(window)); // nothing would be lost
    const auto spec = loadSpecOrRecipe("gpt-tiny", {});
    QVERIFY(spec);
    own.engine().ask(LaunchRequest{**spec, {{"silent", 1}}, "x-1", IfTooLarge::kRefuse});
    QCOMPARE(own.engine().ownLaunches(), QStringList("x-1"));
    QVERIFY(!closeByHand(window));
    const auto dialog = [&window] { return window.findChild<QDialog*>("closeDialog"); };
    QVERIFY(dialog() && dialog()->isVisible());
    dialog()->findChild<QPushButton*>("keepOpen")->click();
    QTRY_VERIFY(!dialog());
    QVERIFY(window.isVisible());
    QVERIFY(!closeByHand(window));
    dialog()->findChild<QPushButton*>("closeAnyway")->click();
    QTRY_VERIFY(!window.isVisible());
}

void TestNewRun::theScriptOfAJobIsShownAndTakesOptions() {
    const FakeSinfo sinfo("main*|up|infinite|4|idle|8|16000|(null)");
    WindowFixture own(WindowFixture::Content::kEmpty);
    NewRunPage* page = formForCluster(own, kText);
    QVERIFY(page);
    auto* spec = page->findChild<QPlainTextEdit*>("specToml");
    auto* button = page->findChild<QPushButton*>("jobScriptButton");
    QVERIFY(!button->isVisible());
    page->prepare({}, {{"cluster", 4}});
    QTRY_VERIFY_WITH_TIMEOUT(button->isVisible() && button->isEnabled(), 20'000);
    button->click();
    auto* dialog = own.window().findChild<QDialog*>("jobScriptDialog");
    QVERIFY(dialog);
    auto* script = dialog->findChild<QPlainTextEdit*>("jobScript");
    auto* use = dialog->findChild<QPushButton*>("useLines");
    const auto* problem = dialog->findChild<QLabel*>("jobProblem");
    const auto hasLine = [script](const QString& line) {
        return script->toPlainText().split('\n').contains(line);
    };
    QTRY_VERIFY2_WITH_TIMEOUT(hasLine("#SBATCH --nodes=4"),
                              qPrintable(problem->text() + script->toPlainText()), 20'000);
    QVERIFY(hasLine("#SBATCH --partition=main"));
    QVERIFY(script->isReadOnly());
    auto* lines = dialog->findChild<QPlainTextEdit*>("jobLines");
    lines->setPlainText("#SBATCH account=mine");
    QTRY_VERIFY_WITH_TIMEOUT(
        problem->text().contains("launch.sbatch holds \"account=mine\", but an option for sbatch "
                                 "must be one line that begins with -"),
        20'000);
    QVERIFY(!use->isEnabled());
    lines->setPlainText("#!/bin/bash\n--account=mine\n#SBATCH --qos=high\n#SRUN "
                        "--mpi=none\n\nmodule load \\\n  --latest cuda\n");
    QTRY_VERIFY_WITH_TIMEOUT(use->isEnabled(), 20'000);
    QVERIFY(hasLine("#SBATCH --account=mine") && hasLine("#SBATCH --qos=high"));
    QCOMPARE(script->toPlainText().count("#!"), 1);
    QVERIFY(script->toPlainText().contains(" --kill-on-bad-exit=0 --mpi=none \\\n"));
    QVERIFY(script->toPlainText().indexOf("module load \\\n  --latest cuda\n") <
            script->toPlainText().indexOf("srun"));
    QVERIFY(!problem->isVisible());
    use->click();
    QTRY_VERIFY2(
        spec->toPlainText().endsWith("[launch]\nsbatch = [ \"--account=mine\", \"--qos=high\" ]\n"
                                     "job_setup = [ \"module load \\\\\", \"  --latest cuda\" ]\n"
                                     "srun = [ \"--mpi=none\" ]\n"),
        qPrintable(spec->toPlainText()));
}

/// Its login node, this computer, has other processors, and no GPU in sight.
void TestNewRun::aClusterIsJudgedByItsPartition() {
    const FakeSinfo sinfo("main*|up|infinite|4|idle|8|16000|gpu:a100:4");
    WindowFixture own(WindowFixture::Content::kEmpty);
    NewRunPage* page = formForCluster(own, kText + "[launch]\ndevice = \"cpu\"\nranks = 8\n");
    QVERIFY(page);
    auto* spec = page->findChild<QPlainTextEdit*>("specToml");
    auto* button = page->findChild<QPushButton*>("jobScriptButton");
    const auto* forecast = page->findChild<QLabel*>("forecast");
    page->prepare({}, {{"cluster", 32}});
    QTRY_VERIFY2_WITH_TIMEOUT(forecast->text().contains("32 ranks on cluster"),
                              qPrintable(forecast->text()), 20'000);
    QVERIFY(button->isEnabled());
    page->prepare({}, {{"cluster", 33}});
    QTRY_VERIFY2_WITH_TIMEOUT(
        forecast->text().contains("that is 5 nodes, and its partition main has 4"),
        qPrintable(forecast->text()), 20'000);
    spec->setPlainText(kText + "[launch]\ndevice = \"cuda\"\n");
    page->prepare({}, {{"cluster", 8}});
    // Whether or not this build has a runtime for them: that is another matter.
    const auto hasAnswered = [page] {
        const QString lines = linesOf(*page).join('\n');
        return lines.contains("the data is there") || lines.contains("find the trainer for GPUs");
    };
    QTRY_VERIFY2_WITH_TIMEOUT(hasAnswered() && button->isEnabled(),
                              qPrintable(linesOf(*page).join('\n') + forecast->text()), 20'000);
    button->click();
    const auto* script = own.window().findChild<QPlainTextEdit*>("jobScript");
    QVERIFY(script);
    QTRY_VERIFY2_WITH_TIMEOUT(script->toPlainText().contains("#SBATCH --gpus-per-node=4\n"),
                              qPrintable(script->toPlainText()), 20'000);
    QVERIFY(script->toPlainText().contains("#SBATCH --nodes=2\n"));
}

void TestNewRun::aBranchIsNamedByWhatItChanges() {
    WindowFixture own(WindowFixture::Content::kEmpty);
    own.window().showNewRun();
    NewRunPage& branch = own.window().newRunPage();
    branch.findChild<SpecForm*>()->unfoldAll();
    branch.prepareBranch({.run = "parent", .checkpoint = "step-000000100", .step = 100}, kText, {});
    auto* name = branch.findChild<QLineEdit*>("field.name");
    auto* lr = branch.findChild<QLineEdit*>("field.optimizer.lr");
    QTRY_COMPARE(lr->text(), QString("0.002"));
    const auto typeInto = [](QLineEdit* edit, const QString& value) {
        edit->selectAll();
        QTest::keyClicks(edit, value);
    };
    typeInto(lr, "5e-4");
    QTRY_COMPARE(name->text(), QString("mine, lr 5e-4"));
    typeInto(name, "another");
    typeInto(lr, "6e-4");
    QTRY_VERIFY(branch.findChild<QPlainTextEdit*>("specToml")->toPlainText().contains("0.0006"));
    QCOMPARE(name->text(), QString("another"));
}

void TestNewRun::theFormShowsWhatTheModelUses() {
    QVERIFY(find<QWidget>("field.data.tokenizer")->isVisible());
    QVERIFY(find<QLineEdit>("field.validation.prompt")->isVisible());
    QVERIFY(!find<QLineEdit>("field.model.image_size")->isVisible());
    choose("model.type", "resnet50");
    QVERIFY(!find<QLineEdit>("field.validation.prompt")->isVisible());
    QVERIFY(find<QLineEdit>("field.model.image_size")->isVisible());
    QVERIFY(!find<QWidget>("field.data.tokenizer")->isVisible());
    choose("model.type", "translation");
    QVERIFY(find<QLineEdit>("field.validation.beams")->isVisible());
    QVERIFY(!find<QLineEdit>("field.model.image_size")->isVisible());
}

QTEST_MAIN(TestNewRun)
#include "tst_new_run.moc"
