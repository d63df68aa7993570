// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/run_spec.h"

#include <QString>
#include <QWidget>

#include <map>

class QHBoxLayout;

namespace rm {

class ElidedLabel;

/// One row of the spec's form: the editor that fits the type of a schema field.
class SpecFieldEditor : public QWidget {
    Q_OBJECT
public:
    explicit SpecFieldEditor(const SpecField& field, QWidget* parent = nullptr);

    const SpecField& field() const { return m_field; }
    /// Shows the field's value of `spec` without emitting edited().
    virtual void load(RunSpec& spec) = 0;
    /// Writes the value into `spec`. False, and shown in red, when it is not valid.
    virtual bool store(RunSpec& spec) = 0;
    /// A sentence that says why the shown text is not valid for the field; empty: it is valid.
    QString problem() const { return m_problem; }
    /// Marks a value that a person has changed; `before` is the previous one. `meaning`: what the
    /// value stands for, see meaningOfZero().
    void setChanged(bool changed, const QString& before, const QString& meaning);
    /// Shows in red the values that a node cannot use, with why; by value. Empty: it can use all.
    virtual void setFound(const std::map<QString, QString>& whyByValue);

    static SpecFieldEditor* make(const SpecField& field, QWidget* parent);

Q_SIGNALS:
    void edited();

protected:
    /// Names and tooltip for a control of this field.
    void describe(QWidget* control) const;
    /// describe(), and a line of it with the unit; `control` is the widget that has the focus.
    void finish(QWidget* control);
    void setProblem(QWidget* control, const QString& problem);
    virtual void frame(bool changed);
    virtual QString shownValue() const { return {}; } ///< as setFound() names it

    const SpecField& m_field;

private:
    QWidget* m_control = nullptr;
    ElidedLabel* m_aside = nullptr; ///< unit, and what the value was
    QString m_problem;
};

QString fieldLabel(const SpecField& field);
QString fieldToolTip(const SpecField& field);

/// "0: it counts steps", as the field's description says, where its value is 0; else empty.
QString meaningOfZero(const SpecField& field, const RunSpec& spec);

/// A field's value as the form shows it: "0.002", "cosine", "/a; /b".
QString fieldText(const SpecField& field, const RunSpec& spec);

} // namespace rm
