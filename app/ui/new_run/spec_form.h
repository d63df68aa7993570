// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/schema.h"

#include <QStringList>
#include <QWidget>

#include <vector>

class QGridLayout;
class QVBoxLayout;

namespace rm {

class Fold;
class SpecFieldEditor;

/// The run spec as a form made from specSchema(): a card of what most people change, and the rest
/// folded. Fields that have no effect on the run are not there.
class SpecForm : public QWidget {
    Q_OBJECT
public:
    explicit SpecForm(QWidget* parent = nullptr);

    void setSpec(const RunSpec& spec); ///< does not emit
    /// What the spec started as, called so ("recipe"): fields tell where they differ from it.
    void setBase(const RunSpec& base, const QString& name);
    const RunSpec& spec() const { return m_spec; }
    /// For each field that shows what is no value of it, a sentence that names it.
    QStringList problems() const;
    void unfoldAll();

Q_SIGNALS:
    /// A person changed a field to a value that is one.
    void edited(const rm::SpecField& field);
    /// ... to something that is no value of it: spec() may say otherwise than the form shows.
    void refused();

private:
    struct Row {
        const SchemaRow* field;
        SpecFieldEditor* editor;
        QWidget* label;
    };
    void buildUi();
    QGridLayout* addGrid(QVBoxLayout* column);
    void addField(QGridLayout* grid, const SchemaRow& field);
    void onEdited(SpecFieldEditor* editor);
    void showWhatIsUsed();
    void showWhatIsChanged();

    RunSpec m_spec;
    RunSpec m_base;
    QString m_baseName;
    std::vector<Row> m_rows;
    std::vector<Fold*> m_folds; ///< as specParts()
};

} // namespace rm
