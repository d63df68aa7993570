// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/spec_field.h"

#include "app/ui/format.h"
#include "app/ui/theme.h"
#include "app/ui/widgets/label.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>

#include <cmath>

namespace rm {

namespace {

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

class BoolEditor : public SpecFieldEditor {
public:
    BoolEditor(const SpecField& field, QWidget* parent)
        : SpecFieldEditor(field, parent)
        , m_box(new QCheckBox) {
        finish(m_box);
        connect(m_box, &QCheckBox::clicked, this, &SpecFieldEditor::edited);
    }
    void load(RunSpec& spec) override { m_box->setChecked(*std::get<bool*>(m_field.ref(spec))); }
    bool store(RunSpec& spec) override {
        *std::get<bool*>(m_field.ref(spec)) = m_box->isChecked();
        return true;
    }

private:
    QCheckBox* m_box;
};

class ChoiceEditor : public SpecFieldEditor {
public:
    ChoiceEditor(const SpecField& field, QWidget* parent)
        : SpecFieldEditor(field, parent)
        , m_box(new QComboBox) {
        for (const std::string_view choice : field.choices)
            m_box->addItem(text(choice));
        finish(m_box);
        connect(m_box, &QComboBox::activated, this, &SpecFieldEditor::edited);
    }
    void load(RunSpec& spec) override {
        const QString value = QString::fromStdString(*std::get<std::string*>(m_field.ref(spec)));
        if (m_box->findText(value) < 0)
            m_box->addItem(value);
        m_box->setCurrentText(value);
    }
    bool store(RunSpec& spec) override {
        *std::get<std::string*>(m_field.ref(spec)) = m_box->currentText().toStdString();
        return true;
    }

private:
    QComboBox* m_box;
};

/// Numbers, texts and lists of either (separated by ";", as paths may hold anything else).
class LineEditor : public SpecFieldEditor {
public:
    LineEditor(const SpecField& field, QWidget* parent)
        : SpecFieldEditor(field, parent)
        , m_edit(new QLineEdit) {
        finish(m_edit);
        connect(m_edit, &QLineEdit::textEdited, this, &SpecFieldEditor::edited);
    }

    void load(RunSpec& spec) override {
        const QString shown = written(m_field.ref(spec));
        setInvalid(m_edit, false);
        if (shown != m_edit->text())
            m_edit->setText(shown);
    }

    bool store(RunSpec& spec) override {
        const bool good = read(m_field.ref(spec), m_edit->text());
        setInvalid(m_edit, !good);
        return good;
    }

private:
    static QString written(const SpecFieldRef& ref) {
        if (const auto* number = std::get_if<int64_t*>(&ref))
            return QString::number(**number);
        if (const auto* number = std::get_if<double*>(&ref))
            return QString::number(**number, 'g', 8);
        if (const auto* string = std::get_if<std::string*>(&ref))
            return QString::fromStdString(**string).replace('\n', "\\n");
        QStringList parts;
        if (const auto* numbers = std::get_if<std::vector<int64_t>*>(&ref))
            for (const int64_t number : **numbers)
                parts << QString::number(number);
        else
            for (const std::string& part : *std::get<std::vector<std::string>*>(ref))
                parts << QString::fromStdString(part);
        return parts.join("; ");
    }

    bool readNumbers(std::vector<int64_t>& list, const QString& typed) const {
        list.clear();
        for (const QString& part : typed.split(';', Qt::SkipEmptyParts)) {
            bool good = true;
            list.push_back(part.trimmed().toLongLong(&good));
            if (!good || !inBounds(static_cast<double>(list.back())))
                return false;
        }
        return true;
    }

    bool inBounds(double value) const { return value >= m_field.min && value <= m_field.max; }

    bool read(const SpecFieldRef& ref, const QString& typed) const {
        bool good = true;
        if (const auto* number = std::get_if<int64_t*>(&ref)) {
            const qlonglong value = typed.trimmed().toLongLong(&good);
            if (good)
                **number = value;
            return good && inBounds(static_cast<double>(value));
        }
        if (const auto* number = std::get_if<double*>(&ref)) {
            const double value = typed.trimmed().toDouble(&good);
            if (good)
                **number = value;
            return good && inBounds(value);
        }
        if (const auto* string = std::get_if<std::string*>(&ref)) {
            **string = QString(typed).replace("\\n", "\n").toStdString();
            return true;
        }
        if (const auto* numbers = std::get_if<std::vector<int64_t>*>(&ref))
            return readNumbers(**numbers, typed);
        auto& list = *std::get<std::vector<std::string>*>(ref);
        list.clear();
        for (const QString& part : typed.split(';', Qt::SkipEmptyParts))
            if (!part.trimmed().isEmpty())
                list.push_back(part.trimmed().toStdString());
        return true;
    }

    QLineEdit* m_edit;
};

QString boundsText(const SpecField& field) {
    if (field.min >= field.max)
        return {};
    return SpecFieldEditor::tr("%1 to %2")
        .arg(QString::number(field.min, 'g', 6), QString::number(field.max, 'g', 6));
}

} // namespace

QString fieldToolTip(const SpecField& field) {
    QStringList lines{text(field.description)};
    if (const QString bounds = boundsText(field); !bounds.isEmpty())
        lines << bounds + (field.unit.empty() ? QString() : ' ' + text(field.unit));
    lines << text(field.key);
    return lines.join('\n');
}

SpecFieldEditor::SpecFieldEditor(const SpecField& field, QWidget* parent)
    : QWidget(parent)
    , m_field(field) {}

void SpecFieldEditor::finish(QWidget* control) {
    control->setObjectName("field." + text(m_field.key));
    control->setAccessibleName(text(m_field.label));
    control->setAccessibleDescription(text(m_field.description));
    control->setToolTip(fieldToolTip(m_field));
    setFocusProxy(control);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2 * size::kGrid);
    const bool sized = !m_field.choices.empty() || m_field.max > m_field.min;
    if (sized)
        control->setMaximumWidth(size::kFieldWidth);
    row->addWidget(control, sized ? 2 : 1);
    if (sized)
        row->addWidget(new ElidedLabel(text(m_field.unit), "secondary"), 1);
}

void SpecFieldEditor::setInvalid(QWidget* control, bool invalid) {
    m_invalid = invalid;
    setStyleProperty(control, "invalid", invalid);
}

SpecFieldEditor* SpecFieldEditor::make(const SpecField& field, QWidget* parent) {
    RunSpec probe;
    const SpecFieldRef ref = field.ref(probe);
    if (std::holds_alternative<bool*>(ref))
        return new BoolEditor(field, parent);
    if (!field.choices.empty())
        return new ChoiceEditor(field, parent);
    return new LineEditor(field, parent);
}

} // namespace rm
