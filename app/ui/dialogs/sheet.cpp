// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/dialogs/sheet.h"

#include "app/ui/dialogs/manual_window.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/widgets/fitting_area.h"
#include "app/ui/widgets/label.h"

#include <QKeyEvent>
#include <QMap>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QToolTip>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace rm {

namespace {

/// The topics of the manual by the names of dialogs.
const QMap<QString, QString>& topics() {
    static const QMap<QString, QString> all = {
        {"addNodeDialog", "nodes"},
        {"checkHistoryDialog", "nodes"},
        {"cleanDialog", "runs"},
        {"cleanNodesDialog", "nodes"},
        {"closeDialog", "failures"},
        {"columnsDialog", "runs"},
        {"commandsDialog", "change"},
        {"compareDialog", "checkpoints"},
        {"compareExportDialog", "compare"},
        {"copyDialog", "checkpoints"},
        {"editNodeDialog", "nodes"},
        {"emptyTrashDialog", "runs"},
        {"endLeftoversDialog", "failures"},
        {"enqueueDialog", "queue"},
        {"filterNameDialog", "runs"},
        {"forecastDialog", "launch"},
        {"groupDialog", "runs"},
        {"hostKeyDialog", "nodes"},
        {"importNodesDialog", "nodes"},
        {"jobScriptDialog", "slurm"},
        {"killDialog", "change"},
        {"layoutNameDialog", "watch#arrange-the-charts"},
        {"linkTestDialog", "network"},
        {"logExportDialog", "watch"},
        {"lostDialog", "failures"},
        {"metricsExportDialog", "watch"},
        {"ownChartDialog", "watch#arrange-the-charts"},
        {"passwordDialog", "nodes"},
        {"planDialog", "launch"},
        {"queueDialog", "queue"},
        {"rangeDialog", "watch#arrange-the-charts"},
        {"removeDialog", "checkpoints"},
        {"removeNodeDialog", "nodes"},
        {"renameDialog", "runs"},
        {"restoreDialog", "checkpoints"},
        {"resumeDialog", "checkpoints"},
        {"revertDialog", "change#settings"},
        {"setDialog", "change"},
        {"stepDialog", "change"},
        {"stopDialog", "change"},
        {"stopRunsDialog", "runs"},
        {"tableTwinDialog", "watch#charts"},
        {"tagsDialog", "runs"},
        {"tooLargeDialog", "launch"},
        {"trashDialog", "runs"},
        {"tryDialog", "checkpoints#try-one"},
        {"traceDialog", "watch#traces"},
        {"traceExportDialog", "watch#traces"},
        {"traceTableDialog", "watch#traces"},
        {"chartExportDialog", "watch#charts"},
        {"chartExportFileDialog", "watch#charts"},
    };
    return all;
}

QWidget* makeBody(QLabel* text, QVBoxLayout* content) {
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    column->addWidget(text);
    content->setSpacing(2 * size::kGrid);
    column->addLayout(content, 1);
    return body;
}

} // namespace

Sheet::Sheet(const QString& title, const QString& text, const char* objectName, QWidget* parent)
    : QDialog(parent)
    , m_content(new QVBoxLayout)
    , m_text(makeText({}, "bodySecondary"))
    , m_body(new FittingArea(makeBody(m_text, m_content)))
    , m_buttons(new QHBoxLayout)
    , m_wantedWidth(size::kDialogWidth) {
    setObjectName(objectName);
    setWindowTitle(title);
    setAccessibleName(title);
    setAttribute(Qt::WA_DeleteOnClose);
    setMinimumWidth(size::kDialogWidth);
    setText(text);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(size::kPageX, size::kPageY, size::kPageX, size::kPageY);
    column->setSpacing(size::kCardGap);
    column->addWidget(new ElidedLabel(title, "cardTitle"));
    column->addWidget(m_body, 1);
    m_buttons->setSpacing(2 * size::kGrid);
    m_buttons->addStretch(1);
    column->addSpacing(size::kGrid);
    column->addLayout(m_buttons);
}

QString Sheet::manualTopic() const {
    return topics().value(objectName(), kManualIndex);
}

/// Once the dialog has all else, so that the button is the last one for the keyboard.
void Sheet::offerHelp() {
    if (findChild<QPushButton*>("sheetHelp"))
        return;
    QPushButton* help = makeButton(tr("Help"), "quiet", "sheetHelp", this);
    help->setToolTip(tr("What the manual says of it (F1)"));
    help->setAutoDefault(false);
    connect(help, &QPushButton::clicked, this, &Sheet::showHelp);
    m_buttons->insertWidget(0, help);
    help->show();
}

