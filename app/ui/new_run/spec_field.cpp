// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/new_run/spec_field.h"

#include "app/ui/look/format.h"
#include "app/ui/look/plain_text.h"
#include "app/ui/look/theme.h"
#include "app/ui/new_run/path_rows.h"
#include "app/ui/widgets/label.h"
#include "shared/spec/rule.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpression>

#include <cmath>

namespace rm {

namespace {

QString text(std::string_view view) {
    return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

/// Whole ones with all their digits.
QString numberText(double number) {
    constexpr double kMostWhole = 1e15;
    const bool isWhole = std::abs(number) < kMostWhole && number == std::floor(number);
    return isWhole ? QString::number(number, 'f', 0) : QString::number(number, 'g', 8);
}

/// Lists are separated by ";".
QString written(const SpecFieldRef& ref) {
    if (const auto* truth = std::get_if<bool*>(&ref))
        return **truth ? SpecFieldEditor::tr("on") : SpecFieldEditor::tr("off");
    if (const auto* number = std::get_if<int64_t*>(&ref))
        return QString::number(**number);
    if (const auto* number = std::get_if<double*>(&ref))
        return numberText(**number);
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

/// Lists of texts: paths, variables.
class RowsEditor : public SpecFieldEditor {
public:
    RowsEditor(const SpecField& field, QWidget* parent)
        : SpecFieldEditor(field, parent)
        , m_rows(new PathRows(field.key.starts_with("data.") ? SpecFieldEditor::tr("+ add a path")
                              : field.key == "rules"         ? SpecFieldEditor::tr("+ add a rule")
                                                     : SpecFieldEditor::tr("+ add a variable"))) {
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        column->addWidget(m_rows);
        connect(m_rows, &PathRows::rowAdded, this, &RowsEditor::describeRow);
        connect(m_rows, &PathRows::edited, this, &SpecFieldEditor::edited);
        describeRow(m_rows->firstRow());
        setFocusProxy(m_rows->firstRow());
        if (field.key == "launch.environment")
            column->addWidget(debugButton(), 0, Qt::AlignLeft);
    }
    void load(RunSpec& spec) override {
        QStringList texts;
        for (const std::string& part : *list(spec))
            texts << QString::fromStdString(part);
        m_rows->setTexts(texts);
    }
    bool store(RunSpec& spec) override {
        list(spec)->clear();
        for (const QString& text : m_rows->texts())
            list(spec)->push_back(text.toStdString());
        return true;
    }

protected:
    void frame(bool changed) override { m_rows->frame(changed); }
    void setFound(const std::map<QString, QString>& whyByValue) override {
        m_rows->setProblems(whyByValue, fieldToolTip(m_field));
    }

private:
    /// The first thing that people set by hand when ranks do not find each other.
    QPushButton* debugButton() {
        const QString variable = QStringLiteral("NCCL_DEBUG=INFO");
        QPushButton* button = makeButton("+ " + variable, "link", "ncclDebug");
        button->setToolTip(SpecFieldEditor::tr(
            "NCCL then tells in the ranks' logs which interfaces and transports it "
            "takes, and what it fails at"));
        connect(button, &QPushButton::clicked, this, [this, variable] {
            QStringList texts = m_rows->texts();
            if (texts.contains(variable))
                return;
            m_rows->setTexts(texts << variable);
            Q_EMIT edited();
        });
        return button;
    }

    void describeRow(QLineEdit* row) const {
        describe(row);
        if (m_field.key == "rules")
            row->setPlaceholderText("validation/loss rises 3 times: lr / 2 and checkpoint");
    }

    std::vector<std::string>* list(RunSpec& spec) const {
        return std::get<std::vector<std::string>*>(m_field.ref(spec));
    }

    PathRows* m_rows;
};

/// Numbers, texts, and lists of numbers.
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
        setProblem(m_edit, {});
        if (shown != m_edit->text())
            m_edit->setText(shown);
    }

    bool store(RunSpec& spec) override {
        const SpecFieldRef ref = m_field.ref(spec);
        const bool good = read(ref, m_edit->text());
        setProblem(m_edit, good ? QString() : refusal(ref, m_edit->text()));
        return good;
    }

private:
    QString refusal(const SpecFieldRef& ref, const QString& typed) const {
        const QString what = std::holds_alternative<double*>(ref) ? SpecFieldEditor::tr("a number")
                             : std::holds_alternative<int64_t*>(ref)
                                 ? SpecFieldEditor::tr("a whole number")
                                 : SpecFieldEditor::tr("whole numbers");
        const QString holds = typed.isEmpty() ? SpecFieldEditor::tr("is empty")
                                              : SpecFieldEditor::tr("holds \"%1\"").arg(typed);
        return SpecFieldEditor::tr("%1 must be %2 from %3 to %4, but %5")
            .arg(fieldLabel(m_field), what, numberText(m_field.min), numberText(m_field.max),
                 holds);
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
        return readNumbers(*std::get<std::vector<int64_t>*>(ref), typed);
    }

    QString shownValue() const override { return m_edit->text().trimmed(); }

    QLineEdit* m_edit;
};

QString boundsText(const SpecField& field) {
    if (field.min >= field.max)
        return {};
    return SpecFieldEditor::tr("%1 to %2").arg(numberText(field.min), numberText(field.max));
}

} // namespace

QString fieldLabel(const SpecField& field) {
    return text(field.label);
}

QString fieldToolTip(const SpecField& field) {
    QStringList lines{text(field.description)};
    if (const QString bounds = boundsText(field); !bounds.isEmpty())
        lines << bounds + (field.unit.empty() ? QString() : ' ' + text(field.unit));
    if (field.key == "rules")
        lines << QString::fromStdString(ruleHelp());
    lines << text(field.key);
    return lines.join('\n');
}

QString meaningOfZero(const SpecField& field, const RunSpec& spec) {
    // Up to the end of the sentence, in which keys have dots.
    static const QRegularExpression kZero("\\b0: (?:[^;.]|\\.\\w)+");
    return fieldText(field, spec) == "0" ? kZero.match(text(field.description)).captured()
                                         : QString();
}

QString fieldText(const SpecField& field, const RunSpec& spec) {
    RunSpec copy = spec;
    return written(field.ref(copy));
}

SpecFieldEditor::SpecFieldEditor(const SpecField& field, QWidget* parent)
    : QWidget(parent)
    , m_field(field) {}

void SpecFieldEditor::describe(QWidget* control) const {
    if (control->objectName().isEmpty())
        control->setObjectName("field." + text(m_field.key));
    control->setAccessibleName(fieldLabel(m_field));
    control->setAccessibleDescription(text(m_field.description));
    control->setToolTip(fieldToolTip(m_field));
}

void SpecFieldEditor::finish(QWidget* control) {
    describe(control);
    m_control = control;
    setFocusProxy(control);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2 * size::kGrid);
    const bool sized = !m_field.choices.empty() || m_field.max > m_field.min ||
                       qobject_cast<QCheckBox*>(control) != nullptr;
    row->addWidget(control);
    if (!sized)
        return;
    control->setFixedWidth(qobject_cast<QCheckBox*>(control) ? control->sizeHint().width()
                                                             : size::kFieldWidth);
    m_aside = new ElidedLabel(text(m_field.unit), "secondary");
    m_aside->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    row->addWidget(m_aside, 1);
}

