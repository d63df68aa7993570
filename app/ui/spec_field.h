// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/spec/run_spec.h"

#include <QString>
#include <QWidget>

namespace rm {

/// One row of the spec's form: the editor that fits the type of a schema field.
class SpecFieldEditor : public QWidget {
    Q_OBJECT
public:
    explicit SpecFieldEditor(const SpecField& field, QWidget* parent = nullptr);

    const SpecField& field() const { return m_field; }
    /// Shows the field's value of `spec` without emitting edited().
    virtual void load(RunSpec& spec) = 0;
    /// Writes the value into `spec`; false (and shown in red) when it is not one.
    virtual bool store(RunSpec& spec) = 0;
    bool isInvalid() const { return m_invalid; }

    static SpecFieldEditor* make(const SpecField& field, QWidget* parent);

Q_SIGNALS:
    void edited();

protected:
    /// Names, tooltip and unit; `control` is the widget that has the focus.
    void finish(QWidget* control);
    void setInvalid(QWidget* control, bool invalid);

    const SpecField& m_field;

private:
    bool m_invalid = false;
};

QString fieldToolTip(const SpecField& field);

} // namespace rm
