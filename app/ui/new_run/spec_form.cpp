// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run/spec_form.h"

#include "app/ui/data/spec_words.h"
#include "app/ui/look/theme.h"
#include "app/ui/new_run/spec_field.h"
#include "app/ui/widgets/card.h"
#include "app/ui/widgets/fold.h"
#include "app/ui/widgets/label.h"

#include <QCoreApplication>
#include <QGridLayout>
#include <QVBoxLayout>

#include <algorithm>

namespace rm {

SpecForm::SpecForm(QWidget* parent)
    : QWidget(parent) {
    buildUi();
    setSpec(m_spec);
}

void SpecForm::buildUi() {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(size::kCardGap);
    auto* most = new Card;
    most->body()->addWidget(makeLabel(tr("What most people change"), "cardTitle"));
    most->body()->addSpacing(2);
    QGridLayout* basic = addGrid(most->body());
    column->addWidget(most);
    for (const SchemaRow& field : schemaRows())
        if (field.isBasic)
            addField(basic, field);
    for (const SpecPart& part : specParts()) {
        auto* fold = new Fold(QCoreApplication::translate("SpecWords", part.title),
                              QStringLiteral("part.") + part.id);
        QGridLayout* grid = addGrid(fold->content());
        for (const SchemaRow& field : schemaRows())
            if (!field.isBasic &&
                std::ranges::find(part.sections, sectionOf(field.key)) != part.sections.end())
                addField(grid, field);
        m_folds.push_back(fold);
        column->addWidget(fold);
    }
    column->addStretch(1);
}

QGridLayout* SpecForm::addGrid(QVBoxLayout* column) {
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(size::kCardGap);
    grid->setVerticalSpacing(6);
    grid->setColumnMinimumWidth(0, size::kFormLabel);
    grid->setColumnStretch(1, 1);
    column->addLayout(grid);
    return grid;
}

void SpecForm::addField(QGridLayout* grid, const SchemaRow& field) {
    SpecFieldEditor* editor = SpecFieldEditor::make(field, this);
    auto* label = new ElidedLabel(fieldLabel(field), "bodySecondary");
    label->setBuddy(editor);
    label->setToolTip(fieldToolTip(field));
    label->setFixedSize(size::kFormLabel, size::kControlHeight);
    const int row = grid->rowCount();
    grid->addWidget(label, row, 0, Qt::AlignTop);
    grid->addWidget(editor, row, 1);
    connect(editor, &SpecFieldEditor::edited, this, [this, editor] { onEdited(editor); });
    m_rows.push_back({&field, editor, label});
}

void SpecForm::onEdited(SpecFieldEditor* editor) {
    if (!editor->store(m_spec)) {
        Q_EMIT refused();
        return;
    }
    showWhatIsUsed();
    showWhatIsChanged();
    Q_EMIT edited(editor->field());
}

void SpecForm::showWhatIsUsed() {
    for (const Row& row : m_rows) {
        const bool used = usesField(m_spec, *row.field);
        row.editor->setVisible(used);
        row.label->setVisible(used);
    }
}

void SpecForm::showWhatIsChanged() {
    const auto changed = changedFields(m_spec, m_base);
    for (const Row& row : m_rows) {
        row.editor->setChanged(std::ranges::find(changed, row.field) != changed.end(),
                               tr("%1: %2").arg(m_baseName, fieldText(*row.field, m_base)),
                               meaningOfZero(*row.field, m_spec));
    }
    for (size_t at = 0; at < m_folds.size(); ++at)
        m_folds[at]->setSummary(partSummary(specParts()[at], m_spec, m_base));
}

QStringList SpecForm::problems() const {
    QStringList problems;
    for (const Row& row : m_rows)
        if (usesField(m_spec, *row.field) && !row.editor->problem().isEmpty())
            problems << row.editor->problem();
    return problems;
}

void SpecForm::setFound(const Found& found) {
    for (const Row& row : m_rows) {
        const auto its = found.find(std::string(row.field->key));
        row.editor->setFound(its != found.end() ? its->second : std::map<QString, QString>());
    }
}

void SpecForm::setSpec(const RunSpec& spec) {
    m_spec = spec;
    for (const Row& row : m_rows)
        row.editor->load(m_spec);
    showWhatIsUsed();
    showWhatIsChanged();
}

void SpecForm::setBase(const RunSpec& base, const QString& name) {
    m_base = base;
    m_baseName = name;
    showWhatIsChanged();
}

void SpecForm::unfoldAll() {
    for (Fold* fold : m_folds)
        fold->setOpen(true);
}

} // namespace rm