void SpecFieldEditor::setChanged(bool changed, const QString& before, const QString& meaning) {
    frame(changed);
    if (!m_aside)
        return;
    QStringList parts;
    if (!m_field.unit.empty())
        parts << text(m_field.unit);
    if (!meaning.isEmpty())
        parts << meaning;
    if (changed)
        parts << before;
    m_aside->setFullText(parts.join(kSeparator));
}

void SpecFieldEditor::setFound(const std::map<QString, QString>& whyByValue) {
    if (!m_problem.isEmpty())
        return; // that is said first
    const auto why = whyByValue.find(shownValue());
    setStyleProperty(m_control, "invalid", why != whyByValue.end());
    m_control->setToolTip(why != whyByValue.end() ? asPlain(why->second) : fieldToolTip(m_field));
}

void SpecFieldEditor::frame(bool changed) {
    setStyleProperty(m_control, "changed", changed);
}

void SpecFieldEditor::setProblem(QWidget* control, const QString& problem) {
    m_problem = problem;
    setStyleProperty(control, "invalid", !problem.isEmpty());
    control->setToolTip(problem.isEmpty() ? fieldToolTip(m_field) : asPlain(problem));
}

SpecFieldEditor* SpecFieldEditor::make(const SpecField& field, QWidget* parent) {
    RunSpec probe;
    const SpecFieldRef ref = field.ref(probe);
    if (std::holds_alternative<bool*>(ref))
        return new BoolEditor(field, parent);
    if (!field.choices.empty())
        return new ChoiceEditor(field, parent);
    if (std::holds_alternative<std::vector<std::string>*>(ref))
        return new RowsEditor(field, parent);
    return new LineEditor(field, parent);
}

} // namespace rm
