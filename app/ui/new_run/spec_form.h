// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/schema.h"

#include <QStringList>
#include <QWidget>

#include <map>
#include <string>
#include <vector>

class QGridLayout;
class QVBoxLayout;

namespace rm {

class Fold;
class SpecFieldEditor;

/// The run spec as a form made from specSchema(): a card with what most people change, and the rest
/// folded. Fields without an effect on the run are hidden.
class SpecForm : public QWidget {
    Q_OBJECT
public:
    explicit SpecForm(QWidget* parent = nullptr);

    void setSpec(const RunSpec& spec); ///< does not emit
    /// The spec that this one started from, and what to call it ("recipe"). Fields that differ from
    /// it show so.
    void setBase(const RunSpec& base, const QString& name);
    const RunSpec& spec() const { return m_spec; }
    /// One sentence for each field that shows an invalid value.
    QStringList problems() const;
    /// What the nodes cannot use: why, by key of the spec and value. Their fields show so.
    using Found = std::map<std::string, std::map<QString, QString>>;
    void setFound(const Found& found);
    void unfoldAll();

Q_SIGNALS:
    /// A person changed a field to a valid value.
    void edited(const rm::SpecField& field);
    /// A person entered an invalid value, which the form shows but spec() does not have.
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
