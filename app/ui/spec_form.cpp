// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/spec_form.h"

#include "app/ui/spec_field.h"
#include "app/ui/theme.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/label.h"

#include <QGridLayout>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

namespace {

std::string_view sectionOf(std::string_view key) {
    const size_t dot = key.find('.');
    return dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
}

QString sectionTitle(std::string_view section) {
    if (section.empty())
        return SpecForm::tr("Run");
    if (section == "train")
        return SpecForm::tr("Training");
    if (section == "checkpoint")
        return SpecForm::tr("Checkpoints");
    QString title = QString::fromUtf8(section.data(), static_cast<qsizetype>(section.size()));
    title[0] = title[0].toUpper();
    return title;
}

} // namespace

SpecForm::SpecForm(QWidget* parent)
    : QWidget(parent) {
    buildUi();
    setSpec(m_spec);
}

void SpecForm::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    std::string_view section = "\n";
    QGridLayout* grid = nullptr;
    for (const SpecField& field : specSchema()) {
        if (sectionOf(field.key) != section) {
            section = sectionOf(field.key);
            grid = addSection(sectionTitle(section));
        }
        addField(grid, field);
    }
    column->addStretch(1);
}

QGridLayout* SpecForm::addSection(const QString& title) {
    auto* card = new Card;
    card->body()->addWidget(makeLabel(title, "cardTitle"));
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(size::kCardGap);
    grid->setVerticalSpacing(6);
    grid->setColumnMinimumWidth(0, size::kFormLabel);
    grid->setColumnStretch(1, 1);
    card->body()->addSpacing(2);
    card->body()->addLayout(grid);
    static_cast<QVBoxLayout*>(layout())->addWidget(card);
    return grid;
}

void SpecForm::addField(QGridLayout* grid, const SpecField& field) {
    SpecFieldEditor* editor = SpecFieldEditor::make(field, this);
    auto* label = new ElidedLabel(
        QString::fromUtf8(field.label.data(), static_cast<qsizetype>(field.label.size())),
        "bodySecondary");
    label->setBuddy(editor);
    label->setToolTip(fieldToolTip(field));
    label->setFixedWidth(size::kFormLabel);
    const int row = grid->rowCount();
    grid->addWidget(label, row, 0);
    grid->addWidget(editor, row, 1);
    connect(editor, &SpecFieldEditor::edited, this, [this, editor] {
        if (!editor->store(m_spec)) {
            Q_EMIT refused();
            return;
        }
        showWhatTheModelUses();
        Q_EMIT edited(editor->field());
    });
    m_editors.push_back(editor);
    m_labels.push_back(label);
}

void SpecForm::showWhatTheModelUses() {
    for (size_t i = 0; i < m_editors.size(); ++i) {
        const auto& models = m_editors[i]->field().models;
        const bool used =
            models.empty() || std::ranges::find(models, m_spec.model.type) != models.end();
        m_editors[i]->setVisible(used);
        m_labels[i]->setVisible(used);
    }
}

bool SpecForm::hasRefused() const {
    return std::ranges::any_of(m_editors, &SpecFieldEditor::isInvalid);
}

void SpecForm::setSpec(const RunSpec& spec) {
    m_spec = spec;
    for (SpecFieldEditor* editor : m_editors)
        editor->load(m_spec);
    showWhatTheModelUses();
}

} // namespace rm
