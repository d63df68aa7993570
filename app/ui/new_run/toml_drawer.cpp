// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run/toml_drawer.h"

#include "app/ui/new_run/numbered_text.h"
#include "app/ui/widgets/label.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QRegularExpression>
#include <QTextCursor>
#include <QVBoxLayout>

namespace rm {

namespace {

/// The lines that an error of parseRunSpec() names.
std::vector<int> linesIn(const QString& problem) {
    static const QRegularExpression form("\\bline (\\d+)");
    std::vector<int> lines;
    for (const QRegularExpressionMatch& match : form.globalMatch(problem))
        lines.push_back(match.captured(1).toInt());
    return lines;
}

} // namespace

TomlDrawer::TomlDrawer(QWidget* page)
    : Card(page)
    , m_hint(new ElidedLabel({}, "caption"))
    , m_text(new NumberedText)
    , m_problem(makeText({}, "bad")) {
    setObjectName("tomlDrawer");
    auto* head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("As a file"), "cardTitle"));
    m_hint->setObjectName("specHint");
    m_hint->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_hint->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    head->addWidget(m_hint, 1);
    QPushButton* close = makeButton(tr("Close"), "quiet", "closeFile");
    head->addWidget(close);
    body()->addLayout(head);
    m_text->setObjectName("specToml");
    m_text->setAccessibleName(tr("Run spec as TOML"));
    m_text->setLineWrapMode(QPlainTextEdit::WidgetWidth);
    m_text->setTabChangesFocus(true);
    body()->addWidget(m_text, 1);
    m_problem->setObjectName("specError");
    body()->addWidget(m_problem);
    setProblem({});
    connect(m_text, &QPlainTextEdit::textChanged, this, &TomlDrawer::edited);
    connect(close, &QPushButton::clicked, this, &TomlDrawer::closeRequested);
    hide();
}

void TomlDrawer::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        Q_EMIT closeRequested();
    else
        Card::keyPressEvent(event);
}

QString TomlDrawer::text() const {
    return m_text->toPlainText();
}

void TomlDrawer::setText(const QString& toml) {
    m_text->setPlainText(toml);
}

void TomlDrawer::amend(const QString& toml) {
    const QSignalBlocker quiet(this);
    const QString before = text();
    const auto shorter = std::min(before.size(), toml.size());
    qsizetype head = 0, tail = 0;
    while (head < shorter && before[head] == toml[head])
        ++head;
    while (tail < shorter - head &&
           before[before.size() - 1 - tail] == toml[toml.size() - 1 - tail])
        ++tail;
    QTextCursor cursor(m_text->document());
    cursor.setPosition(static_cast<int>(head));
    cursor.setPosition(static_cast<int>(before.size() - tail), QTextCursor::KeepAnchor);
    cursor.insertText(toml.mid(head, toml.size() - tail - head));
}

void TomlDrawer::setProblem(const QString& problem) {
    m_problem->setText(problem);
    m_problem->setVisible(!problem.isEmpty());
    m_text->setWrongLines(linesIn(problem));
    m_hint->setFullText(problem.isEmpty() ? tr("the form follows this text")
                                          : tr("the form waits until this text can be read"));
    setStyleProperty(m_text, "invalid", !problem.isEmpty());
}

void TomlDrawer::setReadOnly(bool readOnly) {
    m_text->setReadOnly(readOnly);
}

} // namespace rm
