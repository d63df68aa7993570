// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/store_writer.h"
#include "app/ui/compare/compare_page.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/run/run_page.h"
#include "shared/io/clock.h"
#include "tests/gui/support/window_fixture.h"

#include <QAbstractItemView>
#include <QLabel>
#include <QPushButton>
#include <QTest>
#include <QTextDocument>

using namespace rm;
using namespace rm::test;

namespace {

const QString kRun = "hostile-000001";
const std::string kPicture = "<img src=x>";
const std::string kBold = "<b>lr</b>";

/// What a hostile node may journal, and a person may call a run.
Result<void> storeHostileRun(StoreWriter& store) {
    const int64_t now = wallNowNs();
    const auto created = store.createRun({kRun,
                                          QString::fromStdString(kBold + " run"),
                                          "name = \"x\"\n",
                                          {{0, "node-a", 1, 0}},
                                          {},
                                          0});
    if (!created)
        return created;
    IngestBatch batch;
    batch.run = kRun;
    batch.cursors = {{"journal/rank-00000.rmj", 100}, {"journal/node-00000.rmj", 100}};
    CheckpointSaved saved;
    saved.step = 1;
    saved.wallNs = now;
    saved.path = "/" + kPicture;
    saved.reason = kPicture;
    batch.records = {AttemptStarted{1, 0, 1, 0, now, {}}, saved,
                     CommandApplied{"c-1", kBold, 1, now, false, kPicture},
                     Event{0, 1, now, Severity::kWarning, "x", kPicture + " of a node"},
                     AttemptEnded{1, Outcome::kFailed, 0, 1, now, kPicture}};
    batch.logLines.push_back({0, kPicture});
    if (auto stored = store.ingest(batch); !stored)
        return stored;
    const auto tagged = store.setTags(kRun, {QString::fromStdString(kBold)});
    return tagged ? store.setNotes(kRun, QString::fromStdString(kPicture)) : tagged;
}

/// Texts that Qt would draw as something else than they are.
QStringList interpreted(const QWidget& window) {
    QStringList found;
    const auto look = [&](const QString& text, const QString& where) {
        if (text.contains("<img") || text.contains("<b>"))
            if (Qt::mightBeRichText(text))
                found << where + ": " + text;
    };
    for (const auto* widget : window.findChildren<QWidget*>()) {
        look(widget->toolTip(), "the tooltip of " + widget->objectName());
        if (const auto* label = qobject_cast<const QLabel*>(widget);
            label && label->textFormat() != Qt::PlainText)
            found << "the format of label '" + label->text() + "'";
        const auto* view = qobject_cast<const QAbstractItemView*>(widget);
        for (int row = 0; view && view->model() && row < view->model()->rowCount(); ++row)
            for (int column = 0; column < view->model()->columnCount(); ++column)
                look(view->model()->index(row, column).data(Qt::ToolTipRole).toString(),
                     "a cell of " + view->objectName());
    }
    return found;
}

/// What a check of a hostile node may find, on the page of nodes.
void showHostileCheck(WindowFixture& demo) {
    NodeCheck check;
    check.node = kLocalNodeName;
    check.checkedNs = 1;
    check.rows = {{kPicture, CheckRow::State::kWarning, kBold, kPicture, kBold, kPicture,
                   CheckAction{CheckAction::Kind::kCopyCommand, kBold, kPicture}}};
    demo.fleet().setChecker(
        [check](const QString&, const Credentials&) { return QtFuture::makeReadyFuture(check); });
    demo.window().showNodes();
    demo.fleet().check(kLocalNodeName);
    QTRY_VERIFY(demo.window().findChild<QPushButton*>("checkAction"));
}

/// How many of the hostile texts the window shows in some tooltip, as they are.
int shownEscaped(const QWidget& window) {
    int found = 0;
    const auto count = [&](const QString& text) { found += text.contains("&lt;") ? 1 : 0; };
    for (const auto* widget : window.findChildren<QWidget*>()) {
        count(widget->toolTip());
        const auto* view = qobject_cast<const QAbstractItemView*>(widget);
        for (int row = 0; view && view->model() && row < view->model()->rowCount(); ++row)
            for (int column = 0; column < view->model()->columnCount(); ++column)
                count(view->model()->index(row, column).data(Qt::ToolTipRole).toString());
    }
    return found;
}

} // namespace

/// Texts of nodes, logs, files and names are shown as they are, never as the HTML that they hold.
class TestPlainTexts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void textsThatLookLikeHtmlAreEscaped() {
        QCOMPARE(asPlain("step 3 < 4\nnext"), QString("step 3 < 4\nnext"));
        for (const std::string& hostile : {kPicture, kBold, kBold + "\n& more"}) {
            QTextDocument drawn;
            drawn.setHtml(asPlain(QString::fromStdString(hostile)));
            QCOMPARE(drawn.toPlainText(), QString::fromStdString(hostile));
            drawn.setHtml(asHtml(QString::fromStdString(hostile)));
            QCOMPARE(drawn.toPlainText(), QString::fromStdString(hostile));
        }
    }

    void noPageTakesThemForHtml() {
        WindowFixture demo(&storeHostileRun);
        QVERIFY2(demo.isGood(), qPrintable(demo.problem()));
        MainWindow& window = demo.window();
        window.showRuns();
        QTRY_VERIFY(shownEscaped(window) > 0);
        const auto holds = [&] {
            const QStringList found = interpreted(window);
            if (!found.isEmpty())
                qWarning("%s", qPrintable(found.join('\n')));
            return found.isEmpty();
        };
        QVERIFY(holds());
        showHostileCheck(demo);
        QVERIFY(holds());
        window.showRun(kRun);
        QTRY_VERIFY(window.findChild<QAbstractItemView*>("events")->model()->rowCount() > 0);
        QVERIFY(holds());
        window.runPage().showTab(RunPage::kCheckpoints);
        QTRY_COMPARE(window.findChild<QAbstractItemView*>("checkpointsTable")->model()->rowCount(),
                     1);
        QVERIFY(holds());
        window.showNewRun();
        QVERIFY(holds());
        window.showMachines();
        QVERIFY(holds());
        window.compare({kRun});
        QTRY_VERIFY(!window.comparePage().findChildren<QLabel*>().isEmpty());
        QVERIFY(holds());
    }
};

QTEST_MAIN(TestPlainTexts)
#include "tst_plain_texts.moc"