/// In a window of its own above the dialog, which blocks all others; it goes with the dialog.
void Sheet::showHelp() {
    auto* manual = findChild<ManualWindow*>();
    if (!manual) {
        auto read = Manual::read();
        if (!read) {
            QToolTip::showText(mapToGlobal(QPoint()),
                               asPlain(QString::fromStdString(read.error().message)));
            return;
        }
        manual = new ManualWindow(std::move(*read), this);
    }
    const QString place = manualTopic();
    manual->showTopic(place.section('#', 0, 0), place.section('#', 1));
    manual->show();
    manual->raise();
    manual->activateWindow();
}

void Sheet::setText(const QString& text) {
    m_text->setText(text);
    m_text->setVisible(!text.isEmpty());
}

/// Wide enough for the buttons, and for a path without a place to break it, which would be cut.
QSize Sheet::sizeHint() const {
    const QSize screen = this->screen()->availableSize() - QSize(2 * size::kGrid, size::kTitleBar);
    const int longestWord = m_body->widget()->layout()->totalMinimumSize().width();
    const int inSight = std::max(longestWord, m_buttons->sizeHint().width());
    const int width = std::min(std::max(m_wantedWidth, inSight + 2 * size::kPageX), screen.width());
    const int inside = width - 2 * size::kPageX;
    const int height = layout()->totalSizeHint().height() - m_body->sizeHint().height() +
                       m_body->heightFor(inside);
    return {width, std::min(height, screen.height())};
}

/// Also where it grows while it is shown, it stays on the screen with its buttons.
void Sheet::fit() {
    const QSize wanted = sizeHint();
    if (std::exchange(m_fitted, wanted) == wanted)
        return;
    // Between the window manager's answers Qt may take the place within its frame, 0 and 0, for
    // that on the screen, and would move it there.
    if (isVisible() && geometry().topLeft().isNull() && !m_place.isNull())
        setGeometry(QRect(m_place, wanted));
    else
        resize(wanted);
    const QRect place = screen()->availableGeometry();
    const QPoint over = frameGeometry().bottomRight() - place.bottomRight();
    if (over.x() > 0 || over.y() > 0)
        move(std::max(place.left(), x() - std::max(0, over.x())),
             std::max(place.top(), y() - std::max(0, over.y())));
}

void Sheet::bringIntoSight(QWidget* widget) {
    const auto show = [this, widget] { m_body->ensureWidgetVisible(widget, 0, size::kGrid); };
    QMetaObject::invokeMethod(widget, show, Qt::QueuedConnection);
}

bool Sheet::event(QEvent* event) {
    const bool isDone = QDialog::event(event);
    if (event->type() == QEvent::LayoutRequest && isVisible())
        fit();
    return isDone;
}

void Sheet::showEvent(QShowEvent* event) {
    offerHelp();
    fit(); // QDialog takes two thirds of the screen at most, and places what it finds
    QDialog::showEvent(event);
    m_place = geometry().topLeft();
    if (parentWidget())
        parentWidget()->window()->installEventFilter(this);
}

bool Sheet::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::WindowActivate && isVisible() && isModal())
        activateWindow();
    return QDialog::eventFilter(watched, event);
}

// A dialog gives Return to its default button alone; one that may destroy something has none.
void Sheet::keyPressEvent(QKeyEvent* event) {
    auto* button = qobject_cast<QPushButton*>(focusWidget());
    const bool isReturn = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (isReturn && button)
        button->click();
    else if (event->key() == Qt::Key_F1)
        showHelp();
    else if (event->key() == Qt::Key_PageUp)
        m_body->verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepSub);
    else if (event->key() == Qt::Key_PageDown)
        m_body->verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepAdd);
    else
        QDialog::keyPressEvent(event);
}

QPushButton* Sheet::addButton(const QString& text, const char* role, const char* objectName) {
    QPushButton* button = makeButton(text, role, objectName, this);
    m_buttons->addWidget(button);
    return button;
}

QPushButton* Sheet::addCancel() {
    QPushButton* cancel = addButton(tr("Cancel"), "", "cancel");
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    return cancel;
}

} // namespace rm
