// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/run_spec.h"

#include <QWidget>

#include <vector>

class QGridLayout;

namespace rm {

class SpecFieldEditor;

/// The run spec as a form: made from specSchema() alone, a card a section, with the fields that the
/// chosen model uses.
class SpecForm : public QWidget {
    Q_OBJECT
public:
    explicit SpecForm(QWidget* parent = nullptr);

    void setSpec(const RunSpec& spec); ///< does not emit
    const RunSpec& spec() const { return m_spec; }
    bool hasRefused() const; ///< a field shows what is no value of it

Q_SIGNALS:
    /// A person changed a field to a value that is one.
    void edited(const rm::SpecField& field);
    /// ... to something that is no value of it: spec() may say otherwise than the form shows.
    void refused();

private:
    void buildUi();
    QGridLayout* addSection(const QString& title);
    void addField(QGridLayout* grid, const SpecField& field);
    void showWhatTheModelUses();

    RunSpec m_spec;
    std::vector<SpecFieldEditor*> m_editors;
    std::vector<QWidget*> m_labels; ///< of the editors
};

} // namespace rm
